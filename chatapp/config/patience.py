"""How long whoever asks the database waits for others: a request two seconds in all, whatever it does and wherever it waits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

SECONDS = 2.0


@dataclass(slots=True)
class _Patience:
    left: float


_mine: ContextVar[_Patience | None] = ContextVar("patience", default=None)


@contextmanager
def patience(seconds: float | None = None, *, anew: bool = False) -> Iterator[None]:
    """What is done inside waits no longer than this in all, nor longer than whoever waits for it, unless that begins anew."""
    wanted = SECONDS if seconds is None else seconds
    allowed = wanted if anew else min(left(), wanted)
    mine = _Patience(allowed)
    token = _mine.set(mine)
    try:
        yield
    finally:
        _mine.reset(token)
        if not anew:
            spend(allowed - mine.left)


def left() -> float:
    """Seconds. Where nobody counts them, each wait has all of them."""
    mine = _mine.get()
    return SECONDS if mine is None else max(0.0, mine.left)


def is_counted() -> bool:
    return _mine.get() is not None


def spend(seconds: float) -> None:
    if mine := _mine.get():
        mine.left -= seconds


@contextmanager
def waiting() -> Iterator[None]:
    """The time inside is waited."""
    began = time.monotonic()
    try:
        yield
    finally:
        spend(time.monotonic() - began)


class Queue:
    """Whoever stands in one before the database waits for it only where somebody ahead has given up on it meanwhile: else the
    machine has much to do, and nothing is wrong."""

    _given_up = -1.0

    def __init__(self) -> None:
        self._came = time.monotonic()

    def leave(self) -> None:
        if Queue._given_up > self._came:
            spend(time.monotonic() - self._came)


def stop_waiting() -> None:
    Queue._given_up = time.monotonic()
