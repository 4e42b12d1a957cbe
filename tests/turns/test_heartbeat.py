"""Two servers with folders of their own on one database: neither takes the other's turns while it lives, and each takes them
when it is dead. No clock of theirs is asked."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import OperationalError

from chatapp import store
from chatapp.store import LiveTurn, in_thread
from chatapp.store.database import heartbeats
from chatapp.store.models import Message, Status
from chatapp.store.running_models import Heartbeat
from chatapp.turns.heartbeat import AFTER_TROUBLE, DEAD_AFTER
from chatapp.turns.heartbeat import HeartbeatThread as Beating
from tests.support.script import held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, play, stage, until

from .test_recovery import left_running

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

# A heart that beats so fast that a death is seen in a tenth of a second.
FAST = 0.02


class Hearts:
    """Processes as the table sees them, each of which beats when it is told to."""

    def __init__(self, *names: str) -> None:
        self._hearts = {name: Beating(name) for name in names}
        self.turns = {name: LiveTurn(uuid4(), 1, 1, name, timedelta()) for name in names}

    def beat(self, *names: str, times: int = 1) -> None:
        for _ in range(times):
            for name in names:
                self._hearts[name]._beat()

    def dead(self, by: str) -> set[str]:
        others = [turn for name, turn in self.turns.items() if name != by]
        silent = self._hearts[by].silent(others)
        return {turn.runner for turn in others if turn.id in silent}


def test_whoever_is_not_heard_while_another_beats_is_dead_to_it():
    hearts = Hearts("a", "b", "c")
    hearts.beat("c", "a", "b")
    assert hearts.dead("a") == hearts.dead("b") == set()
    hearts.beat("a", "b", times=DEAD_AFTER - 1)
    assert hearts.dead("a") == set()
    hearts.beat("a", "b")
    assert hearts.dead("a") == hearts.dead("b") == {"c"}
    hearts.beat("c", "a")
    assert hearts.dead("a") == set()


def test_a_name_that_never_beat_is_given_as_long():
    """As that of a process of an earlier version."""
    hearts = Hearts("a", "host/17-0123abcd")
    hearts.beat("a", times=20)
    assert hearts.dead("a") == set()
    hearts.beat("a", times=DEAD_AFTER)
    assert hearts.dead("a") == {"host/17-0123abcd"}


def test_a_turn_that_is_new_is_not_judged_by_how_long_its_runner_was_idle():
    hearts = Hearts("a", "b")
    hearts.beat("b", "a")
    hearts.beat("a", times=20)
    hearts.turns["b"] = LiveTurn(uuid4(), 1, 1, "b", timedelta())
    assert hearts.dead("a") == set()


@pytest.mark.parametrize(
    "silent, more", [(0, DEAD_AFTER), (1, DEAD_AFTER - 1), (DEAD_AFTER - 1, AFTER_TROUBLE)]
)
def test_after_a_time_in_which_nobody_could_write_everybody_has_time_to_come_back(monkeypatch, silent, more):
    """And who was dead before it is not given the whole time again."""
    hearts = Hearts("a", "b")
    hearts.beat("b", "a")
    hearts.dead("a")
    hearts.beat("a", times=silent)
    with monkeypatch.context() as away:
        away.setattr(heartbeats, "beat", refused)
        hearts.beat("a", times=50)
    hearts.beat("a", times=more - 1)
    assert hearts.dead("a") == set()
    hearts.beat("a")
    assert hearts.dead("a") == {"b"}


def refused(name: str) -> dict[str, int]:
    raise OperationalError("the database is locked")


@pytest.mark.parametrize("hours", [-24, -1, 1, 24])
def test_clocks_that_jump_change_nothing(monkeypatch, hours):
    hearts = Hearts("a", "b")
    hearts.beat("a", "b")
    jumped = time.time() + hours * 3600
    monkeypatch.setattr(time, "time", lambda: jumped)
    Heartbeat.objects.update(beat_at=datetime.fromisoformat("2001-01-01T00:00:00+00:00"))
    hearts.beat("a", "b", times=DEAD_AFTER + 1)
    assert hearts.dead("a") == hearts.dead("b") == set()


def test_names_of_days_gone_by_are_forgotten():
    Hearts("old").beat("old")
    Heartbeat.objects.update(beat_at=datetime.fromisoformat("2001-01-01T00:00:00+00:00"))
    Hearts("new").beat("new")
    assert list(Heartbeat.objects.values_list("runner", flat=True)) == ["new"]


async def two(stages: AsyncExitStack, folder: Path, *providers: ScriptedProvider) -> list[Stage]:
    """Servers on one database, each with a folder of its own, and one host between them."""
    made = [
        stage(ScriptedCatalog(provider), folder / str(n), beat=FAST) for n, provider in enumerate(providers)
    ]
    return [await stages.enter_async_context(each) for each in made]


async def beats(on: Stage, times: int) -> None:
    """So many more beats of this process."""
    name = on.engine.runner.name

    def count() -> int:
        return Heartbeat.objects.filter(runner=name).values_list("beats", flat=True).first() or 0

    until_then = await in_thread(count)() + times
    await until(lambda: _reached(count, until_then))


async def _reached(count, wanted: int) -> bool:
    return await in_thread(count)() >= wanted


@pytest.mark.one_process("two processes are asked there, and each answers.")
def test_a_server_leaves_the_turns_of_another_that_lives_alone(tmp_path):
    reached = asyncio.Event()
    asked = ScriptedProvider([held(thought("Let me", key="rs_1"), reached=reached)])
    other = ScriptedProvider([response(text("No."))])

    async def story():
        async with AsyncExitStack() as stages:
            one, two_ = await two(stages, tmp_path, asked, other)
            answer = await one.begin()
            await reached.wait()
            await two_.engine.start()
            for _ in range(3):
                await beats(two_, DEAD_AFTER)
                await two_.engine.runner.recover()
            row = await one.row(answer)
            assert (row.attempt, row.runner, other.asked) == (1, one.engine.runner.name, [])
            await one.engine.stop(answer)

    play(story())


@pytest.mark.one_process("two processes are asked there, and each answers.")
def test_a_server_takes_over_the_turns_of_another_that_is_dead_and_the_dead_one_writes_no_more(tmp_path):
    reached = asyncio.Event()
    asked = ScriptedProvider([held(thought("Let me", key="rs_1"), reached=reached)])
    other = ScriptedProvider([response(text("Here."))])

    async def story():
        async with AsyncExitStack() as stages:
            one, two_ = await two(stages, tmp_path, asked, other)
            answer = await one.begin()
            await reached.wait()
            # Its heart stops and its loop goes on: so does a process that is cut off.
            await asyncio.to_thread(one.engine.runner._heartbeat.end)
            await two_.engine.start()

            async def taken() -> bool:
                await two_.engine.runner.recover()
                return (await two_.row(answer)).attempt == 2

            await until(taken)
            row = await two_.end(answer)
            assert (row.status, await two_.said(answer)) == (Status.COMPLETE, "Here.")
            assert (await one.end(answer)).attempt == 2
            assert len(asked.asked) == len(other.asked) == 1

    play(story())


@pytest.mark.parametrize("runner", ["host/17-0123abcd", ""], ids=["named", "nameless"])
def test_turns_that_an_earlier_version_left_are_taken_over(tmp_path, runner):
    async def story():
        async with stage(
            ScriptedCatalog(ScriptedProvider([response(text("Here."))])), tmp_path, beat=FAST
        ) as on:
            claim = await left_running(on, runner)
            await on.engine.start()

            async def ended() -> bool:
                await on.engine.runner.recover()
                return (await on.row(claim.message)).status == Status.COMPLETE

            await until(ended)

    play(story())


def test_the_age_of_a_turn_is_told_by_the_clock_that_wrote_it(tmp_path, monkeypatch):
    async def story():
        async with stage(ScriptedCatalog(ScriptedProvider([response(text("Here."))])), tmp_path) as on:
            claim = await left_running(on, on.engine.runner.name)
            (turn,) = await in_thread(store.load_live_turns)()
            assert turn.untouched is not None and timedelta() <= turn.untouched < timedelta(seconds=5)
            await in_thread(Message.objects.filter(pk=claim.message).update)(touched_at=None)
            (turn,) = await in_thread(store.load_live_turns)()
            assert turn.untouched is None
            await on.engine.stop(claim.message)

    play(story())
