"""A file that is made while it is sent: piece by piece, each on a thread of the database, so that nobody ever holds all of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from ...store import in_thread

# What is sent at once, how long it may take to make, and how long others have the interpreter then.
PIECE, SECONDS, RESTS = 256 * 1024, 0.02, 0.008


def download(
    pieces: Iterator[bytes], *, name: str, content_type: str, size: int | None = None
) -> StreamingHttpResponse:
    """`size`: in bytes, where that is known before."""
    response = StreamingHttpResponse(_in_steps(pieces), content_type=content_type)
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    if size is not None:
        response["Content-Length"] = str(size)
        # What is packed already is sent as it is, and one sees how far it has come.
        response["Content-Encoding"] = "identity"
    return response


async def _in_steps(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    take = in_thread(_some)
    while piece := await take(pieces):
        yield piece
        await asyncio.sleep(RESTS)


def _some(pieces: Iterator[bytes]) -> bytes:
    """Nothing when there is no more."""
    taken, size, until = list[bytes](), 0, time.monotonic() + SECONDS
    for piece in pieces:
        taken.append(piece)
        size += len(piece)
        if size >= PIECE or (size and time.monotonic() >= until):
            break
    return b"".join(taken)
