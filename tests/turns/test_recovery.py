"""What dead processes left: taken over from the last stored item, left alone, or given up. Real files, real locks, real deaths."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from shutil import copytree
from uuid import UUID

import pytest
from django.utils import timezone

from chatapp import store
from chatapp.core.history import Response
from chatapp.core.items import Item, Kind
from chatapp.operation.models import TakeOver
from chatapp.store import Claim, Measured, in_thread
from chatapp.store.database.threads import in_page_thread
from chatapp.store.models import Message, Status
from chatapp.tools.base import Tool, tool
from chatapp.turns.locks import ProcessLock
from tests.support.faults import locked, short_patience
from tests.support.make import half_a_thought
from tests.support.patience import PATIENCE
from tests.support.script import Ticks, held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, play, stage, until

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]

HOLD = """
import sys
from pathlib import Path
from chatapp.turns.locks import ProcessLock
lock = ProcessLock(Path(sys.argv[1]) / "run")
print(lock.name, flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Process:
    """Another process, alive until it is killed, which holds its lock."""

    name: str
    process: subprocess.Popen[str]

    def kill(self) -> str:
        self.process.kill()
        self.process.communicate()
        return self.name


def another(folder: Path) -> Process:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], **pipes)
    return Process(process.stdout.readline().strip(), process)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def dead(folder) -> str:
    """The name of a process that was killed."""
    return another(folder).kill()


@pytest.fixture(scope="module")
def living(folder) -> Iterator[str]:
    process = another(folder)
    yield process.name
    process.kill()


def model(*scripts) -> ScriptedProvider:
    return ScriptedProvider(scripts or [response(text("Here."))])


async def left_running(on: Stage, runner: str, *, attempt: int = 1) -> Claim:
    """A question whose turn a process of that name has claimed, so many times."""
    answer = await on.leave(runner)
    for seen in range(attempt):
        claim = await in_thread(store.claim_turn)(answer, runner=runner, seen=seen)
    return claim


async def started(on: Stage, answer: UUID) -> Message:
    """The row after the process has started and has ended what it does with this turn."""
    await on.engine.start()
    return await on.end(answer)


def call(name: str) -> Item:
    return Item(
        key=f"fc_{name}", kind=Kind.TOOL_CALL, text="{}", wire={"id": f"fc_{name}"}, name=name, call_id=name
    )


def result(of: Item) -> Item:
    return Item(
        key=f"r_{of.name}",
        kind=Kind.TOOL_RESULT,
        text="seen",
        name=of.name,
        call_id=of.call_id,
        outcome="done",
    )


@pytest.mark.one_process("whoever asks there answers too.")
def test_a_queued_turn_of_a_dead_process_is_answered_at_the_start(folder, dead):
    async def story():
        async with stage(ScriptedCatalog(model()), folder) as on:
            row = await started(on, await on.leave(dead))
            assert (row.status, row.attempt, row.runner) == (Status.COMPLETE, 1, on.engine.runner.name)
            assert await on.said(row.id) == "Here."

    play(story())


def test_a_running_turn_of_a_dead_process_goes_on_after_its_last_stored_round(folder, dead):
    provider = model()

    async def story():
        async with stage(ScriptedCatalog(provider), folder) as on:
            claim = await left_running(on, dead)
            await in_thread(store.append_round)(claim, [call("clock")], Measured(elapsed=700))
            await in_thread(store.append_result)(claim, result(call("clock")), Measured(elapsed=800))
            await in_thread(store.save_drafts)([(claim, half_a_thought().to_json(1600))])
            row = await started(on, claim.message)
            items = await on.items(row.id)
            assert [(item.kind, item.round, item.cut) for item in items] == [
                ("tool_call", 0, False),
                ("tool_result", 0, False),
                ("assistant_message", 1, False),
            ]
            assert (row.status, row.attempt, len(provider.asked)) == (Status.COMPLETE, 2, 1)
            assert row.metadata["timings_ms"][items[2].key]["start"] >= 800

    play(story())


def effects(path: Path) -> tuple[dict[str, Tool], list[str]]:
    """Two tools that leave a line for each run: only the first may run twice."""

    def look() -> str:
        """Looks."""
        return ran("look")

    def act() -> str:
        """Acts."""
        return ran("act")

    def ran(name: str) -> str:
        with path.open("a") as log:
            log.write(f"{name}\n")
        return f"did {name}"

    return {"look": tool(look, safe=True, idempotent=True), "act": tool(act, safe=True)}


