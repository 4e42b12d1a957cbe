"""Pictures and files in a request: where their bytes are."""

from __future__ import annotations

from ...core.attached import Attached, AttachedKind
from .given import Given

SCHEMES = ("https://", "http://")


def at_address(address: Given, kind: AttachedKind, *, name: str = "", detail: str = "") -> Attached:
    """At an address of the web, or in the address itself."""
    text = address.text()
    if text[:5].lower() == "data:":
        media_type, data = _inside(address, text[5:])
        return Attached(kind=kind, data=data, media_type=media_type, name=name, detail=detail)
    if not is_of_the_web(text):
        raise address.wrong("must begin with https://, http:// or data:", "invalid_value")
    return Attached(kind=kind, url=text, name=name, detail=detail)


def is_of_the_web(address: str) -> bool:
    return address[:8].lower().startswith(SCHEMES)


def _inside(address: Given, text: str) -> tuple[str, str]:
    head, _, data = text.partition(",")
    media_type, _, encoding = head.partition(";")
    if not encoding.lower().endswith("base64") or not data:
        raise address.wrong("must hold its bytes in base64: data:<type>;base64,<bytes>", "invalid_value")
    return media_type.lower(), data
