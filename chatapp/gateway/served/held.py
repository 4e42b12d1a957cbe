"""Long requests stay in memory until they are answered, which takes minutes: so much of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ..doors.door import LIMITED, OVERLOADED, Wrong
from .refused import LONGEST_BODY

# What is shorter holds little, however many there are.
SHORT = 2**20
# Of one person, and of all. In memory each is several times as long.
MOST_OF_ONE, MOST = 4 * LONGEST_BODY, 8 * LONGEST_BODY
MINE = "Long requests of yours are being answered. Send this one when one of them has ended."
ALL = "Too many long requests are being answered. Try again in a moment."

_held: Counter[int] = Counter()


@contextmanager
def held(owner: int, length: int) -> Iterator[None]:
    if length <= SHORT:
        yield
        return
    if _held[owner] + length > MOST_OF_ONE:
        raise Wrong(429, LIMITED, MINE, "rate_limit_exceeded", wait=5)
    if _held.total() + length > MOST:
        raise Wrong(503, OVERLOADED, ALL, "server_error", wait=5)
    _held[owner] += length
    try:
        yield
    finally:
        _held[owner] -= length
        if not _held[owner]:
            del _held[owner]
