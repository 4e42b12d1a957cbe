"""What a key that records asks becomes turns of conversations of its owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from chatapp.branches.store.forking import fork
from chatapp.core.events import Event, ItemDelta, ItemStarted
from chatapp.core.items import KeyMaker, Kind
from chatapp.gateway.models import KeptResponse
from chatapp.gateway.recording import waiting
from chatapp.gateway.store.kept import memory
from chatapp.gateway.store.recorded import NEVER_CAME, end_forgotten
from chatapp.gateway.store.replays import to_write
from chatapp.providers.base import Ask, ProviderError, Trouble
from chatapp.store import Refused, in_thread, load_items, verify_log
from chatapp.store.models import Conversation, Message
from tests.gateway.knocking import CHAT, Knock, asking
from tests.gateway.program import MODEL, Program, played, program_of, served, thoughts_sent
from tests.support import stage
from tests.support.script import call, response, text, thought

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

CALLS = response(thought("I look first."), call("shell", '{"command": "ls"}'))
WORDS = response(thought("So that is it."), text("It is fixed."))
BROKEN = response(ProviderError(Trouble.BROKEN, "It broke."))


async def recorder(alice) -> Program:
    return await program_of(alice, "Codex on the laptop", is_recorded=True)


async def rows() -> list[Message]:
    def load() -> list[Message]:
        assert list(verify_log()) == []
        return list(Message.objects.order_by("order"))

    return await in_thread(load)()


async def said(row: Message) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in await in_thread(load_items)(row.pk)]


def tree(found: list[Message]) -> list[tuple[int | None, str, str]]:
    """Of each the place of what it follows, its role and status."""
    places = {row.pk: place for place, row in enumerate(found)}
    return [
        (places[row.parent_id] if row.parent_id else None, str(row.role), str(row.status)) for row in found
    ]


@played
async def test_a_thought_that_its_program_wants_omitted_is_seen_on_its_page_and_goes_back(alice):
    program = await recorder(alice)
    told: list[dict[str, Any]] = [{"role": "user", "content": "Fix the test."}]
    tool = {"name": "shell", "input_schema": {"type": "object"}}
    hidden = {"thinking": {"type": "adaptive", "display": "omitted"}, "tools": [tool]}

    async def ask() -> list[dict[str, Any]]:
        body = {"model": "scripted:model", "max_tokens": 5000, "messages": told, **hidden}
        content: list[dict[str, Any]] = (await program.http.post("/v1/messages", json=body)).json()["content"]
        told.append({"role": "assistant", "content": content})
        return content

    async with served(CALLS, WORDS) as (_, provider):
        unread, called = await ask()
        result = {"type": "tool_result", "tool_use_id": called["id"], "content": "models.py"}
        told.append({"role": "user", "content": [result]})
        unread_too, words = await ask()
    assert unread["thinking"] == unread_too["thinking"] == "" and words["text"] == "It is fixed."
    assert thoughts_sent(provider.asked[1]) == ["I look first."]
    _, answer = await rows()
    assert [words for kind, words in await said(answer) if kind == Kind.REASONING] == [
        "I look first.",
        "So that is it.",
    ]


@played
async def test_a_run_is_one_answer_with_its_calls_and_what_they_gave(alice):
    program = await recorder(alice)
    async with served(CALLS, WORDS):
        await program.say("Fix the test.")
        waiting = await rows()
        await program.give("models.py")
        question, answer = await rows()
    assert tree(waiting) == [(None, "user", "complete"), (0, "assistant", "waiting")]
    assert tree([question, answer]) == [(None, "user", "complete"), (0, "assistant", "complete")]
    assert await said(answer) == [
        (Kind.REASONING, "I look first."),
        (Kind.TOOL_CALL, '{"command": "ls"}'),
        (Kind.TOOL_RESULT, "models.py"),
        (Kind.REASONING, "So that is it."),
        (Kind.ASSISTANT_MESSAGE, "It is fixed."),
    ]
    assert len(answer.metadata["reasoning_durations_ms"]) == 2
    assert [facts["restored"] for facts in answer.metadata["rounds"]] == [0, 1]
    conversation = await in_thread(Conversation.objects.get)()
    assert (conversation.program, conversation.title) == ("Codex on the laptop", "Fix the test.")
    assert conversation.head_id == answer.pk


FIX_IT = {"role": "user", "content": "Fix it."}
REMINDER = "<system-reminder>\nToday is Friday.\n</system-reminder>\n\n"


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": [{"type": "text", "text": text} for text in (REMINDER, "Fix it.")]}],
        [{"role": "user", "content": REMINDER + "Fix it."}],
        [FIX_IT, {"role": "system", "content": "Kinds of agents: one that explores."}],
        [{"role": "user", "content": "# AGENTS.md"}, {"role": "user", "content": REMINDER}, FIX_IT],
    ],
)
@played
async def test_a_run_is_called_by_what_its_person_asked(alice, messages):
    program = await recorder(alice)
    async with served(WORDS):
        await program.ask(messages=messages)
        assert (await in_thread(Conversation.objects.get)()).title == "Fix it."


@played
async def test_a_history_that_grows_goes_on_below_also_when_the_server_began_anew(alice):
    program = await recorder(alice)
    async with served(WORDS):
        await program.say("One?")
        memory.forget()
        await program.say("Two?")
        assert program.reasoning.startswith("restored=1 missed=0")
        found = await rows()
    assert [parent for parent, *_ in tree(found)] == [None, 0, 1, 2]


@pytest.mark.parametrize("anew", [False, True])
@played
async def test_a_clock_that_is_set_changes_no_calls_time_unless_the_server_began_anew(alice, anew: bool):
    program = await recorder(alice)
    async with served(CALLS, WORDS):
        await program.say("Fix it.")
        an_hour_ago = timezone.now() - timedelta(hours=1)
        await in_thread(Message.objects.filter(status="waiting").update)(touched_at=an_hour_ago)
        if anew:
            waiting.forget()
        await program.give("done")
        _, answer = await rows()
        key = next(
            item.key for item in await in_thread(load_items)(answer.pk) if item.kind is Kind.TOOL_RESULT
        )
    span = answer.metadata["timings_ms"][key]
    assert (span["end"] - span["start"] >= 3_600_000) is anew


@played
async def test_thoughts_that_go_back_are_counted_for_runs_too(alice):
    program = await recorder(alice)
    async with served(WORDS):
        await program.say("One?")
        await program.say("Two?")
        await in_thread(to_write.write)()
        replays = await in_thread(lambda: sorted(KeptResponse.objects.values_list("replays", flat=True)))()
    assert replays == [0, 1]


@played
async def test_a_history_that_departs_makes_a_branch_where_it_departs(alice):
    program = await recorder(alice)
    async with served(WORDS):
        await program.say("One?")
        await program.say("Two?")
        del program.told[2:]
        await program.say("Three?")
        found = await rows()
    assert [parent for parent, *_ in tree(found)] == [None, 0, 1, 2, 1, 4]


@played
async def test_a_run_that_departs_within_an_answer_has_what_came_before(alice):
    program = await recorder(alice)
    async with served(CALLS, CALLS, WORDS):
        await program.say("Fix it.")
        await program.give("first result")
        await program.give("second result")
        del program.told[2:]
        await program.give("another result")
        found = await rows()
    assert [parent for parent, *_ in tree(found)] == [None, 0, 0]
    assert await said(found[2]) == [
        (Kind.REASONING, "I look first."),
        (Kind.TOOL_CALL, '{"command": "ls"}'),
        (Kind.TOOL_RESULT, "another result"),
        (Kind.REASONING, "So that is it."),
        (Kind.ASSISTANT_MESSAGE, "It is fixed."),
    ]


@played
async def test_the_same_history_again_makes_a_sibling(alice):
    program = await recorder(alice)
    async with served(WORDS):
        await program.say("Why?")
        program.told.pop()
        await program.ask()
        found = await rows()
    assert [parent for parent, *_ in tree(found)] == [None, 0, 0]


@played
async def test_the_same_history_after_a_failure_takes_its_place(alice):
    program = await recorder(alice)
    async with served(BROKEN, WORDS):
        program.told.append({"role": "user", "content": "Why?"})
        assert (await program.post()).status_code == 502
        await program.ask()
        found = await rows()
    assert tree(found) == [(None, "user", "complete"), (0, "assistant", "complete")]


@played
async def test_results_that_are_sent_again_after_a_failure_go_on_in_the_same_answer(alice):
    program = await recorder(alice)
    async with served(CALLS, BROKEN, WORDS):
        await program.say("Fix it.")
        program.told.append(
            {"role": "tool", "tool_call_id": program.told[-1]["tool_calls"][0]["id"], "content": "done"}
        )
        assert (await program.post()).status_code == 502
        await program.ask()
        found = await rows()
    assert tree(found) == [(None, "user", "complete"), (0, "assistant", "complete")]
    assert [kind for kind, _ in await said(found[1])].count(Kind.TOOL_RESULT) == 1


@played
async def test_what_waits_while_the_program_asks_elsewhere_never_came(alice):
    program = await recorder(alice)
    async with served(WORDS, CALLS, WORDS):
        await program.say("One?")
        await program.say("Two?")
        del program.told[2:]
        await program.say("Three?")
        found = await rows()
    assert [status for _, _, status in tree(found)] == [*["complete"] * 3, "stopped", *["complete"] * 2]
    assert (Kind.TOOL_RESULT, NEVER_CAME) in await said(found[3])
    assert found[3].metadata["ended"] == {"reason": "departed"}


@played
async def test_a_question_that_is_asked_again_after_a_run_broke_off_has_an_answer_of_its_own(alice):
    program = await recorder(alice)
    async with served(CALLS, BROKEN, WORDS):
        await program.say("Fix it.")
        with pytest.raises(httpx.HTTPStatusError):
            await program.give("models.py")
        del program.told[1:]
        await program.ask()
        found = await rows()
    assert tree(found)[1:] == [(0, "assistant", "failed"), (0, "assistant", "complete")]
    assert await said(found[2]) == [
        (Kind.REASONING, "So that is it."),
        (Kind.ASSISTANT_MESSAGE, "It is fixed."),
    ]


@played
async def test_a_question_in_the_place_of_results_ends_what_waited(alice):
    program = await recorder(alice)
    async with served(CALLS, WORDS):
        await program.say("One?")
        await program.say("Leave it.")
        found = await rows()
    assert [parent for parent, *_ in tree(found)] == [None, 0, 1, 2]
    assert (Kind.TOOL_RESULT, NEVER_CAME) in await said(found[1])
    assert (found[1].status, found[1].metadata["ended"]) == ("stopped", {"reason": "went on"})


@played
async def test_a_stopped_run_goes_on_beside_when_its_program_does(alice):
    program = await recorder(alice)
    async with served(CALLS, WORDS) as (engine, _):
        await program.say("Fix it.")
        assert await engine.stop((await rows())[1].pk, by="alice")
        await program.give("done")
        found = await rows()
    assert tree(found)[1:] == [(0, "assistant", "stopped"), (0, "assistant", "complete")]
    assert (Kind.TOOL_RESULT, "done") in await said(found[2])


@played
async def test_the_operators_words_are_kept_with_the_question_and_are_none_of_it(alice):
    program = await recorder(alice)
    async with served(WORDS):
        program.told.append({"role": "system", "content": "You are an agent."})
        await program.say("One?")
        await program.say("Two?")
        first, _, second, _ = await rows()
    assert first.metadata["program"]["words"] == [["system", "You are an agent."]]
    assert first.metadata["program"]["tools"] == ["shell", "patch"]
    assert "program" not in second.metadata
    assert await said(first) == [(Kind.USER_MESSAGE, "One?")]


@played
async def test_an_operator_speaks_in_the_middle_too(alice):
    program = await recorder(alice)
    async with served(WORDS) as (_, provider):
        await program.say("One?")
        program.told.append({"role": "developer", "content": "The network is off."})
        await program.say("Two?")
        found = await rows()
        items = await in_thread(load_items)(found[2].pk)
    assert [(item.text, (item.wire or {}).get("role")) for item in items] == [
        ("The network is off.", "developer"),
        ("Two?", None),
    ]
    assert [step.role for step in provider.asked[1].history.steps if hasattr(step, "role")] == [
        "user",
        "developer",
        "user",
    ]


@played
async def test_a_history_from_elsewhere_is_recorded_as_it_was_told(alice):
    program = await recorder(alice)
    program.told += [
        {"role": "user", "content": "My name is Alice."},
        {"role": "assistant", "content": "Hello Alice!"},
    ]
    async with served(WORDS):
        await program.say("What is my name?")
        found = await rows()
    assert [parent for parent, *_ in tree(found)] == [None, 0, 1, 2]
    assert await said(found[1]) == [(Kind.ASSISTANT_MESSAGE, "Hello Alice!")]


@played
async def test_a_first_question_that_was_changed_is_another_root_of_the_same_run(alice):
    program = await recorder(alice)
    async with served(CALLS, WORDS):
        await program.say("One?")
        program.told[0]["content"] = "One, please?"
        await program.give("done")
        found = await rows()
        assert await in_thread(Conversation.objects.count)() == 1
    assert [parent for parent, *_ in tree(found)] == [None, 0, None, 2]


TITLE = {
    "type": "json_schema",
    "json_schema": {
        "name": "title",
        "schema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
    },
}


@pytest.mark.parametrize(
    "more",
    [
        {
            "tools": [],
            "messages": [{"role": "system", "content": "Find a title."}, {"role": "user", "content": "x"}],
        },
        {"tools": [], "max_tokens": 1},
        {"tools": [], "response_format": TITLE},
    ],
)
@played
async def test_side_talk_of_agents_is_not_recorded(alice, more: dict[str, Any]):
    program = await recorder(alice)
    async with served(WORDS):
        await program.say("Is anybody there?", **more)
        assert await rows() == []


@played
async def test_a_script_without_tools_is_recorded_whatever_it_is_told_to_stay_with(alice):
    program = await recorder(alice)
    async with served(WORDS):
        program.told.append(
            {"role": "system", "content": "Stay on the topic, and give it a short title if you can."}
        )
        await program.say("Why?", tools=[])
        assert len(await rows()) == 2


@played
async def test_nobody_finds_a_run_of_somebody_else(alice, bob):
    async with served(WORDS):
        for owner in (alice, bob):
            program = await recorder(owner)
            await program.say("The same?")
        assert await in_thread(Conversation.objects.count)() == 2


@played
async def test_a_key_that_records_nothing_leaves_no_turn(alice):
    program = await program_of(alice)
    async with served(WORDS):
        await program.say("Why?")
        assert await rows() == []


@played
async def test_what_nobody_came_back_for_has_ended_a_day_later(alice):
    program = await recorder(alice)
    async with served(CALLS):
        await program.say("Fix it.")
        assert await in_thread(end_forgotten)(timezone.now()) == 0
        assert await in_thread(end_forgotten)(timezone.now() + timedelta(hours=25)) == 1
        found = await rows()
    assert (found[1].status, found[1].metadata["ended"]) == ("stopped", {"reason": "forgotten"})
    assert (Kind.TOOL_RESULT, NEVER_CAME) in await said(found[1])


@played
async def test_the_death_of_its_process_interrupts_a_run_and_nobody_takes_it_over(alice):
    program = await recorder(alice)
    async with served(WORDS) as (engine, provider):
        await program.say("Why?")
        dead = {"status": "running", "runner": f"{engine.runner.name.rpartition('/')[0]}/dead", "tries": 3}
        answers = Message.objects.filter(role="assistant")
        await in_thread(answers.update)(**dead)
        await engine.runner.recover()
        found = await rows()
    assert (found[1].status, len(provider.asked)) == ("interrupted", 1)


@played
async def test_nobody_else_writes_into_a_run(alice):
    program = await recorder(alice)
    async with served(WORDS) as (engine, _):
        await program.say("Why?")
        question, answer = await rows()
        asked = {"author": alice, "model": "scripted:model"}
        with pytest.raises(Refused, match="Codex on the laptop drives this run"):
            await engine.ask(answer.conversation_id, "And?", parent=answer.pk, **asked)
        with pytest.raises(Refused, match="Codex on the laptop drives this run"):
            await engine.ask_again(question.pk, **asked)
        await in_thread(Message.objects.filter(pk=answer.pk).update)(status="stopped")
        assert not await engine.go_on(answer.pk)


@pytest.mark.one_process("its model is known only to the process that is asked.")
@played
async def test_a_fork_of_a_run_goes_on_in_the_chat(alice):
    program = await recorder(alice)
    async with served(CALLS, WORDS) as (engine, provider):
        await program.say("Fix it.")
        await program.give("done")
        _, answer = await rows()
        forked = await in_thread(fork)(answer, by=alice)
        assert forked.conversation.program == ""
        asked = {"author": alice, "model": "scripted:model", "parent": forked.copies[answer.pk]}
        started = await engine.ask(forked.conversation.pk, "And now?", **asked)
        await stage.ended(engine, started.answer)
        await rows()
    assert provider.asked[2].history.replayed == 2


@played
async def test_whoever_hangs_up_stops_the_run_with_what_came(alice):
    program = await recorder(alice)
    gone, ended = asyncio.Event(), asyncio.Event()

    async def endless(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        key = keys.take("rs_1")
        yield ItemStarted(key, Kind.REASONING)
        yield ItemDelta(key, "I begin")
        gone.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with served(endless):
        knocking = Knock("POST", CHAT, asking(CHAT, MODEL, stream=True), key=program.key).begin()
        await gone.wait()
        await knocking.gives_up()
        await asyncio.wait_for(ended.wait(), 1)
        found = await rows()
    assert tree(found) == [(None, "user", "complete"), (0, "assistant", "stopped")]
    assert await said(found[1]) == [(Kind.REASONING, "I begin")]


@played
async def test_stop_on_the_page_ends_the_stream_in_the_doors_own_words(alice):
    program = await recorder(alice)
    begun = asyncio.Event()

    async def endless(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        key = keys.take("msg_1")
        yield ItemStarted(key, Kind.ASSISTANT_MESSAGE)
        yield ItemDelta(key, "It begins")
        begun.set()
        await asyncio.Event().wait()

    async with served(endless) as (engine, _):
        program.told.append({"role": "user", "content": "Why?"})
        asked = asyncio.create_task(program.post(stream=True))
        await begun.wait()
        assert await engine.stop((await rows())[1].pk, by="alice")
        response = await asyncio.wait_for(asked, 5)
        found = await rows()
    assert "This run was stopped on its page." in response.text
    assert found[1].status == "stopped"
