"""Where addresses in a call's arguments really lead, where they look like something else.

A tool reads its arguments decoded, so they are looked at in every way in which they can be: as they were written, and with escapes
undone as often as JSON may stand in a string of JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from .items import clean

MOST = 10
# No tool decodes more often what it was given.
DEEPEST = 8
# The longest name that the network knows.
LONGEST = 253
FOREIGN = "is not written in plain letters; its real name is"
HIDDEN_BEHIND = "is only what stands before the host; the address leads to"

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SPELLED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Browsers take a backslash for a slash, and need neither two of them nor one.
_ADDRESS = re.compile(
    r"""(?:\b(?P<scheme>https?|wss?|ftp):(?:[\t\r\n]*+[/\\])*+|(?<![/\\])[/\\]{2,}+|(?P<mail>@))(?P<place>[^\s/?#"'<>\\]++)""",
    re.IGNORECASE,
)
_PORT = re.compile(r":[0-9]*+\Z")
_AROUND = ".,;:!()[]{}`*"
_DOTS = ".。．｡"


@dataclass(frozen=True, slots=True)
class Misleading:
    """What is read there, why it misleads, and where it leads."""

    shown: str
    words: str
    real: str


def misleading_hosts(arguments: str) -> list[Misleading]:
    """Those of its addresses that lead elsewhere than it seems."""
    found: dict[Misleading, None] = {}
    for text in _readings(arguments):
        for one in _misleading(text):
            found[one] = None
            if len(found) == MOST:
                return list(found)
    return list(found)


def _readings(text: str) -> Iterator[str]:
    for _ in range(DEEPEST):
        yield text
        decoded = clean(_ESCAPE.sub(_unescaped, text))
        if decoded == text:
            return
        text = decoded


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _SPELLED.get(escape[2], escape[2])


def _misleading(text: str) -> Iterator[Misleading]:
    for found in _ADDRESS.finditer(text):
        before, at, host = found["place"].rpartition("@")
        host = unquote(_PORT.sub("", host).strip(_AROUND)[:LONGEST])
        if not _is_meant_as_host(found, host):
            continue
        real = host if host.isascii() else _as_resolved(host)
        if not host.isascii():
            yield Misleading(host, FOREIGN, real)
        if at and not found["mail"] and "." in unquote(before):
            yield Misleading(f"{before[:LONGEST]}@", HIDDEN_BEHIND, real)


def _is_meant_as_host(found: re.Match[str], host: str) -> bool:
    """Slashes also begin remarks in programs, and an at sign the name of a person."""
    return bool(host) and (found["scheme"] is not None or any(dot in host for dot in _DOTS))


def _as_resolved(host: str) -> str:
    """As the network spells it, or its signs as numbers where it has no spelling."""
    try:
        return host.lower().encode("idna").decode("ascii")
    except UnicodeError:
        return host.encode("unicode_escape").decode("ascii")
