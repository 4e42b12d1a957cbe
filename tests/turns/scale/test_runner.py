"""Who works on a turn falls silent when it is stopped anywhere, goes on when nobody stopped it after all, and hands over what it leaves."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from django.conf import settings

from chatapp import store
from chatapp.core.draft import Draft
from chatapp.core.events import ItemDelta, ItemStarted
from chatapp.core.items import Kind
from chatapp.store import in_thread
from chatapp.store.models import Status
from chatapp.turns.engine import Engine
from tests.support.apart import work_beside
from tests.support.script import held, response, text
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage, until
from tests.turns.test_watching import Watcher

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)

from chatapp.turns.scale.live import RedisLive
from chatapp.turns.scale.notices import tell_of_stop

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


class Talker:
    """A model that counts as fast as it can; `gone` when nobody listens to it any more."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def script(self, ask, keys):
        key = keys.take()
        yield ItemStarted(key, Kind.ASSISTANT_MESSAGE)
        try:
            for n in range(1_000_000):
                await asyncio.sleep(0.001)
                yield ItemDelta(key, f"{n} ")
        finally:
            self.gone.set()


def test_a_stop_from_another_process_keeps_every_word_that_anybody_saw_and_lets_go_of_the_provider(tmp_path):
    async def story():
        talker = Talker()
        async with stage(ScriptedCatalog(ScriptedProvider([talker.script])), tmp_path) as on:
            answer = await on.begin()
            watchers = [Watcher(on, answer) for _ in range(2)]
            for watcher in watchers:
                await watcher.sees("30 ")
            assert await on.engine.stop(answer)
            assert talker.gone.is_set(), "Before whoever stopped it is answered."
            for watcher in watchers:
                await watcher.ends()
                assert (await on.said(answer)).startswith(watcher.words())
            assert (await on.row(answer)).status == Status.STOPPED

    play(story())


def test_a_turn_that_nobody_stopped_after_all_goes_on(tmp_path, monkeypatch):
    """Whoever was about to stop it died."""
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("It is"), reached=reached), response(text("Here."))])
    monkeypatch.setattr("chatapp.turns.scale.runner.STOP_SECONDS", 0.2)

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            answer = await on.begin()
            await reached.wait()
            await in_thread(tell_of_stop)(answer, 1)
            await on.let_go(answer)

            async def goes_on() -> bool:
                await on.working.runner.recover()
                return (await on.row(answer)).status == Status.COMPLETE

            await until(goes_on)
            row = await on.row(answer)
            assert (row.attempt, await on.said(answer)) == (2, "Here.")

    play(story())


def test_a_word_about_an_attempt_that_has_passed_ends_nothing(tmp_path):
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("It is"), reached=reached)])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            answer = await on.begin()
            await reached.wait()
            for attempt in (0, 2):
                await in_thread(tell_of_stop)(answer, attempt)
            # What is told after it was heard too.
            heard = asyncio.Event()
            on.working.notices.heard_stop.append(lambda *told: heard.set())
            await in_thread(tell_of_stop)(answer, 0)
            await heard.wait()
            assert answer in on.working.runner._tasks
            assert await on.engine.stop(answer)

    play(story())


def test_the_stop_of_a_turn_whose_process_is_dead_takes_no_longer_and_keeps_what_was_saved(tmp_path):
    async def story():
        async with stage(ScriptedCatalog(ScriptedProvider([])), tmp_path) as on:
            claim = store.Claim(await on.leave("elsewhere/gone", claimed=True), 1)
            await in_thread(store.save_drafts)([(claim, half_a_text())])
            async with asyncio.timeout(2):
                assert await on.engine.stop(claim.message)
            assert await on.said(claim.message) == "Half"

    play(story())


def half_a_text():
    draft = Draft()
    for event in (ItemStarted("m_1", Kind.ASSISTANT_MESSAGE), ItemDelta("m_1", "Half")):
        draft.apply(event, 1.0)
    return draft.to_json(2.0)


def test_what_runs_in_a_process_that_ends_goes_on_in_another_at_once(tmp_path):
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("It is"), reached=reached), response(text("Here."))])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            answer = await on.begin()
            await reached.wait()
            watcher = Watcher(on, answer)
            await watcher.sees("It is")
            await on.working.runner.close()
            another = partial(Engine, on.engine.catalog, folder=tmp_path)
            async with work_beside(on.engine, another):
                row = await on.end(answer)
            assert (row.status, row.attempt, await on.said(answer)) == (Status.COMPLETE, 2, "Here.")
            await watcher.ends()

    play(story())


def test_a_process_that_ends_waits_for_what_runs_in_it(tmp_path):
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def script(ask, keys):
        reached.set()
        await go_on.wait()
        async for event in response(text("Here."))(ask, keys):
            yield event

    async def story():
        async with stage(ScriptedCatalog(ScriptedProvider([script])), tmp_path) as on:
            answer = await on.begin()
            await reached.wait()
            draining = asyncio.create_task(on.working.runner.drain())
            go_on.set()
            await draining
            row = await on.row(answer)
            assert (row.status, row.attempt) == (Status.COMPLETE, 1)

    play(story())


def test_a_zombie_that_speaks_again_is_seen_by_nobody(tmp_path):
    """It was taken over while it was frozen; when it wakes it tells Redis anew what it had to say."""
    reached = asyncio.Event()
    provider = ScriptedProvider([held(text("Old words"), reached=reached)])

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, checkpoint=60) as on:
            answer = await on.begin()
            await reached.wait()
            zombie = on.working
            zombie.runner.hear = lambda notice: None
            await in_thread(store.claim_turn)(answer, runner="elsewhere/dead", seen=1)
            stream = (answer, 2)
            # That of a third process.
            other = RedisLive(settings.REDIS_URL)
            other.open(stream, Draft(), lambda: 5.0)
            for event in (ItemStarted("m_1", Kind.ASSISTANT_MESSAGE), ItemDelta("m_1", "New words")):
                other.publish(stream, event, 1.0)
            zombie.live._outgoing[answer, 1].begin_anew()
            zombie.live.publish((answer, 1), ItemDelta("part-0", " and more"), 9.0)

            async def seen() -> str:
                found = await on.engine.live.seen(answer)
                return "".join(item.text for item in found.draft.cut()) if found else ""

            watcher = Watcher(on, answer)
            await watcher.sees("New words")
            assert "Old" not in watcher.words()
            assert await seen() == "New words"
            await other.end()
            await on.engine.stop(answer)
            assert await on.said(answer) == "New words"

    play(story())
