"""A turn is queued with what it answers or not at all, and is claimed once, whatever becomes of its job."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection, transaction

from chatapp import store
from chatapp.store import in_thread
from chatapp.store.changes import turn_lost
from chatapp.store.models import Status
from chatapp.turns.engine import Engine
from tests.support.script import held, response, text
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, _conversation, play, stage, until

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)

from chatapp.turns.scale.edges import edges
from chatapp.turns.scale.jobs import Fetching, count_waiting, enqueue

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


@asynccontextmanager
async def unworked(tmp_path):
    """A process that serves, and nobody who works."""
    engine = Engine(ScriptedCatalog(ScriptedProvider([])), folder=tmp_path, edges=edges)
    try:
        yield Stage(engine, await in_thread(_conversation)([]), "scripted:model")
    finally:
        await engine.close()


async def waiting() -> int:
    return await in_thread(count_waiting)()


def test_a_question_leaves_one_job(tmp_path):
    async def story():
        async with unworked(tmp_path) as on:
            answer = await on.begin()
            assert await waiting() == 1
            await in_thread(enqueue)(answer, 0)
            assert await waiting() == 1, "What waits already is not made to wait twice."

    play(story())


def test_a_question_that_is_rolled_back_leaves_none(tmp_path):
    class Back(Exception):
        pass

    def asked(on: Stage) -> None:
        with transaction.atomic():
            asked = store.AskedFor(model=on.model)
            owner = on.conversation.owner
            store.start_turn(on.conversation.id, "Why?", parent=None, author=owner, asked=asked)
            assert count_waiting() == 1
            raise Back

    async def story():
        async with unworked(tmp_path) as on:
            with pytest.raises(Back):
                await in_thread(asked)(on)
            assert await waiting() == 0

    play(story())


def test_a_job_that_waits_already_spoils_nothing_of_what_is_written_with_it(tmp_path):
    def written(answer: UUID) -> None:
        with transaction.atomic():
            enqueue(answer, 0)
            store.titles.retitle(store.models.Message.objects.get(pk=answer).conversation_id, "A new name")

    async def story():
        async with unworked(tmp_path) as on:
            await in_thread(written)(await on.begin())
            await in_thread(on.conversation.refresh_from_db)()
            assert (on.conversation.title, await waiting()) == ("A new name", 1)

    play(story())


def test_a_turn_that_is_stopped_before_anybody_came_is_never_begun(tmp_path):
    provider = ScriptedProvider([response(text("Here."))])

    async def story():
        async with unworked(tmp_path / "serves") as serves:
            answer = await serves.begin()
            assert await serves.engine.stop(answer)
        async with stage(ScriptedCatalog(provider), tmp_path / "works") as on:
            assert (await on.ask()).status == Status.COMPLETE
            await until(lambda: _none_waits())
            assert (await on.row(answer)).status == Status.STOPPED
            assert len(provider.asked) == 1

    play(story())


async def _none_waits() -> bool:
    return await waiting() == 0


def test_a_job_that_comes_late_begins_nothing(tmp_path):
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("It is"), reached=reached)])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            answer = await on.begin()
            await reached.wait()
            await on.working.runner.take(answer, 0)
            await in_thread(enqueue)(answer, 0)
            await until(_none_waits)
            row = await on.row(answer)
            assert (row.attempt, row.status, len(provider.asked)) == (1, Status.RUNNING, 1)
            await on.engine.stop(answer)

    play(story())


@pytest.mark.parametrize("lost", ["before it was fetched", "before it was claimed"])
def test_a_turn_whose_job_is_lost_is_found_and_nobody_is_said_to_have_died(tmp_path, lost):
    deaths = []

    def note(**told) -> None:
        deaths.append(told)

    turn_lost.connect(note)

    def lose() -> None:
        with connection.cursor() as cursor:
            if lost == "before it was fetched":
                cursor.execute("DELETE FROM procrastinate_jobs")
            else:
                cursor.execute("UPDATE procrastinate_jobs SET status = 'doing'")

    async def story():
        async with unworked(tmp_path / "serves") as serves:
            answer = await serves.begin()
            await in_thread(lose)()
        provider = ScriptedProvider([response(text("Here."))])
        async with stage(ScriptedCatalog(provider), tmp_path / "works", beat=0.02) as on:
            on.engine.runner._heartbeat.begin()

            async def found() -> bool:
                await on.engine.runner.recover()
                return (await on.row(answer)).status == Status.COMPLETE

            await until(found)
            assert len(provider.asked) == 1
            assert deaths == []

    play(story())


def test_who_has_no_place_left_takes_the_next_turn_when_one_ends(tmp_path):
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("It is"), reached=reached), response(text("Here."))])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            on.working.runner._places = asyncio.Semaphore(1)
            first = await on.begin()
            await reached.wait()
            second = await on.begin_again(first)
            await until(_none_waits)
            assert (await on.row(second)).status == Status.QUEUED
            await on.engine.stop(first)
            assert (await on.end(second)).status == Status.COMPLETE

    play(story())


def cut_everybody(*, but: int) -> None:
    """As when PostgreSQL starts anew."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid NOT IN (pg_backend_pid(), %s)",
            [but],
        )


def own_line() -> int:
    connection.ensure_connection()
    return int(connection.connection.info.backend_pid)


def test_who_works_goes_on_fetching_when_every_line_to_the_database_was_cut(tmp_path):
    provider = ScriptedProvider([response(text("Here."))])
    of_the_test = own_line()

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            # Whoever asks in the very moment may have to ask again.
            ask = on.engine.keeper.patiently(on.ask)
            for _ in range(2):
                assert (await ask()).status == Status.COMPLETE
                await in_thread(cut_everybody)(but=of_the_test)
            assert (await ask()).status == Status.COMPLETE

    play(story())


@pytest.mark.parametrize("after", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])
def test_who_is_told_to_end_while_it_begins_to_fetch_ends(after):
    """After so many thousandths of a second: at any step of its way."""

    async def take(message: UUID, seen: int) -> None:
        pass

    async def story():
        fetching = Fetching(take, "somebody")
        fetching.begin()
        await asyncio.sleep(after / 1000)
        await asyncio.wait_for(fetching.end(), 20)

    play(story())
