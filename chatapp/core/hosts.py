"""Names of hosts as the network knows them: letters of other scripts may look like those of another name."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST = 10
_HOST = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/?#\"'<>\\@]*@)?([^\s/?#\"'<>\\:]+)", re.IGNORECASE)


def foreign_hosts(text: str) -> list[tuple[str, str]]:
    """The hosts of its addresses that are not written in plain letters, each with its name in plain letters."""
    return list(dict.fromkeys(_foreign(text)))[:MOST]


def _foreign(text: str) -> Iterator[tuple[str, str]]:
    for match in _HOST.finditer(text):
        if not match[1].isascii():
            yield match[1], _plain(match[1])


def _plain(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host.encode("unicode_escape").decode("ascii")
