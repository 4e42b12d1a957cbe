"""run_turn: rounds, tools, caps and every way in which a turn can end, on a real database with scripted models."""

from __future__ import annotations

import asyncio
from threading import Thread
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from chatapp import store
from chatapp.core.events import Finish, ItemsStored, Retrying, Skipped, Usage, Withheld
from chatapp.core.history import GO_ON, Question, Repair
from chatapp.providers.base import ProviderError, Trouble
from chatapp.store.models import Conversation, Message, Status, ToolRun
from chatapp.tools.base import Tool
from chatapp.tools.base import tool as made
from chatapp.turns.keep.writes import Write
from chatapp.turns.live import MemoryLive
from chatapp.turns.state import TurnState
from tests.support.script import Ticks, call, held, response, text, thought
from tests.support.stage import ScriptedCatalog, ScriptedProvider, play, stage, until

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


def tool(name: str, run, *, idempotent: bool = True) -> Tool:
    run.__name__ = name
    return made(run, safe=True, idempotent=idempotent)


async def noon() -> str:
    """The time."""
    return "noon"


CLOCK = {"clock": tool("clock", noon)}


def model(*scripts) -> ScriptedProvider:
    return ScriptedProvider(scripts)


def kinds(items) -> list[str]:
    return [f"{item.kind}{' cut' if item.cut else ''}" for item in items]


def test_an_answer_is_stored_with_its_thought_duration_and_round(tmp_path):
    ticks = Ticks()
    provider = model(response(thought("Hm.", key="rs_1", lasts=2.5), text("Ten."), ticks=ticks))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, now=ticks) as on:
            row = await on.ask("How many?")
            assert row.status == Status.COMPLETE
            assert [item.text for item in await on.items(row.id)] == ["Hm.", "Ten."]
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 2500}
            assert row.metadata["timings_ms"]["rs_1"] == {"start": 0, "end": 2500}
            assert row.metadata["elapsed_ms"] == 2500
            assert row.metadata["rounds"] == [
                {
                    "round": 0,
                    "model": "scripted:model",
                    "usage": {"input": 10, "output": 5},
                    "first_event_ms": 0,
                    "dialect": "responses",
                    "messages": 1,
                    "left_out": 0,
                    "replayed": 0,
                    "dropped": {},
                    "shape": ["steps: 1"],
                    "finish": "stop",
                }
            ]

    play(story())


def test_thoughts_before_and_after_a_call_keep_their_own_times(tmp_path):
    ticks = Ticks()
    provider = model(
        response(thought(key="rs_1", lasts=2), call(), ticks=ticks),
        response(thought(key="rs_2", lasts=5), text("It is noon."), ticks=ticks),
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, tools=CLOCK, now=ticks) as on:
            row = await on.ask("What time is it?")
            items = await on.items(row.id)
            assert kinds(items) == ["reasoning", "tool_call", "tool_result", "reasoning", "assistant_message"]
            assert [item.round for item in items] == [0, 0, 0, 1, 1]
            assert items[2].text == "noon"
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 2000, "rs_2": 5000}
            assert [facts["replayed"] for facts in row.metadata["rounds"]] == [0, 1]

    play(story())


def test_what_is_told_of_a_request_that_went_out_again_is_told_of_the_last_one(tmp_path):
    async def script(ask, keys):
        for event in (Skipped(), Withheld({"old": 2}), Retrying(0, "It was busy")):
            yield event
        async for event in response(text())(ask, keys):
            yield event

    async def story():
        async with stage(ScriptedCatalog(model(script)), tmp_path) as on:
            (sent,) = (await on.ask()).metadata["rounds"]
            assert not sent.keys() & {"skipped", "withheld"}

    play(story())


def test_the_second_request_is_folded_from_the_rows(tmp_path):
    provider = model(response(thought(key="rs_1", unknown={"z": 1, "a": 2}), call()), response(text()))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, tools=CLOCK) as on:
            await on.ask()
            parts = provider.asked[1].history.steps[1].parts
            assert list(parts[0].item.wire["unknown"]) == ["z", "a"]
            assert [part.with_id for part in parts] == [True, True]
            assert provider.asked[1].history.steps[1].results[0].text == "noon"

    play(story())