@pytest.mark.parametrize(
    ("name", "begun", "stored", "ran", "outcome"),
    [
        ("look", True, True, [], ("done", "seen")),
        ("act", True, True, [], ("done", "seen")),
        ("look", True, False, ["look"], ("done", "did look")),
        ("act", False, False, ["act"], ("done", "did act")),
        ("act", True, False, [], ("unknown", "The call was interrupted; its outcome is unknown.")),
    ],
)
def test_a_call_without_a_result_runs_again_only_if_that_is_harmless(
    folder, tmp_path, dead, name, begun, stored, ran, outcome
):
    log = tmp_path / "effects"
    log.touch()
    provider = model()

    async def story():
        async with stage(ScriptedCatalog(provider), folder, tools=effects(log)) as on:
            claim = await left_running(on, dead)
            await in_thread(store.append_round)(claim, [call(name)], Measured())
            if begun:
                await in_thread(store.begin_call)(claim, call(name))
            if stored:
                await in_thread(store.append_result)(claim, result(call(name)), Measured())
            row = await started(on, claim.message)
            assert row.status == Status.COMPLETE
            found = (await on.items(row.id))[1]
            assert (found.outcome, found.text) == outcome
            assert log.read_text().split() == ran
            responses = [step for step in provider.asked[0].history.steps if isinstance(step, Response)]
            assert [[each.text for each in step.results] for step in responses] == [[outcome[1]]]

    play(story())


def test_a_turn_of_a_living_process_is_left_alone(folder, living):
    async def story():
        async with stage(ScriptedCatalog(model()), folder) as on:
            claim = await left_running(on, living)
            before = await on.row(claim.message)
            await on.engine.start()
            await on.engine.runner.recover()
            after = await on.let_go(claim.message)
            assert (after.status, after.attempt, after.touched_at) == (Status.RUNNING, 1, before.touched_at)
            await on.engine.stop(claim.message)

    play(story())


def test_a_turn_of_its_own_name_that_nobody_works_on_is_taken_over(folder):
    async def story():
        async with stage(ScriptedCatalog(model()), folder) as on:
            claim = await left_running(on, on.engine.runner.name)
            row = await started(on, claim.message)
            assert (row.status, row.attempt) == (Status.COMPLETE, 2)

    play(story())


def test_a_turn_that_is_worked_on_is_not_taken_over_by_its_own_process(folder):
    reached = asyncio.Event()

    async def story():
        async with stage(ScriptedCatalog(model(held(text("It"), reached=reached))), folder) as on:
            answer = await on.begin()
            await reached.wait()
            await on.engine.runner.recover()
            assert (await on.row(answer)).attempt == 1
            await on.engine.stop(answer)

    play(story())


def test_a_turn_that_was_looked_for_between_its_making_and_its_start_is_begun_once(folder):
    reached = asyncio.Event()
    provider = model(held(text("It"), reached=reached))

    async def story():
        async with stage(ScriptedCatalog(provider), folder) as on:
            answer = await on.leave(on.engine.runner.name)
            await on.engine.runner.recover()
            await reached.wait()
            await on.engine.runner.start(answer)
            await on.engine.runner.recover()
            assert (await on.row(answer)).attempt == 1
            assert len(provider.asked) == 1
            await on.engine.stop(answer)
            assert (await on.end(answer)).attempt == 2

    play(story())


def test_a_claimed_turn_that_was_looked_for_before_it_began_is_begun_once(folder):
    reached = asyncio.Event()
    provider = model(held(text("It"), reached=reached))

    async def story():
        async with stage(ScriptedCatalog(provider), folder) as on:
            answer = await on.leave(claimed=True)
            await on.engine.runner.recover()
            await reached.wait()
            await on.engine.runner.begin(Claim(answer, 1))
            await on.engine.stop(answer)
            assert (await on.end(answer)).attempt == 3
            assert len(provider.asked) == 1

    play(story())


def test_a_claimed_turn_that_was_answered_before_it_began_is_asked_for_once(folder):
    """Who made it was slow to hand it over, and whoever looked found nobody at work."""
    provider = model(response(text()), response(text()))

    async def story():
        async with stage(ScriptedCatalog(provider), folder) as on:
            answer = await on.leave(claimed=True)
            await on.engine.runner.recover()
            assert (await on.end(answer)).status == Status.COMPLETE
            branch = await in_thread(store.load_branch)(answer)
            await on.engine.runner.begin(Claim(answer, 1), branch=branch)
            await on.end(answer)
            assert len(provider.asked) == 1

    play(story())


