"""What many pages at once needed is given back when they are over."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress

import pytest
from django.contrib.auth.models import User

from chatapp.store.database.threads import in_page_thread, since_last_page
from chatapp.turns.resting import keep_resting
from tests.support.stage import PATIENCE, play, until

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 8


def test_threads_that_made_many_pages_go_when_none_is_asked_for_and_the_next_page_comes_as_before():
    together = threading.Barrier(MANY)

    def page() -> threading.Thread:
        User.objects.count()
        return threading.current_thread()

    def page_beside_others() -> threading.Thread:
        together.wait()
        return page()

    async def story():
        made = await asyncio.gather(*(in_page_thread(page_beside_others)() for _ in range(MANY)))
        resting = asyncio.create_task(keep_resting(quiet=0.05))

        async def all_gone() -> bool:
            return not any(thread.is_alive() for thread in made)

        await until(all_gone)
        assert await in_page_thread(page)() not in made
        resting.cancel()
        with suppress(asyncio.CancelledError):
            await resting

    play(story())


def test_a_page_that_is_being_made_is_made_to_its_end():
    begun, may_end = threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        may_end.wait(PATIENCE)
        return User.objects.count()

    async def story():
        made = asyncio.create_task(in_page_thread(slow)())
        await asyncio.to_thread(begun.wait)
        resting = asyncio.create_task(keep_resting(quiet=0.02))

        async def rested() -> bool:
            return since_last_page() is None

        await until(rested)
        # Others are there already while the slow one still waits.
        assert await in_page_thread(User.objects.count)() == 0
        may_end.set()
        assert await made == 0
        resting.cancel()
        with suppress(asyncio.CancelledError):
            await resting

    play(story())
