"""What a server sends, up to a size: counted as it comes over the wire, and again as it is unpacked."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Protocol, cast

import httpcore

from ...core.named import number
from ..base import ToolError


class _Unpacker(Protocol):
    def taken(self, data: bytes, most: int) -> bytes:
        """The next bytes, `most` of them at most; of the others nothing is said."""

    def check_end(self) -> None:
        """A ToolError where something is missing."""


class _Plain:
    def taken(self, data: bytes, most: int) -> bytes:
        return data[:most]

    def check_end(self) -> None:
        pass


class _Gzip:
    def __init__(self) -> None:
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._begun = False

    def taken(self, data: bytes, most: int) -> bytes:
        self._begun = True
        try:
            return self._stream.decompress(data, most)
        except zlib.error:
            raise ToolError("The page was sent packed, and could not be unpacked.") from None

    def check_end(self) -> None:
        if self._begun and not self._stream.eof:
            raise ToolError("The page broke off before its end.")


_UNPACKERS: dict[str, type[_Plain | _Gzip]] = {"": _Plain, "identity": _Plain, "gzip": _Gzip, "x-gzip": _Gzip}


async def whole_body(answer: httpcore.Response, headers: Mapping[str, str], most: int) -> bytes:
    if (number(headers.get("content-length", "")) or 0) > most:
        raise _too_large(most)
    unpacker = _unpacker(headers.get("content-encoding", ""))
    received, unpacked = 0, bytearray()
    async with aclosing(cast(AsyncGenerator[bytes, None], answer.aiter_stream())) as parts:
        async for part in parts:
            received += len(part)
            unpacked += unpacker.taken(part, most + 1 - len(unpacked))
            if max(received, len(unpacked)) > most:
                raise _too_large(most)
    unpacker.check_end()
    return bytes(unpacked)


def _unpacker(encoding: str) -> _Unpacker:
    kind = _UNPACKERS.get(encoding.lower())
    if kind is None:
        raise ToolError("The page was sent packed in a way that was not asked for.")
    return kind()


def _too_large(most: int) -> ToolError:
    return ToolError(f"The page is larger than {most / 1024 / 1024:g} MiB, which is the most that is read.")