def test_after_three_tries_the_turn_is_interrupted_with_what_was_last_saved_and_can_go_on(folder, dead):
    ticks = Ticks()
    provider = model(response(thought(key="rs_2", lasts=2), text("Done."), ticks=ticks))

    async def story():
        async with stage(ScriptedCatalog(provider), folder, now=ticks) as on:
            claim = await left_running(on, dead, attempt=3)
            await in_thread(store.save_drafts)([(claim, half_a_thought().to_json(4000))])
            row = await started(on, claim.message)
            assert (row.status, row.attempt, provider.asked) == (Status.INTERRUPTED, 4, [])
            assert [(item.text, item.cut) for item in await on.items(row.id)] == [("Let me", True)]
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 3000}
            row = await on.go_on(row.id)
            assert (row.status, row.attempt, row.tries) == (Status.COMPLETE, 5, 1)
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 3000, "rs_2": 2000}
            assert row.metadata["timings_ms"]["rs_2"] == {"start": 4000, "end": 6000}

    play(story())


def test_a_database_that_is_locked_is_no_error_of_a_turn_which_is_given_up_at_the_next_look(
    folder, dead, caplog
):
    async def story():
        async with stage(ScriptedCatalog(model()), folder) as on:
            claim = await left_running(on, dead, attempt=3)
            with locked():
                await on.engine.runner.recover()
            assert (await on.row(claim.message)).status == Status.RUNNING
            await on.engine.runner.recover()
            assert (await on.row(claim.message)).status == Status.INTERRUPTED

    with short_patience(0.5):
        play(story())
    told = [record.levelname for record in caplog.records if "could not be taken over" in record.message]
    assert told == ["WARNING"]


def test_a_finished_round_gives_a_turn_its_tries_back(folder, dead):
    async def story():
        async with stage(ScriptedCatalog(model()), folder) as on:
            claim = await left_running(on, dead, attempt=3)
            await in_thread(store.append_round)(claim, [text_item("Let me see.")], Measured())
            assert (await started(on, claim.message)).status == Status.COMPLETE

    play(story())


def text_item(words: str) -> Item:
    return Item(key="msg_1", kind=Kind.ASSISTANT_MESSAGE, text=words, wire={"id": "msg_1"})


@pytest.mark.parametrize(("minutes", "status"), [(14, Status.COMPLETE), (16, Status.INTERRUPTED)])
def test_only_a_recent_turn_goes_on_by_itself(folder, dead, minutes, status):
    async def story():
        async with stage(ScriptedCatalog(model()), folder) as on:
            claim = await left_running(on, dead)
            then = timezone.now() - timedelta(minutes=minutes)
            await in_thread(Message.objects.filter(pk=claim.message).update)(touched_at=then)
            assert (await started(on, claim.message)).status == status

    play(story())


@pytest.mark.one_process("two processes are asked there, and each answers.")
def test_of_two_processes_that_find_the_same_turn_one_answers_it(folder, dead):
    provider = model()

    async def story():
        async with AsyncExitStack() as stages:
            catalog = ScriptedCatalog(provider)
            one, two = [await stages.enter_async_context(stage(catalog, folder)) for _ in range(2)]
            answers = [(await left_running(one, dead)).message for _ in range(4)]
            await asyncio.gather(one.engine.start(), two.engine.start())
            for answer in answers:
                await one.end(answer)
                row = await two.end(answer)
                assert (row.status, row.attempt) == (Status.COMPLETE, 2)
                assert len(await one.items(answer)) == 1
            assert len(provider.asked) == len(answers)

    play(story())


def test_a_process_that_closes_leaves_its_turn_for_the_next_one(folder):
    reached = asyncio.Event()
    provider = model(held(thought("Let me", key="rs_1"), reached=reached), response(text("Here.")))

    async def story():
        async with stage(ScriptedCatalog(provider), folder) as first:
            answer = await first.begin()
            await reached.wait()
        async with stage(ScriptedCatalog(provider), folder) as second:
            row = await started(second, answer)
            assert (row.status, row.attempt, row.tries) == (Status.COMPLETE, 2, 2)
            assert [item.text for item in await second.items(answer)] == ["Here."]

    play(story())


def test_the_lock_of_a_dead_process_is_swept_and_that_of_a_living_one_stays(tmp_path):
    gone, there = another(tmp_path), another(tmp_path)
    gone.kill()
    lock = ProcessLock(tmp_path / "run")
    try:
        files = {path.stem for path in (tmp_path / "run").glob("*.lock")}
        assert files == {name.rpartition("/")[2] for name in (there.name, lock.name)}
        assert lock.is_free(gone.name)
        assert not lock.is_free(there.name)
        assert lock.is_free(there.kill())
    finally:
        lock.release()


def test_a_folder_keeps_its_name_and_a_copy_gets_another(tmp_path):
    locks = [ProcessLock(tmp_path / "run") for _ in range(2)]
    copytree(tmp_path / "run", tmp_path / "copied")
    locks.append(ProcessLock(tmp_path / "copied"))
    homes = [lock.name.partition("/")[0] for lock in locks]
    assert homes[0] == homes[1] != homes[2]
    assert not locks[2].is_free(locks[0].name), "In the copy nobody holds its file, and it lives."
    for lock in locks:
        lock.release()


