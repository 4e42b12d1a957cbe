"""Thoughts that a program leaves out come back, from memory and from rows; and what became of them is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from chatapp.core.events import Event
from chatapp.core.items import KeyMaker
from chatapp.gateway.models import KeptResponse, KeyRequest, ReplayDay, StoredResponse
from chatapp.gateway.store import kept
from chatapp.gateway.store.replays import to_write
from chatapp.providers.base import Ask
from chatapp.store import in_thread
from tests.gateway.program import MODEL, program_of, restarted, result, served, thoughts_sent, user
from tests.support.faults import FAULTS, short_patience
from tests.support.patience import PATIENCE
from tests.support.script import call, response, text, thought
from tests.support.stage import play, until

pytestmark = pytest.mark.django_db(transaction=True)

CALLS = response(thought("I need the time."), call())
SAYS = response(thought("It is noon."), text("Noon."))


def test_a_thought_that_was_left_out_goes_back_and_is_counted(alice):
    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            editor = await program_of(alice)
            first = await editor.answer(user())
            second = await editor.chat(user(), first, result(first))
            assert second.headers["x-thoughtline-reasoning"] == "restored=1 missed=0 dropped=0"
            assert thoughts_sent(provider.asked[1]) == ["I need the time."]
            await in_thread(to_write.write)()
            lookups = kept.memory.lookups
            assert (lookups.hits, lookups.misses, lookups.replays) == (1, 0, 1)
        day = await in_thread(ReplayDay.objects.get)()
        assert (day.model, day.restored, day.missed, day.dropped) == (MODEL, 1, 0, 0)
        rows = await in_thread(lambda: list(KeptResponse.objects.order_by("created_at")))()
        assert [row.replays for row in rows] == [1, 0]
        assert rows[0].name == first["tool_calls"][0]["id"]
        assert rows[1].name == second.json()["id"]

    play(story())


@pytest.mark.parametrize("forgets", [True, False])
def test_it_goes_back_after_a_restart_too_and_is_promoted_into_memory(alice, forgets):
    """Without its ids as well: then what was said finds it."""

    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            editor = await program_of(alice)
            first = await editor.answer(user())
            restarted()
            assert len(kept.memory) == 0
            if forgets:
                first["tool_calls"][0]["id"] = "call_of_mine"
            await editor.chat(user(), first, result(first))
            assert thoughts_sent(provider.asked[1]) == ["I need the time."]
            assert len(kept.memory) == 2

    play(story())


def test_another_key_of_the_owner_finds_it_and_nobody_else(alice, bob):
    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            first = await (await program_of(alice)).answer(user())
            told = (user(), first, result(first))
            await (await program_of(alice)).chat(*told)
            missed = await (await program_of(bob)).chat(*told)
            assert missed.headers["x-thoughtline-reasoning"] == "restored=0 missed=1 dropped=0"
            assert [thoughts_sent(ask) for ask in provider.asked[1:]] == [["I need the time."], []]
        day = await in_thread(ReplayDay.objects.get)()
        assert (day.restored, day.missed) == (1, 1)

    play(story())


def test_what_has_expired_does_not_come_back(alice):
    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            editor = await program_of(alice)
            first = await editor.answer(user())
            restarted()
            past = timezone.now() - timedelta(seconds=1)
            await in_thread(KeptResponse.objects.update)(expires_at=past)
            await editor.chat(user(), first, result(first))
            assert thoughts_sent(provider.asked[1]) == []

    play(story())


def test_with_0_hours_nothing_is_kept_anywhere(alice, settings):
    settings.REASONING_CACHE_HOURS = 0

    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            editor = await program_of(alice, keeps_responses=True)
            first = await editor.answer(user())
            await editor.chat(user(), first, result(first))
            assert thoughts_sent(provider.asked[1]) == []
            asked = {"model": MODEL, "input": "Why?", "store": True}
            response = (await editor.send("POST", "/v1/responses", json=asked)).json()
            assert response["store"] is False
            assert len(kept.memory) == 0
        for model in (KeptResponse, StoredResponse):
            assert not await in_thread(model.objects.exists)()

    play(story())


@pytest.mark.parametrize("hours", [10**9 - 1, 1])
def test_it_is_kept_for_as_long_as_is_set_and_any_number_can_be(alice, settings, hours):
    settings.REASONING_CACHE_HOURS = hours

    async def story():
        async with served(SAYS):
            await (await program_of(alice)).answer(user())
        row = await in_thread(KeptResponse.objects.get)()
        assert row.expires_at > timezone.now() + timedelta(minutes=59)

    play(story())


def test_a_model_that_does_not_think_misses_nothing(alice):
    async def story():
        async with served(SAYS) as (_, provider):
            plain = provider.model
            provider.model = lambda name: replace(plain(name), efforts=())
            told = (user(), {"role": "assistant", "content": "Unheard of."}, user("And?"))
            answered = await (await program_of(alice)).chat(*told)
            assert answered.headers["x-thoughtline-reasoning"] == "restored=0 missed=0 dropped=0"

    play(story())


@asynccontextmanager
async def broken(fault: str) -> AsyncIterator[None]:
    """What is done to the database is done in a thread: nothing here may ask it."""
    with ExitStack() as stack:
        await asyncio.to_thread(lambda: stack.enter_context(short_patience()))
        await asyncio.to_thread(lambda: stack.enter_context(FAULTS[fault]()))
        try:
            yield
        finally:
            await asyncio.to_thread(stack.pop_all().close)


def test_where_keys_cannot_be_read_the_door_says_so_in_its_shape(alice):
    async def story():
        async with served(SAYS):
            editor = await program_of(alice)
            async with broken("away"):
                refused = await editor.chat(user())
            assert refused.status_code == 503
            assert refused.headers["retry-after"]
            assert "database" in refused.json()["error"]["message"]

    play(story())


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_is_told_while_nothing_can_be_written_and_its_thought_goes_back_from_memory(alice, fault):
    async def story():
        reached, gone = asyncio.Event(), asyncio.Event()

        async def calls(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
            reached.set()
            await gone.wait()
            async for event in CALLS(ask, keys):
                yield event

        async with served(calls, SAYS) as (_, provider):
            editor = await program_of(alice)
            asking = asyncio.create_task(editor.answer(user()))
            await asyncio.wait_for(reached.wait(), PATIENCE)
            async with broken(fault):
                gone.set()
                told = await asyncio.wait_for(asking, PATIENCE)
                assert len(kept.memory) == 1
            await editor.chat(user(), told, result(told))
            assert thoughts_sent(provider.asked[-1]) == ["I need the time."]
            await until(in_thread(lambda: not KeyRequest.objects.exists()))

    play(story())


TABLES = ("chatapp_keptresponse", "chatapp_replayday", "chatapp_keptcleared")


def test_without_the_tables_of_the_cache_requests_are_answered_and_counted(alice):
    def renamed(old: str, new: str) -> None:
        with connection.cursor() as cursor:
            for table in TABLES:
                cursor.execute(f"ALTER TABLE {table + old} RENAME TO {table + new}")

    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            editor = await program_of(alice)
            await in_thread(renamed)("", "_away")
            try:
                first = await editor.answer(user())
                await editor.answer(user(), first, result(first))
                assert thoughts_sent(provider.asked[1]) == ["I need the time."]
                restarted()
                answered = await editor.chat(user(), first, result(first))
                assert answered.headers["x-thoughtline-reasoning"] == "restored=0 missed=1 dropped=0"
                assert not await in_thread(KeyRequest.objects.exists)()
            finally:
                await in_thread(renamed)("_away", "")

    play(story())