def test_parallel_calls_run_in_parallel_and_each_gets_its_result(tmp_path):
    both = asyncio.Barrier(2)

    async def meet() -> str:
        """Waits for the other."""
        await both.wait()
        return "met"

    provider = model(response(call("meet", call_id="a"), call("meet", call_id="b")), response(text()))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, tools={"meet": tool("meet", meet)}) as on:
            row = await on.ask()
            results = [item for item in await on.items(row.id) if item.kind == "tool_result"]
            assert sorted((item.call_id, item.text) for item in results) == [("a", "met"), ("b", "met")]

    play(story())


def test_a_call_of_an_unknown_tool_gets_a_result_that_says_so(tmp_path):
    async def story():
        async with stage(
            ScriptedCatalog(model(response(call("teleport")), response(text()))), tmp_path, tools=CLOCK
        ) as on:
            row = await on.ask()
            result = (await on.items(row.id))[1]
            assert (result.outcome, row.status) == ("failed", Status.COMPLETE)
            assert "no tool named teleport" in result.text

    play(story())


def test_at_the_cap_the_model_is_asked_for_a_closing_answer_without_calls(tmp_path):
    provider = model(response(call()), response(call()), response(text("Enough.")))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, tools=CLOCK, rounds=2) as on:
            row = await on.ask()
            assert row.status == Status.COMPLETE
            assert [ask.may_call for ask in provider.asked] == [True, True, False]
            assert [tool.name for tool in provider.asked[2].tools] == ["clock"]

    play(story())


def test_a_model_that_calls_even_then_ends_the_turn_in_words(tmp_path):
    async def story():
        async with stage(ScriptedCatalog(model(response(call()))), tmp_path, tools=CLOCK, rounds=2) as on:
            row = await on.ask()
            assert row.status == Status.FAILED
            assert "kept calling" in row.metadata["ended"]["sentence"]
            assert kinds(await on.items(row.id)).count("tool_result") == 3

    play(story())


def failing(trouble: Trouble = Trouble.BUSY, **more) -> ProviderError:
    return ProviderError(trouble, "The script is busy.", "its own words", **more)


def test_a_refusal_fails_the_turn_with_a_sentence_and_the_providers_words(tmp_path):
    async def story():
        async with stage(
            ScriptedCatalog(model(response(failing(status=429)), response(text()))), tmp_path
        ) as on:
            row = await on.ask()
            assert row.status == Status.FAILED
            assert row.metadata["ended"] == {
                "reason": "busy",
                "sentence": "The script is busy.",
                "raw": "its own words",
                "status": 429,
            }
            assert (await on.go_on(row.id)).status == Status.COMPLETE

    play(story())


def test_what_was_said_before_a_broken_stream_is_kept_and_retried_as_a_sibling(tmp_path):
    ticks = Ticks()
    script = response(
        thought("Hm.", key="rs_1", lasts=1), text("It is"), failing(Trouble.BROKEN), ticks=ticks
    )

    async def story():
        async with stage(ScriptedCatalog(model(script, response(text("Yes.")))), tmp_path, now=ticks) as on:
            row = await on.ask()
            assert kinds(await on.items(row.id)) == ["reasoning cut", "assistant_message cut"]
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 1000}
            assert len(row.metadata["rounds"]) == 1
            assert not await on.engine.go_on(row.id)
            again = await on.again(row.id)
            assert (again.parent_id, again.status) == (row.parent_id, Status.COMPLETE)

    play(story())


@pytest.mark.parametrize("finish", [Finish.FILTER, Finish.REFUSAL])
def test_an_answer_that_the_provider_ended_is_failed_in_words(tmp_path, finish):
    async def story():
        async with stage(ScriptedCatalog(model(response(text("I"), finish=finish))), tmp_path) as on:
            row = await on.ask()
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "filtered")

    play(story())


