"""Parts of a message or a result: words, and what stands beside them."""

from __future__ import annotations

from typing import Any

from ....core.attached import Attached, AttachedKind
from ....core.items import clean
from .fields import Fields, rows

Part = str | Attached
WORDS = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "summary_text": "text",
    "reasoning_text": "text",
    "refusal": "refusal",
}
DATA = "data:"
IN_BASE64 = ";base64"


def parts_in(owner: Fields, name: str) -> tuple[Part, ...]:
    """A string, or a list of parts; one that has neither is told where it stands."""
    value = owner.values.get(name)
    match value:
        case None:
            raise owner.wrong(name, "is missing.")
        case str():
            return (clean(value),)
        case list():
            return tuple(_part(part) for part in rows(value, owner.at(name)))
        case _:
            raise owner.mistyped(name, "a string or a list of parts")


def words_in(owner: Fields, name: str) -> tuple[str, ...]:
    return tuple(part for part in parts_in(owner, name) if isinstance(part, str))


def _part(part: Fields) -> Part:
    kind = part.name("type")
    if kind in WORDS:
        return part.needed(WORDS[kind])
    match kind:
        case "input_image" | "computer_screenshot":
            return _picture(part)
        case "input_file":
            return _file(part)
        case "input_audio":
            return _sound(part.inner("input_audio"))
        case _:
            # Of a kind that came after this was written: it goes where the whole message goes as it came.
            return Attached(kind=AttachedKind.FILE, name=kind)


def _picture(part: Fields) -> Attached:
    if not part.word("image_url") and not part.word("file_id"):
        raise part.wrong("image_url", "is missing: an address of the picture, its data, or a `file_id`.")
    place = _place(part, "image_url")
    return Attached(
        kind=AttachedKind.PICTURE, file_id=part.word("file_id"), detail=part.word("detail"), **place
    )


def _file(part: Fields) -> Attached:
    if not any(part.word(name) for name in ("file_data", "file_url", "file_id")):
        raise part.wrong("file_data", "is missing, and so are `file_url` and `file_id`.")
    place = _place(part, "file_url") | _data(part, "file_data")
    return Attached(kind=AttachedKind.FILE, file_id=part.word("file_id"), name=part.word("filename"), **place)


def _sound(sound: Fields) -> Attached:
    media_type = f"audio/{sound.name('format')}"
    return Attached(kind=AttachedKind.FILE, data=sound.name("data"), media_type=media_type)


def _place(part: Fields, name: str) -> dict[str, Any]:
    address = part.word(name)
    return _data(part, name) if _is_data(address) else {"url": address}


def _data(part: Fields, name: str) -> dict[str, Any]:
    """Base64, alone or in an address that says of what type it is."""
    said = part.word(name)
    if not said or not _is_data(said):
        return {"data": said} if said else {}
    head, _, data = said[len(DATA) :].partition(",")
    if not data or not head.endswith(IN_BASE64):
        raise part.wrong(name, "must be `data:<type>;base64,<data>` where it begins with `data:`.")
    return {"data": data, "media_type": head.partition(";")[0]}


def _is_data(address: str) -> bool:
    return address[: len(DATA)].lower() == DATA
