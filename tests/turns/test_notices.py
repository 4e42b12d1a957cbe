"""What is found out once for all who are told of a fact."""

from __future__ import annotations

import asyncio
import contextvars
import time

from chatapp.turns.notices import Once, known


async def asked(once: Once, what: str) -> str:
    async def find() -> str:
        return "found out"

    return await once.get(what, find)


def test_what_its_cause_has_just_found_out_nobody_finds_out_again():
    with known("who", "known", until=time.monotonic() + 60):
        once = Once()
    assert asyncio.run(asked(once, "who")) == "known"
    assert asyncio.run(asked(once, "else")) == "found out"


def test_what_was_known_too_long_ago_is_found_out():
    with known("who", "known", until=time.monotonic()):
        once = Once()
    assert asyncio.run(asked(once, "who")) == "found out"


def test_it_holds_for_nothing_else():
    """Not for what comes later, and not for what goes its own way, as a turn does."""
    with known("who", "known", until=time.monotonic() + 60):
        elsewhere = contextvars.Context().run(Once)
    for once in (elsewhere, Once()):
        assert asyncio.run(asked(once, "who")) == "found out"