@pytest.mark.parametrize("pieces", [(), (thought(),), (text("  "),)])
def test_an_answer_without_words_is_failed_but_its_thoughts_are_kept(tmp_path, pieces):
    async def story():
        async with stage(ScriptedCatalog(model(response(*pieces))), tmp_path) as on:
            row = await on.ask()
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "empty")
            assert len(await on.items(row.id)) == len(pieces)

    play(story())


def test_an_answer_cut_by_the_output_limit_is_kept_and_can_go_on(tmp_path):
    provider = model(
        response(thought(key="rs_1"), text("One, two,"), finish=Finish.LENGTH), response(text("three."))
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            row = await on.ask("Count.")
            assert (row.status, row.metadata["ended"]) == (Status.STOPPED, {"reason": "length"})
            assert kinds(await on.items(row.id)) == ["reasoning cut", "assistant_message cut"]
            row = await on.go_on(row.id)
            assert row.status == Status.COMPLETE
            assert await on.said(row.id) == "One, two,three."
            steps = provider.asked[1].history.steps
            assert [type(step).__name__ for step in steps] == ["Question", "Response", "Question"]
            assert steps[-1] == Question(GO_ON)
            assert provider.asked[1].history.dropped == {"cut turn": 1}
            assert row.metadata["rounds"][1]["round"] == 1

    play(story())


def test_an_empty_pause_is_not_asked_again_for_ever(tmp_path):
    provider = model(response(finish=Finish.PAUSE))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            row = await on.ask()
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "empty")
            assert len(provider.asked) == 1

    play(story())


def test_a_tool_that_was_not_offered_never_runs(tmp_path):
    ran = []

    async def danger() -> str:
        """Does harm."""
        ran.append(1)
        return "done"

    async def story():
        tools = {"danger": made(danger)}
        provider = model(response(call("danger")), response(text()))
        async with stage(ScriptedCatalog(provider), tmp_path, tools=tools) as on:
            await store.in_thread(Conversation.objects.update)(tools=[])
            row = await on.ask()
            assert row.status == Status.COMPLETE
            assert [item.outcome for item in await on.items(row.id)] == ["", "failed", ""]
            assert ran == []

    play(story())


def test_many_parallel_calls_run_a_few_at_a_time(tmp_path):
    running, most, several = [], [], asyncio.Event()

    async def work() -> str:
        """Works, and ends only when another works beside it."""
        running.append(1)
        most.append(len(running))
        if len(running) > 1:
            several.set()
        await several.wait()
        running.pop()
        return "done"

    calls = [call("work", call_id=f"call_{n}") for n in range(40)]
    provider = model(response(*calls), response(text()))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, tools={"work": tool("work", work)}) as on:
            row = await on.ask()
            assert row.status == Status.COMPLETE
            assert len(await on.items(row.id)) == 81
            assert 1 < max(most) <= 8

    play(story())


def test_a_response_of_endless_pieces_is_given_up(tmp_path):
    async def story():
        pieces = [call(call_id=f"call_{n}") for n in range(300)]
        async with stage(ScriptedCatalog(model(response(*pieces))), tmp_path, tools=CLOCK) as on:
            row = await on.ask()
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "too large")

    play(story())


