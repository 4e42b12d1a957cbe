"""What a process holds and needs no more."""

from __future__ import annotations

import contextlib
import ctypes

# As malloc.h numbers it.
M_ARENA_MAX = -8


def share_between_threads() -> None:
    """The C library of Linux gives threads memory of their own, which stays with them; requests here have many threads."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def give_back() -> None:
    """What is free, the C library of Linux keeps until it is told."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
