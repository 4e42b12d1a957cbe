"""Takes the body of an answer out of what has arrived, where its frame is plain. All else is left to h11, which is none the wiser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol

# A chunk as every server begins it; h11 reads the last one, and whatever is unusual.
_BEGINS = re.compile(rb"([1-9a-fA-F][0-9a-fA-F]{0,7})\r\n")
_MAY_BEGIN = re.compile(rb"[1-9a-fA-F][0-9a-fA-F]{0,7}\r?")
_ENDS = b"\r\n"


class Malformed(Exception):
    """A chunk is longer than it says."""


class ToTheEnd:
    """Everything until the connection is closed."""

    over = False

    def take(self, held: bytearray) -> bytes:
        said = bytes(held)
        held.clear()
        return said


class Chunks:
    """What chunks hold. `over`: what comes now is for h11, which sees a body that begins here."""

    def __init__(self) -> None:
        self.over = False
        self._left = 0
        self._ends = False

    def take(self, held: bytearray) -> bytes:
        said, at = [], 0
        while at < len(held) and not self.over:
            if self._left:
                said.append(held[at : at + self._left])
                at += len(said[-1])
                self._left -= len(said[-1])
            elif self._ends:
                if not _ENDS.startswith(held[at : at + 2]):
                    raise Malformed
                if len(held) < at + 2:
                    break
                self._ends, at = False, at + 2
            elif begins := _BEGINS.match(held, at):
                self._left, self._ends, at = int(begins[1], 16), True, begins.end()
            else:
                self.over = not _MAY_BEGIN.fullmatch(held, at)
                break
        del held[:at]
        return b"".join(said)


Taking = ToTheEnd | Chunks
# Told of what arrives while somebody waits for it; True where nobody needs to be woken for it.
Hear = Callable[[bytes], bool]


class Line(Protocol):
    """What a body arrives on."""

    async def more(self, taking: Taking, timeout: float | None, hear: Hear | None = None) -> bytes | None: ...


def taking(status: int, headers: Iterable[tuple[bytes, bytes]]) -> Taking | None:
    """None where h11 has to read the body."""
    framed = [value.lower() for name, value in headers if name.lower() == b"transfer-encoding"]
    measured = any(name.lower() == b"content-length" for name, _ in headers)
    if status != 200 or measured:
        return None
    if not framed:
        return ToTheEnd()
    return Chunks() if framed == [b"chunked"] else None
