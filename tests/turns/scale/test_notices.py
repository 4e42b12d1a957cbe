"""What became true in one process is heard in all others once, and after a silence everybody looks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from django.conf import settings
from django.db import connection, transaction

from chatapp.store import in_thread, titles
from chatapp.store.changes import NONE, changed, tell_person
from chatapp.store.models import Conversation, Status
from chatapp.turns.notices import Notice
from tests.support.listening import listening
from tests.support.patience import PATIENCE
from tests.support.script import held, response, text
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)

from chatapp.turns.scale.notices import CHANNEL, PostgresNotices

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

PERSON = 7


@asynccontextmanager
async def elsewhere() -> AsyncIterator[asyncio.Queue[Notice]]:
    """What another process hears of a person."""
    notices = PostgresNotices()
    # It hears; what is told here is told by others.
    changed.disconnect(notices._on_change)
    try:
        async with notices.listen(PERSON) as told:
            assert (await soon(told)).what == "missed", "Who begins to hear looks once."
            yield told
    finally:
        await notices.end()


@asynccontextmanager
async def process() -> AsyncIterator[PostgresNotices]:
    notices = PostgresNotices()
    try:
        yield notices
    finally:
        await notices.end()


async def soon(told: asyncio.Queue[Notice]) -> Notice:
    return await asyncio.wait_for(told.get(), PATIENCE)


def cut_lines() -> int:
    """Of all that listen here."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query LIKE 'LISTEN%'"
        )
        return int(cursor.fetchone()[0])


def test_what_is_true_is_told_and_what_was_rolled_back_is_not():
    def rolled_back() -> None:
        with transaction.atomic():
            tell_person(PERSON, "reviews")
            transaction.set_rollback(True)

    async def story():
        async with process(), elsewhere() as told:
            await in_thread(rolled_back)()
            await in_thread(tell_person)(PERSON, "roles")
            assert (await soon(told)).what == "roles"

    play(story())


def test_nobody_hears_of_it_before_it_is_true():
    async def story():
        async with process(), elsewhere() as told:
            go_on, told_it = asyncio.Event(), asyncio.Event()
            loop = asyncio.get_running_loop()

            def slowly() -> None:
                with transaction.atomic():
                    tell_person(PERSON, "reviews")
                    loop.call_soon_threadsafe(told_it.set)
                    asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(PATIENCE)

            telling = asyncio.ensure_future(in_thread(slowly)())
            await told_it.wait()
            await in_thread(tell_person)(PERSON, "roles")
            assert (await soon(told)).what == "roles"
            go_on.set()
            await telling
            assert (await soon(told)).what == "reviews"

    play(story())


def test_whoever_writes_hears_of_it_once():
    async def story():
        async with process() as mine, elsewhere() as others, mine.listen(PERSON) as told:
            assert (await soon(told)).what == "missed"
            for what in ("reviews", "roles"):
                await in_thread(tell_person)(PERSON, what)
            assert [(await soon(others)).what for _ in range(2)] == ["reviews", "roles"]
            assert [(await soon(told)).what for _ in range(2)] == ["reviews", "roles"]
            await in_thread(told_by_another)()
            assert (await soon(told)).what == "listed", "Nothing of its own came back to it."

    play(story())


def told_by_another() -> None:
    told = ["another", NONE.hex, "listed", None, PERSON]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, json.dumps(told)])


@pytest.mark.parametrize(
    "told", ["", "{", "[]", '["another", "not an id", "roles", null, 7]', '["more", 2, 3, 4, 5, 6]']
)
def test_what_cannot_be_read_is_looked_for_and_the_next_is_heard(told):
    def say(words: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, words])

    async def story():
        async with process(), elsewhere() as heard:
            await in_thread(say)(told)
            await in_thread(tell_person)(PERSON, "roles")
            assert [(await soon(heard)).what for _ in range(2)] == ["missed", "roles"]

    play(story())


def test_when_the_line_was_cut_everybody_looks_once_and_hears_on():
    async def story():
        async with process(), elsewhere() as told:
            assert await in_thread(cut_lines)() >= 1
            assert (await soon(told)).what == "missed"
            await in_thread(tell_person)(PERSON, "roles")
            assert (await soon(told)).what == "roles"

    play(story())


def test_a_page_shows_what_nobody_could_tell_it_and_its_socket_stays(alice, conversation):
    def renamed() -> None:
        Conversation.objects.filter(pk=conversation.pk).update(title="A new name")

    async def story():
        async with listening(alice, path=f"/ws/c/{conversation.pk}/") as socket:
            await socket.is_told("state")
            await in_thread(renamed)()
            assert await in_thread(cut_lines)() >= 1
            await socket.sees(lambda it: "A new name" in str(it.said))
            await socket.is_told("relist")
            await in_thread(titles.retitle)(conversation.pk, "A newer name")
            await socket.sees(lambda it: "A newer name" in str(it.said))

    play(story())


def test_an_answer_that_ends_while_nothing_is_heard_ends_for_those_who_watch(tmp_path):
    """The line of the one who works is cut too, and the stop finds it all the same."""
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("It is"), reached=reached), response(text("Here."))])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, checkpoint=0.05) as on:
            answer = await on.begin()
            await reached.wait()
            assert await in_thread(cut_lines)() >= 2
            assert await on.engine.stop(answer)
            row = await on.end(answer)
            assert (row.status, await on.said(answer)) == (Status.STOPPED, "It is")
            await asyncio.wait_for(on.let_go(answer), PATIENCE)

    play(story())


def test_a_notice_of_nothing_that_is_shown_here_is_nobodys(tmp_path):
    async def story():
        async with process(), elsewhere() as told:
            await in_thread(tell_person)(PERSON + 1, "roles")
            await in_thread(tell_person)(PERSON, "reviews")
            assert (await soon(told)).what == "reviews"
            assert told.empty()

    play(story())
