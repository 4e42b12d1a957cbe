"""The database takes nothing for a while, at every point of a turn, and the process may be killed meanwhile: nothing that was
stopped is begun again, and nothing that was paid for is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings
from django.db import OperationalError

from bench.shut import Lock
from chatapp import store
from chatapp.core.events import Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, TurnEnded
from chatapp.core.items import Item, Kind
from chatapp.providers.base import ProviderError, Trouble
from chatapp.store import in_thread
from chatapp.store.models import Status
from chatapp.tools.base import tool
from chatapp.turns.keep.journal import BLOCK, BLOCKS
from tests.support.locked import lock
from tests.support.script import call, held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, play, stage, until

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def database() -> Iterator[Lock]:
    with lock() as made:
        yield made


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path


async def has_tried(on: Stage, answer: UUID) -> None:
    """The turn has something to write, and was refused at least once."""

    async def tried() -> bool:
        return on.engine.keeper.keeps(answer) and on.engine.keeper.is_in_trouble

    await until(tried)


def look() -> str:
    """Looks."""
    return "seen"


TOOLS = {"look": tool(look, safe=True)}
ANSWERS = {
    "an answer": [response(thought("Hm.", key="rs_1"), text("Here.", key="msg_1"))],
    "a failure": [response(text("Half", key="msg_1"), ProviderError(Trouble.REFUSED, "No."))],
    "a round": [response(thought("Hm.", key="rs_1"), call("look")), response(text("Here."))],
}
ENDS = {"an answer": Status.COMPLETE, "a failure": Status.FAILED, "a round": Status.COMPLETE}


def model(database: Lock, name: str) -> ScriptedProvider:
    """The database shuts when the first response has said its last word."""
    first, *rest = ANSWERS[name]

    async def shut_first(ask, keys):
        failed = None
        try:
            async for event in first(ask, keys):
                yield event
        except ProviderError as error:
            failed = error
        await asyncio.to_thread(database.shut)
        if failed:
            raise failed

    return ScriptedProvider([shut_first, *rest])


@pytest.mark.one_process("whoever asks there answers too.")
@pytest.mark.parametrize("name", ANSWERS)
def test_what_cannot_be_written_is_written_when_it_can_be(database, folder, name):
    provider = model(database, name)

    async def story():
        async with stage(ScriptedCatalog(provider), folder, tools=TOOLS) as on:
            answer = await on.begin()
            await has_tried(on, answer)
            assert len(provider.asked) == 1, "Nothing goes on before it stands."
            await asyncio.to_thread(database.open)
            row = await on.end(answer)
            assert (row.status, row.attempt, row.tries) == (ENDS[name], 1, 1)
            assert len(provider.asked) == len(ANSWERS[name])
            assert not on.engine.keeper.noted()

    play(story())


@pytest.mark.one_process("whoever asks there answers too.")
@pytest.mark.parametrize("name", ANSWERS)
def test_what_could_not_be_written_before_the_process_died_is_written_by_the_next_one(database, folder, name):
    provider = model(database, name)

    async def story():
        async with stage(ScriptedCatalog(provider), folder, tools=TOOLS) as on:
            answer = await on.begin()
            await has_tried(on, answer)
            assert answer in on.engine.keeper.noted()
            await on.engine.close()
            await asyncio.to_thread(database.open)
        async with stage(ScriptedCatalog(provider), folder, tools=TOOLS) as on:
            await on.engine.start()
            row = await on.end(answer)
            assert row.status == ENDS[name]
            assert len(provider.asked) == len(ANSWERS[name]), "Nothing that was said is asked again."
            assert not on.engine.keeper.noted()
            if name != "a failure":
                assert (await on.items(answer))[0].wire["id"] == "rs_1"

    play(story())


@pytest.mark.one_process("whoever asks there answers too.")
def test_what_another_process_left_is_tried_again_by_those_who_could_not_write_it_either(database, folder):
    provider = model(database, "an answer")

    async def story():
        async with AsyncExitStack() as stages:
            one, other = [
                await stages.enter_async_context(stage(ScriptedCatalog(provider), folder)) for _ in range(2)
            ]
            answer = await one.begin()
            await has_tried(one, answer)
            await one.engine.close()
            with pytest.raises(OperationalError):
                await other.engine.runner.recover()
            await asyncio.to_thread(database.open)
            await other.engine.runner.recover()
            assert await _is(other, answer, Status.COMPLETE)
            assert not other.engine.keeper.noted()

    play(story())


@pytest.mark.one_process("whoever asks there answers too.")
def test_a_result_that_could_not_be_written_is_not_made_again(database, folder):
    runs: list[str] = []

    async def act() -> str:
        """Acts."""
        runs.append("ran")
        await asyncio.to_thread(database.shut)
        return "did it"

    provider = ScriptedProvider([response(call("act")), response(text("Done."))])
    tools = {"act": tool(act, safe=True)}

    async def story():
        async with stage(ScriptedCatalog(provider), folder, tools=tools) as on:
            answer = await on.begin()
            await has_tried(on, answer)
            await on.engine.close()
            await asyncio.to_thread(database.open)
        async with stage(ScriptedCatalog(provider), folder, tools=tools) as on:
            await on.engine.start()
            row = await on.end(answer)
            outcomes = [item.text for item in await on.items(answer) if item.outcome]
            assert (row.status, runs, outcomes) == (Status.COMPLETE, ["ran"], ["did it"])

    play(story())


@pytest.mark.one_process("whoever asks there answers too.")
@pytest.mark.parametrize("dies", [False, True], ids=["it lives", "it dies"])
def test_a_stop_is_a_fact_at_once_and_is_never_undone(database, folder, dies):
    reached = asyncio.Event()
    provider = ScriptedProvider([held(thought("Let me", key="rs_1"), reached=reached), response(text("No."))])

    async def story():
        async with stage(ScriptedCatalog(provider), folder, checkpoint=60) as on:
            answer = await on.begin()
            await reached.wait()
            await asyncio.to_thread(database.shut)
            async with asyncio.timeout(1):
                assert await on.engine.stop(answer, by="alice")
            assert not on.engine.runner._tasks, "The provider is let go."
            assert on.engine.keeper.is_stopped(answer)
            if dies:
                await on.engine.close()
                await asyncio.to_thread(database.open)
            else:
                await asyncio.to_thread(database.open)
                await until(lambda: _is(on, answer, Status.STOPPED))
        async with stage(ScriptedCatalog(provider), folder) as on:
            await on.engine.start()
            row = await on.end(answer)
            assert (row.status, row.metadata["ended"]) == (
                Status.STOPPED,
                {"reason": "stopped", "by": "alice"},
            )
            assert [(item.text, item.cut) for item in await on.items(answer)] == [("Let me", True)]
            assert row.metadata["reasoning_durations_ms"].keys() == {"rs_1"}
            assert len(provider.asked) == 1

    play(story())


def ask_first() -> str:
    """Asks first."""
    return "seen"


async def ends_heard(on: Stage, answer: UUID) -> int:
    """Of its first attempt, by whoever waits for it."""
    stream = (answer, 1)
    if settings.REDIS_URL:
        await until(lambda: _has_begun(on, answer))
    else:
        await on.engine.live.opened(stream)
    said = [said.event async for news in on.engine.live.read(stream) for said in news]
    return sum(isinstance(event, TurnEnded) for event in said)


async def _has_begun(on: Stage, answer: UUID) -> bool:
    return (await on.row(answer)).attempt > 0


LOST = ("claim_turn", "append_round", "begin_call", "append_result", "park", "finish", "give_up", "stop")


@pytest.mark.parametrize("name", LOST)
def test_a_write_whose_confirmation_was_lost_is_found_standing_and_not_done_again(folder, monkeypatch, name):
    """The connection breaks after the commit: whoever wrote cannot know, and reads back."""
    losses = iter([True])
    real = getattr(store, name)

    def losing(*args, **named):
        done = real(*args, **named)
        if next(losses, False):
            raise OperationalError("the connection was lost")
        return done

    monkeypatch.setattr(store, name, losing)
    reached = asyncio.Event()
    scripts = {
        "park": [response(call("ask_first"))],
        "give_up": [response(text("Half"), ProviderError(Trouble.REFUSED, "No."))],
        "stop": [held(text("Half"), reached=reached)],
    }
    ends = {"park": Status.WAITING, "give_up": Status.FAILED, "stop": Status.STOPPED}
    provider = ScriptedProvider(scripts.get(name, [response(call("look")), response(text("Here."))]))
    tools = TOOLS | {"ask_first": tool(ask_first)}

    async def story():
        async with stage(ScriptedCatalog(provider), folder, tools=tools) as on:
            answer = await on.leave()
            hearing = asyncio.create_task(ends_heard(on, answer))
            await on.engine.runner.start(answer)
            if name == "stop":
                await reached.wait()
                assert await on.engine.stop(answer)
            row = await on.end(answer)
            # Across processes the end is told by its row, before the last words or after them.
            told = 0 if name == "stop" else 1
            assert await hearing in ({0, told} if settings.REDIS_URL else {told})
            attempts = 2 if name == "stop" else 1
            assert (row.status, row.attempt) == (ends.get(name, Status.COMPLETE), attempts)
            assert len(provider.asked) == (1 if name in scripts else 2)
            assert next(losses, None) is None, "It was lost once."
            assert len(row.metadata.get("rounds", [])) == len(provider.asked)
            await on.engine.stop(answer)

    play(story())


@pytest.mark.one_process("whoever asks there answers too.")
@pytest.mark.parametrize("how", ["finished", "stopped"])
def test_an_end_for_which_there_was_no_room_is_an_end_all_the_same(database, folder, how):
    """What was seen until the last saved draft is kept, and nothing is asked again."""
    reached = asyncio.Event()
    go_on = asyncio.Event()

    async def script(ask, keys):
        yield ItemStarted("msg_1", Kind.ASSISTANT_MESSAGE)
        yield ItemDelta("msg_1", "Because")
        reached.set()
        await go_on.wait()
        await asyncio.to_thread(database.shut)
        words = "x" * (BLOCK * BLOCKS)
        yield ItemDelta("msg_1", words)
        yield ItemDone(Item(key="msg_1", kind=Kind.ASSISTANT_MESSAGE, text=f"Because{words}"))
        if how == "stopped":
            await asyncio.Event().wait()
        yield ResponseEnded(Finish.STOP)

    provider = ScriptedProvider([script])

    async def story():
        async with stage(ScriptedCatalog(provider), folder, checkpoint=0.01) as on:
            answer = await on.begin()
            await reached.wait()
            await until(lambda: _drafted(answer))
            go_on.set()
            if how == "stopped":
                await until(lambda: _has_seen(on, answer, BLOCK * BLOCKS))
                assert await on.engine.stop(answer, by="alice")
            else:
                await has_tried(on, answer)
            await on.engine.close()
            await asyncio.to_thread(database.open)
        async with stage(ScriptedCatalog(provider), folder) as on:
            await on.engine.start()
            row = await on.end(answer)
            assert row.status == {"stopped": Status.STOPPED, "finished": Status.INTERRUPTED}[how]
            assert [(item.text, item.cut) for item in await on.items(answer)] == [("Because", True)]
            assert len(provider.asked) == 1

    play(story())


async def _drafted(answer: UUID) -> bool:
    seen = await in_thread(store.load_draft)(answer)
    return bool(seen and seen.draft.cut())


async def _has_seen(on: Stage, answer: UUID, letters: int) -> bool:
    seen = await on.engine.live.seen(answer)
    return bool(seen) and len(seen.draft.cut()[0].text) > letters


async def _is(on: Stage, answer: UUID, status: Status) -> bool:
    return (await on.row(answer)).status == status
