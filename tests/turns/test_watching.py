"""Who watches a turn misses nothing and sees nothing twice: early or late, alone or not, whoever runs the turn and whoever ends it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

import pytest
from django.db import connection

from chatapp import store
from chatapp.core.draft import Draft
from chatapp.core.events import Event, ItemDelta, ItemDone, ItemStarted, ResponseEnded
from chatapp.core.items import Item, KeyMaker, Kind
from chatapp.providers.base import Ask
from chatapp.store import in_thread
from chatapp.store.models import Status
from chatapp.turns.live import LiveEvent
from chatapp.turns.watching import News, watch
from tests.support.patience import PATIENCE
from tests.support.script import call, held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, play, stage

from .test_loop import CLOCK

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

# So long that no look comes in time: what is seen was told.
NEVER = 60.0


def model(*scripts) -> ScriptedProvider:
    return ScriptedProvider(scripts or [response(text("Here."))])


class Watcher:
    """Sees the news of one turn as a page would."""

    def __init__(self, on: Stage, answer: UUID, *, look: float = NEVER) -> None:
        self.news: list[News] = []
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._watch(on, answer, look))

    async def _watch(self, on: Stage, answer: UUID, look: float) -> None:
        engine = on.engine
        async for news in watch(
            answer, engine.live, engine.notices, engine.keeper, look=look, hear=self._hear
        ):
            self.news.append(news)
            self._more.set()

    def _hear(self, said: LiveEvent) -> bool:
        return False

    async def sees(self, words: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while words not in self.words():
                self._more.clear()
                await self._more.wait()

    async def ends(self) -> None:
        await asyncio.wait_for(self._task, PATIENCE)

    def said(self, attempt: int) -> list[LiveEvent]:
        return [said for news in self.news if news.attempt == attempt for said in news.said]

    def words(self) -> str:
        """All deltas of the newest attempt."""
        if not self.news:
            return ""
        return "".join(
            said.event.text for said in self.said(self.news[-1].attempt) if isinstance(said.event, ItemDelta)
        )


class Listener(Watcher):
    """Takes letters in the moment in which they are said, once it was told of anything."""

    def _hear(self, said: LiveEvent) -> bool:
        if not self.news or not isinstance(said.event, ItemDelta):
            return False
        self.news.append(News(self.news[-1].attempt, [said]))
        self._more.set()
        return True


class Gate:
    """A model that says word after word, and waits where it is told to."""

    def __init__(self, *words: str) -> None:
        self._words, self._waits = words, [asyncio.Event() for _ in words]

    def open(self, count: int) -> None:
        for wait in self._waits[:count]:
            wait.set()

    async def script(self, ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        key = keys.take()
        yield ItemStarted(key, Kind.ASSISTANT_MESSAGE)
        for word, wait in zip(self._words, self._waits, strict=True):
            await wait.wait()
            yield ItemDelta(key, word)
        yield ItemDone(Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text="".join(self._words)))
        yield ResponseEnded("stop")


@asynccontextmanager
async def stages(tmp_path, *providers, **world):
    async with AsyncExitStack() as stack:
        catalogs = [ScriptedCatalog(provider) for provider in providers]
        yield [await stack.enter_async_context(stage(catalog, tmp_path, **world)) for catalog in catalogs]


def numbers(said: list[LiveEvent]) -> list[int]:
    return [each.n for each in said]


@pytest.mark.one_process("the last words are told there before the end is.")
def test_a_late_watcher_sees_the_same_events_as_an_early_one(tmp_path):
    gate = Gate("one ", "two ", "three ", "four")

    async def story():
        async with stage(ScriptedCatalog(model(gate.script)), tmp_path) as on:
            answer = await on.begin()
            early = Watcher(on, answer)
            gate.open(2)
            await early.sees("one two ")
            late = Watcher(on, answer)
            await late.sees("one two ")
            gate.open(4)
            await early.ends()
            await late.ends()
            assert late.said(1) == early.said(1)
            assert numbers(late.said(1)) == list(range(1, len(late.said(1)) + 1))
            assert late.words() == await on.said(answer) == "one two three four"
            assert late.said(1)[-1].event.status == Status.COMPLETE

    play(story())


@pytest.mark.one_process("the last words are told there before the end is.")
def test_what_was_streamed_is_what_is_stored_with_the_same_times(tmp_path):
    provider = model(
        response(thought("Hm.", key="rs_1"), call()), response(thought("So.", key="rs_2"), text("Noon."))
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, tools=CLOCK) as on:
            started = await on.leave()
            watcher = Watcher(on, started)
            await asyncio.sleep(0)
            await on.engine.runner.start(started)
            await watcher.ends()
            row, draft, durations = await on.end(started), Draft(), {}
            for said in watcher.said(1):
                draft.apply(said.event, said.at)
                if isinstance(said.event, ItemDone):
                    durations |= draft.durations([said.event.item.key], said.at)
            done = [said.event.item for said in watcher.said(1) if isinstance(said.event, ItemDone)]
            assert done == await on.items(started)
            assert durations == row.metadata["reasoning_durations_ms"]
            assert draft.ended.status == row.status

    play(story())


@pytest.mark.one_process("what others said is in Redis for a while.")
def test_who_keeps_all_can_watch_what_is_over(tmp_path):
    async def story():
        async with stage(ScriptedCatalog(model(response(text("Here.")))), tmp_path) as on:
            on.engine.live.keep_all()
            answer = await on.ask()
            watcher = Watcher(on, answer.id)
            await watcher.ends()
            assert watcher.words() == await on.said(answer.id) == "Here."
            assert watcher.said(1)[-1].event.status == Status.COMPLETE

    play(story())


@pytest.mark.parametrize("nap", [0.0, 0.05])
def test_a_watcher_from_before_the_claim_sees_the_first_word_without_waiting_for_a_look(tmp_path, nap):
    reached = asyncio.Event()

    async def story():
        async with stage(ScriptedCatalog(model(held(text("It is"), reached=reached))), tmp_path) as on:
            answer = await on.leave()
            watcher = Watcher(on, answer)
            await asyncio.sleep(nap)
            await on.engine.runner.start(answer)
            await watcher.sees("It is")
            assert numbers(watcher.said(1)) == list(range(1, len(watcher.said(1)) + 1))
            await on.engine.stop(answer)
            await watcher.ends()

    play(story())


def test_letters_that_were_taken_at_once_are_not_told_again_when_the_rows_were_looked_at(tmp_path):
    gate = Gate("one ", "two ", "three ", "four")

    async def story():
        async with stages(tmp_path, model(gate.script), model()) as (here, there):
            answer = await here.begin()
            listener = Listener(there, answer)
            for count, words in enumerate(("one ", "one two ", "one two three "), 1):
                gate.open(count)
                await listener.sees(words)
            there.engine.live.look_up(answer)
            gate.open(4)
            await listener.ends()
            assert listener.words() == await here.said(answer) == "one two three four"

    play(story())


def test_a_new_attempt_begins_again_from_its_first_event(tmp_path):
    gate, reached = Gate("Sec", "ond"), asyncio.Event()
    provider = model(held(text("First"), reached=reached), gate.script)

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, checkpoint=0.01) as on:
            answer = await on.begin()
            watcher = Watcher(on, answer)
            await watcher.sees("First")
            await in_thread(store.claim_turn)(answer, runner=on.engine.runner.name, seen=1)
            await on.let_go(answer)
            await on.engine.runner.recover()
            gate.open(1)
            await watcher.sees("Sec")
            gate.open(2)
            await watcher.ends()
            assert sorted({news.attempt for news in watcher.news}) == [1, 3]
            assert numbers(watcher.said(3)) == list(range(1, len(watcher.said(3)) + 1))
            assert watcher.words() == await on.said(answer) == "Second"

    play(story())


def test_a_continued_turn_is_watched_from_its_new_beginning(tmp_path):
    reached = asyncio.Event()
    gate = Gate("two", ".")
    provider = model(held(text("One, "), reached=reached), gate.script)

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            answer = await on.begin()
            await reached.wait()
            await on.engine.stop(answer)
            await on.end(answer)
            assert await in_thread(store.requeue)(answer, runner=on.engine.runner.name)
            watcher = Watcher(on, answer)
            await on.engine.runner.start(answer)
            gate.open(1)
            await watcher.sees("two")
            gate.open(2)
            await watcher.ends()
            assert (watcher.words(), await on.said(answer)) == ("two.", "One, two.")

    play(story())


@pytest.mark.one_process("Redis keeps for a while what was said.")
def test_a_turn_that_has_ended_has_no_news(tmp_path):
    async def story():
        async with stage(ScriptedCatalog(model()), tmp_path) as on:
            row = await on.ask()
            watcher = Watcher(on, row.id)
            await watcher.ends()
            assert watcher.news == []

    play(story())


def test_a_stop_keeps_every_word_that_was_shown(tmp_path):
    """The model goes on talking while the stop is being written."""

    async def script(ask, keys):
        key = keys.take()
        yield ItemStarted(key, Kind.ASSISTANT_MESSAGE)
        for n in range(100_000):
            await asyncio.sleep(0)
            yield ItemDelta(key, f"{n} ")

    async def story():
        async with stage(ScriptedCatalog(model(script)), tmp_path) as on:
            answer = await on.begin()
            watcher = Watcher(on, answer)
            await watcher.sees("3 ")
            await on.engine.stop(answer)
            await watcher.ends()
            assert await on.said(answer) == watcher.words()

    play(story())


@pytest.mark.one_process("others hear nothing of what it does there.")
def test_who_watches_on_another_machine_sees_the_end_within_a_look(tmp_path):
    reached = asyncio.Event()

    async def story():
        here, there = (tmp_path / name for name in ("here", "there"))
        async with (
            stage(ScriptedCatalog(model(held(text("It"), reached=reached))), here) as one,
            stage(ScriptedCatalog(model()), there) as two,
        ):
            answer = await one.begin()
            await reached.wait()
            watcher = Watcher(two, answer, look=0.05)
            await one.engine.stop(answer)
            await watcher.ends()
            assert watcher.news == []

    play(story())


STOP = """
import sys
from uuid import UUID
import django
django.setup()
from chatapp import store
sys.exit(not store.stop(UUID(sys.argv[1]), None, by="another process"))
"""


async def stop_elsewhere(answer: UUID) -> int:
    """By a process that shares nothing but the database."""
    at, scheme = connection.settings_dict, "postgres" if connection.vendor == "postgresql" else "sqlite"
    place = f"{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}" if scheme == "postgres" else ""
    url = f"{scheme}://{place}/{at['NAME']}"
    settings = {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "chatapp.settings", "LOCAL_MODEL": "0"}
    command = [sys.executable, "-c", STOP, str(answer)]
    process = await asyncio.create_subprocess_exec(
        *command, env=os.environ | settings, stderr=subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()


@pytest.mark.one_process("others hear nothing of what it does there.")
def test_a_stop_by_another_process_ends_all_watching_without_any_notice(tmp_path):
    reached = asyncio.Event()

    async def story():
        providers = model(held(text("It is"), reached=reached)), model()
        async with stages(tmp_path, *providers, checkpoint=0.05) as (one, two):
            answer = await one.begin()
            await reached.wait()
            near, far = Watcher(one, answer), Watcher(two, answer, look=0.05)
            await near.sees("It is")
            await stop_elsewhere(answer)
            await near.ends()
            await far.ends()
            row = await one.end(answer)
            assert (row.status, row.metadata["ended"]["by"]) == (Status.STOPPED, "another process")

    play(story())
