"""Processes that share a folder: what one of them runs is watched, stopped and heard of in another as if it ran there."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from chatapp import store
from chatapp.core.items import Kind
from chatapp.store import in_thread
from chatapp.store.models import Message, Status
from chatapp.turns.neighbours.line import ENDING
from tests.support.front import house
from tests.support.listening import Socket, session_of
from tests.support.patience import PATIENCE
from tests.support.script import held, response, text, thought
from tests.support.shell import Shell
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage, until
from tests.turns.test_watching import Gate, Watcher, numbers

pytestmark = pytest.mark.django_db(transaction=True)

# So many milliseconds a busy machine may hold up whoever reads two clocks, one after the other.
HELD_UP = 500


@asynccontextmanager
async def two(folder: Path, *scripts):
    """One that runs what is asked, and one that is beside it."""
    async with AsyncExitStack() as stages:
        one = await stages.enter_async_context(stage(ScriptedCatalog(ScriptedProvider(scripts)), folder))
        other = await stages.enter_async_context(
            stage(ScriptedCatalog(ScriptedProvider([response(text("Here."))])), folder)
        )
        for each in (one, other):
            each.engine.notices.begin()
        await until(lambda: _see_each_other(one, other))
        yield one, other


async def _see_each_other(*stages) -> bool:
    return all(each.engine.live.is_anybody_there() for each in stages)


def test_each_word_is_seen_in_the_other_process_with_its_number_and_time(tmp_path):
    gate = Gate("one ", "two ", "three ", "four")

    async def story():
        async with two(tmp_path, gate.script) as (one, other):
            answer = await one.begin()
            here, early = Watcher(one, answer), Watcher(other, answer)
            for count, words in enumerate(("one ", "one two ", "one two three "), 1):
                gate.open(count)
                await early.sees(words)
            late = Watcher(other, answer)
            await late.sees("one two three ")
            before, now, afterwards = (each.engine.live.now((answer, 1)) for each in (one, other, one))
            assert before - HELD_UP < now < afterwards + HELD_UP
            gate.open(4)
            for watcher in (here, early, late):
                await watcher.ends()
            assert numbers(early.said(1)) == numbers(late.said(1)) == numbers(here.said(1))
            events = [(each.n, each.event) for each in here.said(1)]
            assert [(each.n, each.event) for each in early.said(1)] == events
            assert early.words() == "one two three four"

    play(story())


def test_a_stop_in_the_other_process_keeps_every_word_and_ends_the_question_at_once(tmp_path):
    reached = asyncio.Event()

    async def story():
        async with two(tmp_path, held(thought("Let me", key="rs_1"), text("Be"), reached=reached)) as (
            one,
            other,
        ):
            answer = await one.begin()
            await reached.wait()
            watching = Watcher(other, answer)
            await watching.sees("Let meBe")
            assert await other.engine.stop(answer, by="alice")
            stopped = time.monotonic()
            await one.engine.runner.wait(answer)
            assert time.monotonic() - stopped < 1
            await watching.ends()
            row, items = await other.row(answer), await other.items(answer)
            assert row.status == Status.STOPPED
            assert [(item.kind, item.text) for item in items] == [
                (Kind.REASONING, "Let me"),
                (Kind.ASSISTANT_MESSAGE, "Be"),
            ]
            (sent,) = row.metadata["rounds"]
            assert sent["shape"] == ["steps: 1"]

    play(story())


def test_who_looked_for_it_elsewhere_reads_it_here_from_its_first_word_on(tmp_path):
    """Between the claim of a turn and its first word nobody has anything of it."""

    async def story():
        async with two(tmp_path, response(text("Here."))) as (on, _):
            answer = await on.leave(claimed=True)
            watching = Watcher(on, answer)
            await until(lambda: _looked_for(on, answer))
            await on.engine.runner.begin(store.Claim(answer, 1))
            await watching.ends()
            assert watching.words() == "Here."

    async def _looked_for(on, answer) -> bool:
        return on.engine.live.mirror((answer, 1)) is not None

    play(story())


def test_a_process_that_died_leaves_a_socket_that_is_cleared_away(tmp_path):
    async def story():
        async with two(tmp_path, response(text("Here."))) as (one, _):
            left = tmp_path / "run" / f"gone{ENDING}"
            os.mknod(left, 0o600 | 0o140000)
            answer = await one.ask()
            assert answer.status == Status.COMPLETE
            assert not left.exists()

    play(story())


def test_a_folder_may_lie_as_deep_as_one_likes(tmp_path):
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    deep.mkdir(parents=True)
    gate = Gate("deep ", "down")

    async def story():
        async with two(deep, gate.script) as (one, other):
            answer = await one.begin()
            watching = Watcher(other, answer)
            gate.open(1)
            await watching.sees("deep ")
            gate.open(2)
            await watching.ends()
            assert watching.words() == "deep down"

    play(story())


@pytest.mark.parametrize(
    "words",
    [b"", b"\n", b"[]\n", b'["follow"]\n', b'["find", 7]\n', b'{"a": 1}\n', b"\xff\n", b'["told", 1]\n'],
)
def test_nonsense_on_the_line_ends_it_and_nothing_else(tmp_path, monkeypatch, words):
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")

    async def there(name: str) -> bool:
        return name in os.listdir()

    async def story():
        async with stage(ScriptedCatalog(ScriptedProvider([response(text("Here."))])), tmp_path) as on:
            on.engine.notices.begin()
            name = on.engine.runner.name.rpartition("/")[2] + ENDING
            await until(lambda: there(name))
            reader, writer = await asyncio.open_unix_connection(name)
            writer.write(words)
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            writer.close()
            assert (await on.ask()).status == Status.COMPLETE

    play(story())


def test_what_is_asked_in_a_terminal_is_seen_on_the_open_page_as_it_comes(alice):
    """The page's conversation; the answer and its letters come over the page's socket, and so does its end."""
    conversation = store.start_conversation(alice, tools=[])
    database = connection.settings_dict["NAME"]
    shell = Shell(Path(settings.DATA_DIR))

    async def story():
        async with house() as mine:
            await mine.load()
            mine.notices.begin()
            socket = Socket(f"/ws/c/{conversation.pk}/?leaf=&version=", await in_thread(session_of)(alice))
            await socket.open()
            asking = asyncio.create_task(
                asyncio.to_thread(
                    shell.run,
                    *("ask", "Hello?", "--model", "demo:thinker", "--user", "alice"),
                    *("--conversation", str(conversation.pk)),
                    DATABASE_URL=f"sqlite:///{database}",
                )
            )
            await socket.is_told("text")
            assert not asking.done()
            row = await in_thread(Message.objects.get)(role="assistant")
            assert row.status == Status.RUNNING
            await socket.sees(
                lambda page: any(said[:2] == ["state", "version"] and said[2] for said in page.said)
            )
            ended = await asking
            assert ended.returncode == 0, ended.stderr
            assert sum(said[0] == "text" for said in socket.said) > 5
            await socket.leave()

    play(story())
