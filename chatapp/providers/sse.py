"""Server-sent events from bytes, however the network cut them."""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"
LF = 10


class EventTooLong(Exception):
    """One event is larger than the reader allows."""


class Decoder:
    """Feed it bytes, get whole events as (event name, data). Lines end in LF, CRLF or CR."""

    def __init__(self, cap: int = 16 * 1024 * 1024) -> None:
        self._cap = cap
        self._pieces: list[bytes] = []
        self._size = 0
        self._after_cr = False
        self._opened = False

    def feed(self, data: bytes) -> list[tuple[str, str]]:
        data = self._with_lf(data)
        if not data:
            return []
        whole = b"\n\n" in data or (data[0] == LF and self._at_line_end())
        self._pieces.append(data)
        self._size += len(data)
        events = self._events() if whole else []
        if self._size > self._cap:
            raise EventTooLong
        return events

    def _with_lf(self, data: bytes) -> bytes:
        """The same lines, ended by LF. A CR ends its line at once; an LF that comes after it is left out."""
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _at_line_end(self) -> bool:
        return bool(self._pieces) and self._pieces[-1].endswith(b"\n")

    def _events(self) -> list[tuple[str, str]]:
        *blocks, rest = b"".join(self._pieces).split(b"\n\n")
        self._pieces = [rest] if rest else []
        self._size = len(rest)
        if not self._opened:
            self._opened = True
            blocks[0] = blocks[0].removeprefix(BOM)
        return [event for block in blocks if (event := self._event(block))]

    def _event(self, block: bytes) -> tuple[str, str] | None:
        if len(block) > self._cap:
            raise EventTooLong
        if block.startswith(b"data: ") and b"\n" not in block:
            return "", block[6:].decode("utf-8", "replace")
        if block.startswith(b"event: ") and block.count(b"\n") == 1:
            name, data, said = block.partition(b"\ndata: ")
            if data:
                return name[7:].decode("utf-8", "replace"), said.decode("utf-8", "replace")
        return _of_lines(block.split(b"\n"))


def _of_lines(lines: list[bytes]) -> tuple[str, str] | None:
    """The event that these lines make, or None where none of them is data."""
    name, data = b"", []
    for line in lines:
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return (name.decode("utf-8", "replace"), b"\n".join(data).decode("utf-8", "replace")) if data else None