def test_processes_that_start_and_sweep_at_once_all_get_their_locks(tmp_path):
    async def story():
        locks = await asyncio.gather(*(asyncio.to_thread(lambda: ProcessLock(tmp_path)) for _ in range(60)))
        assert len({lock.name for lock in locks}) == 60
        assert not any(locks[0].is_free(lock.name) for lock in locks)
        for lock in locks:
            lock.release()
        assert list(tmp_path.glob("*.lock")) == []

    asyncio.run(story())


def _saved_words(answer: UUID) -> list[str]:
    seen = store.load_draft(answer)
    return [piece.said() for piece in seen.draft.pieces.values() if piece.said()] if seen else []


@pytest.mark.one_process("others hear nothing of what it does there.")
def test_a_stop_by_a_process_of_another_machine_keeps_the_saved_draft_and_the_first_ends_quietly(
    folder, tmp_path_factory, caplog
):
    reached = asyncio.Event()

    async def story():
        async with AsyncExitStack() as stages:
            script = held(thought("Let me", key="rs_1"), reached=reached)
            one = await stages.enter_async_context(
                stage(ScriptedCatalog(model(script)), folder, checkpoint=0.01)
            )
            two = await stages.enter_async_context(
                stage(ScriptedCatalog(model()), tmp_path_factory.mktemp("elsewhere"))
            )
            answer = await one.begin()
            await reached.wait()
            await until(lambda: in_thread(_saved_words)(answer))
            assert await two.engine.live.seen(answer) is None
            assert await two.engine.stop(answer, by="alice")
            stopped, items = await two.row(answer), await two.items(answer)
            assert [(item.text, item.cut) for item in items] == [("Let me", True)]
            assert stopped.metadata["reasoning_durations_ms"]["rs_1"] >= 0
            (sent,) = stopped.metadata["rounds"]
            assert (sent["round"], sent["replayed"], sent["shape"]) == (0, 0, ["steps: 1"])
            assert [item.dialect for item in items] == ["responses"]
            row = await one.end(answer)
            assert row.__dict__ | {"_state": None} == stopped.__dict__ | {"_state": None}
            assert await one.items(answer) == items

    play(story())
    assert [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


@pytest.mark.parametrize(("since", "status"), [(0, Status.RUNNING), (11, Status.INTERRUPTED)])
def test_a_request_of_a_program_is_not_given_up_before_its_task_has_begun(tmp_path, since, status):
    """Between its row, which says that it runs, and the task that does."""

    async def story():
        async with stage(ScriptedCatalog(model()), tmp_path) as on:
            claim = await left_running(on, on.engine.runner.name)
            moment = timezone.now() - timedelta(seconds=since)
            row = Message.objects.filter(pk=claim.message)
            await in_thread(row.update)(tries=3, touched_at=moment)
            await on.engine.runner.recover()
            assert (await on.row(claim.message)).status == status
            await on.engine.stop(claim.message)

    play(story())


@pytest.mark.one_process("whoever is asked there begins nothing itself.")
@pytest.mark.parametrize("asked", ["by a page", "by a coroutine"])
def test_what_is_about_to_begin_here_is_not_taken_over(folder, asked):
    """Its row says that it runs, and its task is not there yet: a page's thread may be held up for long in between."""
    provider = ScriptedProvider([response(text("Here."))])
    stands, go = threading.Event(), threading.Event()

    async def story():
        async with stage(ScriptedCatalog(provider), folder) as on:
            owner, where = on.conversation.owner, on.conversation.id

            def held_up(asked_for: store.AskedFor) -> store.Started:
                started = store.start_turn(where, "Why?", parent=None, author=owner, asked=asked_for)
                stands.set()
                assert go.wait(PATIENCE)
                return started

            by_page = partial(in_page_thread(on.engine.asked_by_page), on.engine.write_kept)
            asking = asyncio.create_task(
                (by_page if asked == "by a page" else on.engine.ask_kept)(held_up, model=on.model)
            )
            assert await asyncio.to_thread(stands.wait, PATIENCE)
            await on.engine.runner.recover()
            go.set()
            started = await asking
            row = await until(lambda: _ended(on, started.answer))
            assert (row.status, row.attempt, len(provider.asked)) == (Status.COMPLETE, 1, 1)
            assert not await in_thread(TakeOver.objects.exists)()

    async def _ended(on: Stage, answer: UUID) -> Message | None:
        row = await on.row(answer)
        return None if row.status == Status.RUNNING else row

    play(story())