def test_what_was_sent_and_learned_survives_a_stop(tmp_path):
    reached = asyncio.Event()
    provider = model(
        response(thought(key="rs_1"), text("One.", key="msg_1")),
        response(stale()),
        held(text("It"), reached=reached),
        response(text("Two.")),
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            first = await on.ask("1")
            second = await on.begin("2", at=first.id)
            await reached.wait()
            await on.engine.stop(second)
            row = await on.end(second)
            assert row.metadata["rounds"][0]["repaired"] == ["stale"]
            (cut,) = await on.items(second)
            assert (cut.provider, cut.dialect, cut.model) == ("scripted", "responses", "model")
            row = await on.go_on(second)
            assert (row.status, len(provider.asked)) == (Status.COMPLETE, 4)

    play(story())


@pytest.mark.one_process("the clock of its story is a list of ticks, and that of Redis is not.")
def test_a_running_result_keeps_its_key_and_time_when_it_is_stopped(tmp_path):
    reached, ticks = asyncio.Event(), Ticks()

    async def forever() -> str:
        """Never ends."""
        reached.set()
        await asyncio.Event().wait()
        return ""

    provider = model(response(call("forever", call_id="a"), call("clock", call_id="b")))

    async def story():
        tools = CLOCK | {"forever": tool("forever", forever)}
        async with stage(ScriptedCatalog(provider), tmp_path, tools=tools, now=ticks) as on:
            answer = await on.begin()
            await reached.wait()
            await until(lambda: _has(on, answer, "b"))
            seen = await on.engine.live.seen(answer)
            running = set(seen.draft.running_results().values())
            ticks.seconds += 3
            await on.engine.stop(answer)
            row = await on.end(answer)
            results = {
                item.call_id: item.key for item in await on.items(answer) if item.kind == "tool_result"
            }
            # Which of two parallel calls begins first is nobody's promise.
            assert sorted(results.values()) == ["part-2", "part-3"]
            assert running == {results["a"]}
            span = row.metadata["timings_ms"][results["a"]]
            assert span["end"] - span["start"] == 3000

    async def _has(on, answer, call_id):
        return [
            item for item in await on.items(answer) if item.kind == "tool_result" and item.call_id == call_id
        ]

    play(story())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_with_the_database_in_trouble_a_finished_answer_is_not_called_failed(tmp_path):
    """The row stays as it is, and whoever looks next goes on."""

    async def trouble(ask, keys):
        raise OperationalError("database is locked")
        yield

    async def story():
        async with stage(ScriptedCatalog(model(trouble, response(text("Ten.")))), tmp_path) as on:
            row = await on.let_go(await on.begin())
            assert (row.status, row.next_seq) == (Status.RUNNING, 0)
            await on.working.runner.recover()
            assert (await on.end(row.id)).status == Status.COMPLETE

    play(story())


def test_a_paused_response_is_sent_back_as_it_is(tmp_path):
    provider = model(response(text("Searching."), finish=Finish.PAUSE), response(text("Found.")))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            row = await on.ask()
            assert (row.status, await on.said(row.id)) == (Status.COMPLETE, "Searching.Found.")
            assert len(provider.asked[1].history.steps) == 2

    play(story())


def stale() -> ProviderError:
    return ProviderError(
        Trouble.REFUSED, "Refused.", "invalid_encrypted_content", status=400, repair=Repair.STALE
    )


def test_every_kind_of_token_that_the_provider_counts_is_recorded(tmp_path):
    async def counts(ask, keys):
        async for event in response(text())(ask, keys):
            yield (
                Usage(input=9, cached=4, cache_written=2, output=5, reasoning=3)
                if isinstance(event, Usage)
                else event
            )

    async def story():
        async with stage(ScriptedCatalog(model(counts)), tmp_path) as on:
            (facts,) = (await on.ask()).metadata["rounds"]
            counted = {"input": 9, "cached": 4, "cache_written": 2, "output": 5, "reasoning": 3}
            assert facts["usage"] == counted

    play(story())


def test_stale_thoughts_are_dropped_once_recorded_and_never_sent_again(tmp_path):
    provider = model(
        response(thought(key="rs_1"), text("One.", key="msg_1")),
        response(stale()),
        response(thought(key="rs_2"), text("Two.", key="msg_2")),
        response(text("Three.")),
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            first = await on.ask("1")
            second = await on.ask("2", at=first.id)
            assert second.status == Status.COMPLETE
            facts = second.metadata["rounds"][0]
            assert (facts["repaired"], facts["dropped"]) == (["stale"], {"stale": 1})
            third = await on.ask("3", at=second.id)
            assert third.metadata["rounds"][0]["dropped"] == {"stale": 1}
            assert third.metadata["rounds"][0]["replayed"] == 1
            assert "repaired" not in third.metadata["rounds"][0]

    play(story())


def test_a_repair_is_tried_only_once(tmp_path):
    provider = model(
        response(thought(key="rs_1"), text()), response(stale()), response(stale()), response(text())
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            first = await on.ask("1")
            assert (await on.ask("2", at=first.id)).status == Status.FAILED
            assert len(provider.asked) == 3

    play(story())


@pytest.mark.one_process("the clock of its story is a list of ticks, and that of Redis is not.")
def test_stop_in_mid_thought_keeps_text_and_duration(tmp_path):
    ticks, reached = Ticks(), asyncio.Event()

    async def story():
        async with stage(
            ScriptedCatalog(model(held(thought("Let me", key="rs_1"), reached=reached))), tmp_path, now=ticks
        ) as on:
            answer = await on.begin()
            await reached.wait()
            ticks.seconds += 4
            assert await on.engine.stop(answer, by="alice")
            row = await on.end(answer)
            assert (row.status, row.metadata["ended"]) == (
                Status.STOPPED,
                {"reason": "stopped", "by": "alice"},
            )
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 4000}
            assert [(item.text, item.cut) for item in await on.items(answer)] == [("Let me", True)]

    play(story())


def test_stop_while_a_tool_runs_records_that_it_was_stopped(tmp_path):
    reached = asyncio.Event()

    async def forever() -> str:
        """Never ends."""
        reached.set()
        await asyncio.Event().wait()
        return ""

    async def story():
        tools = {"forever": tool("forever", forever)}
        async with stage(ScriptedCatalog(model(response(call("forever")))), tmp_path, tools=tools) as on:
            answer = await on.begin()
            await reached.wait()
            await on.engine.stop(answer)
            await on.end(answer)
            assert [item.outcome for item in await on.items(answer)] == ["", "stopped"]

    play(story())


def test_a_turn_that_another_attempt_took_over_ends_quietly_in_its_silence(tmp_path):
    reached = asyncio.Event()

    async def story():
        provider = model(held(text("It"), reached=reached))
        async with stage(ScriptedCatalog(provider), tmp_path, checkpoint=0.01) as on:
            answer = await on.begin()
            await reached.wait()
            await store.in_thread(store.claim_turn)(answer, runner="another", seen=1)
            row = await on.let_go(answer)
            assert (row.status, row.attempt, row.runner) == (Status.RUNNING, 2, "another")
            assert await on.items(answer) == []
            await on.engine.stop(answer)

    play(story())


def test_a_call_whose_turn_was_taken_over_before_it_began_never_runs(tmp_path):
    ran: list[int] = []

    async def work() -> str:
        """Works."""
        ran.append(1)
        return "done"

    async def story():
        provider, tools = model(response(call("work"))), {"work": tool("work", work)}
        # The draft would tell it too, and is not saved here.
        async with stage(ScriptedCatalog(provider), tmp_path, tools=tools, checkpoint=3600.0) as on:
            publish = on.working.live.publish

            def taken_over_then(stream, event, at):
                publish(stream, event, at)
                if isinstance(event, ItemsStored):
                    # Before anything else happens in this process.
                    in_its_place = Thread(target=_takes_over, args=stream)
                    in_its_place.start()
                    in_its_place.join()

            object.__setattr__(on.working.live, "publish", taken_over_then)
            row = await on.let_go(await on.begin())
            assert (row.status, row.runner, ran) == (Status.RUNNING, "another", [])
            assert await store.in_thread(ToolRun.objects.count)() == 0
            assert kinds(await on.items(row.id)) == ["tool_call"]
            await on.engine.stop(row.id)

    play(story())


def _takes_over(answer, attempt) -> None:
    store.claim_turn(answer, runner="another", seen=attempt)
    connection.close()


def test_the_draft_is_saved_while_a_turn_runs(tmp_path):
    reached = asyncio.Event()

    async def story():
        async with stage(
            ScriptedCatalog(model(held(text("It is"), reached=reached))), tmp_path, checkpoint=0.01
        ) as on:
            answer = await on.begin()
            await reached.wait()
            saved = await until(lambda: store.in_thread(store.load_draft)(answer))
            assert [piece.said() for piece in saved.draft.pieces.values()] == ["It is"]
            await on.engine.stop(answer)

    play(story())


def test_two_branches_of_one_conversation_answer_at_once(tmp_path):
    reached = asyncio.Event()

    async def story():
        provider = model(held(text("Slow"), reached=reached), response(text("Quick.")))
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            slow = await on.begin("1")
            await reached.wait()
            quick = await on.ask("2")
            assert quick.status == Status.COMPLETE
            assert (await on.row(slow)).status == Status.RUNNING
            await on.engine.stop(slow)

    play(story())


def test_a_bug_of_ours_ends_the_turn_in_words_without_telling_the_text(tmp_path, caplog):
    async def broken(ask, keys):
        raise KeyError("somebody's secret text")
        yield

    async def story():
        async with stage(ScriptedCatalog(model(broken)), tmp_path) as on:
            row = await on.ask()
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "broken")
            assert "secret" not in caplog.text + str(row.metadata)
            assert "KeyError" in caplog.text

    play(story())


def test_effort_off_sends_no_thoughts(tmp_path):
    provider = model(response(thought(key="rs_1"), text("One.")), response(text("Two.")))

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path) as on:
            first = await on.ask("1")
            await on.ask("2", at=first.id, effort="off")
            assert provider.asked[1].history.dropped == {"forbidden": 1}

    play(story())


@pytest.mark.one_process("the clock of its story is a list of ticks, and that of Redis is not.")
def test_a_continued_answer_counts_its_time_from_where_it_was(tmp_path):
    ticks, reached = Ticks(), asyncio.Event()
    provider = model(
        held(thought("Let me", key="rs_1"), reached=reached),
        response(thought(key="rs_2", lasts=1), text(), ticks=ticks),
    )

    async def story():
        async with stage(ScriptedCatalog(provider), tmp_path, now=ticks) as on:
            answer = await on.begin()
            await reached.wait()
            ticks.seconds += 4
            await on.engine.stop(answer)
            await on.end(answer)
            ticks.seconds += 3600
            row = await on.go_on(answer)
            assert row.metadata["reasoning_durations_ms"] == {"rs_1": 4000, "rs_2": 1000}
            assert row.metadata["timings_ms"]["rs_2"] == {"start": 4000, "end": 5000}
            assert await _titles(row) == ["reasoning", "reasoning", "assistant_message"]

    async def _titles(row: Message) -> list[str]:
        return [item.kind for item in await store.in_thread(store.load_items)(row.id)]

    play(story())


class Taking:
    """Whoever takes what a turn writes."""

    def __init__(self) -> None:
        self.taken: list[Write] = []
        self.patiently = lambda work: work

    def begin(self, write: Write) -> asyncio.Future[bool]:
        self.taken.append(write)
        stands = asyncio.get_running_loop().create_future()
        stands.set_result(True)
        return stands


@pytest.mark.parametrize("saved", [False, True])
def test_an_end_knows_whether_a_draft_was_stored_and_none_is_stored_beside_it(saved):
    """Else it would stay for good: only what is known to be there is looked for."""
    keeper, claim = Taking(), store.Claim(uuid4(), 1)
    turn = TurnState(claim, None, MemoryLive(), keeper, lambda: 0.0, has_draft=False)

    async def story():
        if saved:
            assert turn.may_save_draft()
        await turn.write("append_round")
        assert turn.may_save_draft() if saved else True
        await turn.write("finish")
        assert not turn.may_save_draft()
        await turn.write("give_up")

    asyncio.run(story())
    assert [write.has_draft for write in keeper.taken] == [saved] * 3
    assert [Write.from_text(write.to_text()).has_draft for write in keeper.taken] == [saved] * 3


def test_an_answer_that_another_attempt_began_may_have_a_draft():
    keeper = Taking()
    turn = TurnState(store.Claim(uuid4(), 2), None, MemoryLive(), keeper, lambda: 0.0)
    asyncio.run(turn.write("finish"))
    assert keeper.taken[0].has_draft
