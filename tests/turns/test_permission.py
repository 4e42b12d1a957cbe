"""A call that is not safe waits for a person: who is asked what, what a word covers, and that nothing runs twice or by itself."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from chatapp import store
from chatapp.core.decision import Decision, arguments_hash, read_decision
from chatapp.core.history import NO_RESULT
from chatapp.core.items import Item, Kind
from chatapp.search.models import FoldedItem
from chatapp.store import Refused, in_thread
from chatapp.store.models import Conversation, Grant, Message, Status, ToolRun
from chatapp.store.models import Item as ItemRow
from chatapp.store.permissions import grants
from chatapp.store.permissions.deciding import DECIDED, DENIED, NOT_WAITING, OTHERS
from chatapp.tools.base import Tool, ToolError
from chatapp.tools.base import tool as made
from tests.support.script import call, response, text
from tests.support.stage import ScriptedCatalog, ScriptedProvider, Stage, play, stage, until

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


class Toolbox(dict[str, Tool]):
    """Tools that count how often they ran: `look` is safe, `send` asks."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()

        async def look() -> str:
            """Looks."""
            self.ran["look"] += 1
            return "seen"

        async def send(to: str = "bob") -> str:
            """Sends."""
            self.ran[to] += 1
            return f"sent to {to}"

        super().__init__(look=made(look, safe=True, idempotent=True), send=made(send))


def send(to: str = "bob", call_id: str = "call_1") -> dict[str, Any]:
    return call("send", f'{{"to": "{to}"}}', call_id=call_id)


def model(*scripts) -> ScriptedCatalog:
    return ScriptedCatalog(ScriptedProvider(scripts))


async def asked(on: Stage, answer: UUID) -> list[Item]:
    asks = store.asks_of(await on.row(answer))
    return [item for item in await on.items(answer) if item.key in asks]


async def decide(on: Stage, answer: UUID, decision: Decision, calls: Iterable[Item] | None = None) -> Message:
    chosen = await asked(on, answer) if calls is None else calls
    answers = {each.key: (decision, on.engine.shown_hash(each)) for each in chosen}
    await on.engine.decide(answer, answers, by=on.conversation.owner)
    return await on.end(answer)


def kinds(items: Iterable[Item]) -> list[str]:
    return [item.kind.value for item in items]


def test_a_call_that_is_not_safe_waits_runs_once_allowed_and_the_turn_goes_on(tmp_path):
    tools, catalog = Toolbox(), model(response(send()), response(text()))

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            row = await on.ask()
            assert (row.status, row.runner, tools.ran) == (Status.WAITING, "", {})
            row = await decide(on, row.id, Decision.ONCE)
            assert (row.status, tools.ran) == (Status.COMPLETE, {"bob": 1})
            items = await on.items(row.id)
            assert kinds(items) == ["tool_call", "permission_decision", "tool_result", "assistant_message"]
            said = read_decision(items[1])
            assert (said.call, said.decision, said.name) == (items[0].key, "once", "alice")
            assert said.arguments_hash == arguments_hash('{"to": "bob"}')
            (answered,) = catalog.provider.asked[1].history.steps[1].results
            assert (answered.text, answered.outcome) == ("sent to bob", "done")

    play(story())


def test_the_safe_calls_of_a_round_run_before_it_waits(tmp_path):
    tools = Toolbox()

    async def story():
        script = response(call("look", call_id="call_0"), send(), call("look", call_id="call_2"))
        async with stage(model(script, response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            assert (row.status, tools.ran) == (Status.WAITING, {"look": 2})
            row = await decide(on, row.id, Decision.ONCE)
            assert (row.status, tools.ran) == (Status.COMPLETE, {"look": 2, "bob": 1})

    play(story())


def test_a_denied_call_never_runs_and_the_model_is_told(tmp_path):
    tools, catalog = Toolbox(), model(response(send()), response(text()))

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            row = await decide(on, (await on.ask()).id, Decision.DENIED)
            assert (row.status, tools.ran) == (Status.COMPLETE, {})
            (result,) = catalog.provider.asked[1].history.steps[1].results
            assert (result.text, result.outcome) == (DENIED, "denied")

    play(story())


def test_what_is_allowed_for_the_conversation_asks_no_more_until_it_is_taken_back(tmp_path):
    tools = Toolbox()
    catalog = model(
        response(send()), response(text()), response(send("eve")), response(text()), response(send("ann"))
    )

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            first = await decide(on, (await on.ask()).id, Decision.CONVERSATION)
            second = await on.ask(at=first.id)
            assert (second.status, tools.ran) == (Status.COMPLETE, {"bob": 1, "eve": 1})
            assert "permission_decision" not in kinds(await on.items(second.id))
            (grant,) = await in_thread(grants.load_grants)(on.conversation.id)
            assert (grant.tool, grant.by.username) == ("send", "alice")
            await in_thread(grants.take_back)(on.conversation.id, "send")
            third = await on.ask(at=second.id)
            assert (third.status, tools.ran["ann"]) == (Status.WAITING, 0)

    play(story())


def test_a_tool_that_became_another_asks_again(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send()), response(text())), tmp_path, tools=tools) as on:
            first = await decide(on, (await on.ask()).id, Decision.CONVERSATION)
            conversation = on.conversation
        tools["send"] = replace(tools["send"], description="Sends, and keeps a copy.")
        async with stage(model(response(send("eve"))), tmp_path / "later", tools=tools) as on:
            on.conversation = conversation
            second = await on.ask(at=first.id)
            assert (second.status, tools.ran["eve"]) == (Status.WAITING, 0)

    play(story())


def test_calls_of_one_round_are_decided_one_by_one_and_the_last_word_sets_it_going(tmp_path):
    tools, catalog = Toolbox(), model(response(send("a", "c1"), send("b", "c2")), response(text()))

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            row = await on.ask()
            first, second = await asked(on, row.id)
            row = await decide(on, row.id, Decision.DENIED, [first])
            assert (row.status, tools.ran, await asked(on, row.id)) == (Status.WAITING, {}, [second])
            row = await decide(on, row.id, Decision.ONCE, [second])
            assert (row.status, tools.ran) == (Status.COMPLETE, {"b": 1})
            (step,) = [each for each in catalog.provider.asked[1].history.steps if hasattr(each, "results")]
            assert [result.outcome for result in step.results] == ["denied", "done"]

    play(story())


def test_one_word_for_the_conversation_is_enough_for_all_calls_of_that_tool(tmp_path):
    tools = Toolbox()

    async def other() -> str:
        """Another that asks."""
        return "other"

    tools["other"] = made(other)
    script = response(send("a", "c1"), send("b", "c2"), call("other", call_id="c3"))

    async def story():
        async with stage(model(script, response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            row = await decide(on, row.id, Decision.CONVERSATION, (await asked(on, row.id))[:1])
            (left,) = await asked(on, row.id)
            assert (row.status, left.name) == (Status.WAITING, "other")
            row = await decide(on, row.id, Decision.ONCE)
            assert (row.status, tools.ran) == (Status.COMPLETE, {"a": 1, "b": 1})

    play(story())


def test_a_word_for_the_conversation_reaches_the_other_branches_that_wait(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(
            model(response(send("a")), response(send("b")), response(text())), tmp_path, tools=tools
        ) as on:
            first = await on.ask()
            started = await on.engine.ask_again(first.parent_id, author=on.conversation.owner, model=on.model)
            second = await on.end(started.answer)
            assert second.status == Status.WAITING
            assert (await decide(on, first.id, Decision.CONVERSATION)).status == Status.COMPLETE
            assert ((await on.end(second.id)).status, tools.ran) == (Status.COMPLETE, {"a": 1, "b": 1})

    play(story())


def test_a_decision_is_about_the_arguments_that_were_shown_and_is_made_once(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send()), response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            (shown,) = await asked(on, row.id)
            with pytest.raises(Refused, match=OTHERS):
                await decide(on, row.id, Decision.ONCE, [replace(shown, text='{"to": "eve"}')])
            with pytest.raises(Refused, match=DECIDED):
                await decide(on, row.id, Decision.ONCE, [replace(shown, key="part-77")])
            with pytest.raises(Refused, match=DECIDED):
                await decide(on, row.id, Decision.ONCE, [])
            assert kinds(await on.items(row.id)) == ["tool_call"]
            await decide(on, row.id, Decision.ONCE, [shown])
            with pytest.raises(Refused, match=NOT_WAITING):
                await decide(on, row.id, Decision.DENIED, [shown])
            assert tools.ran == {"bob": 1}

    play(story())


def test_a_word_does_not_cover_arguments_that_became_others_after_it(tmp_path):
    """The row of the call is changed between the word and the run, as by a damaged backup."""
    tools = Toolbox()
    script = response(send("bob", "c1"), send("ann", "c2"))

    async def story():
        async with stage(model(script, response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            first, second = await asked(on, row.id)
            await decide(on, row.id, Decision.ONCE, [first])
            rows = ItemRow.objects.filter(message=row.id, key=first.key)
            await in_thread(rows.update)(text='{"to": "eve"}')
            await in_thread(FoldedItem.objects.filter(item__in=rows).delete)()
            row = await decide(on, row.id, Decision.ONCE, [second])
            (again,) = await asked(on, row.id)
            assert (row.status, again.key, tools.ran) == (Status.WAITING, first.key, {"ann": 1})

    play(story())


def test_a_tool_that_became_another_since_it_was_shown_is_looked_at_again(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send())), tmp_path, tools=tools) as on:
            row, conversation = await on.ask(), on.conversation
            (shown,) = await asked(on, row.id)
            before = on.engine.shown_hash(shown)
        tools["send"] = replace(tools["send"], description="Sends, and keeps a copy.")
        async with stage(model(response(text())), tmp_path / "later", tools=tools) as on:
            on.conversation = conversation
            for word in Decision:
                with pytest.raises(Refused, match="Reload the page"):
                    await on.engine.decide(row.id, {shown.key: (word, before)}, by=conversation.owner)
            assert (await decide(on, row.id, Decision.ONCE)).status == Status.COMPLETE

    play(story())


@pytest.mark.parametrize("arguments", ["{", "[]", '{"to": 1e999}', '{"to": "' + "x" * 300_000 + '"}'])
def test_nobody_is_asked_about_arguments_that_no_tool_can_take(tmp_path, arguments):
    tools = Toolbox()

    async def story():
        async with stage(
            model(response(call("send", arguments)), response(text())), tmp_path, tools=tools
        ) as on:
            row = await on.ask()
            assert (row.status, tools.ran) == (Status.COMPLETE, {})
            assert [item.outcome for item in await on.items(row.id)] == ["", "failed", ""]

    play(story())


def test_of_many_words_at_once_one_counts(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send()), response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            shown = await asked(on, row.id)
            words = [Decision.ONCE, Decision.DENIED, Decision.CONVERSATION] * 8
            told = await asyncio.gather(
                *(decide(on, row.id, word, shown) for word in words), return_exceptions=True
            )
            assert Counter(type(each).__name__ for each in told) == {"Refused": 23, "Message": 1}
            row = await on.end(row.id)
            made_ = kinds(await on.items(row.id))
            assert (row.status, made_.count("permission_decision")) == (Status.COMPLETE, 1)
            assert made_.count("tool_result") == 1 and sum(tools.ran.values()) <= 1

    play(story())


def test_nobody_can_decide_after_a_stop_and_the_call_has_a_result(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send()), response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            shown = await asked(on, row.id)
            assert await on.engine.stop(row.id)
            with pytest.raises(Refused, match=NOT_WAITING):
                await decide(on, row.id, Decision.ONCE, shown)
            items = await on.items(row.id)
            assert [item.outcome for item in items] == ["", "stopped"]
            assert (await on.go_on(row.id)).status == Status.COMPLETE
            assert tools.ran == {}

    play(story())


def test_a_turn_waits_through_the_end_of_its_process_and_goes_on_in_another(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send())), tmp_path, tools=tools) as on:
            row = await on.ask()
            conversation = on.conversation
        async with stage(model(response(text())), tmp_path / "other", tools=tools) as on:
            on.conversation = conversation
            await on.engine.start()
            assert (await on.row(row.id)).status == Status.WAITING
            row = await decide(on, row.id, Decision.ONCE)
            assert (row.status, tools.ran) == (Status.COMPLETE, {"bob": 1})

    play(story())


def test_only_the_owners_word_lets_a_call_run(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send()), response(text())), tmp_path, tools=tools) as on:
            row = await on.ask()
            (shown,) = await asked(on, row.id)
            eve = await in_thread(get_user_model().objects.create)(username="eve")
            answers = {shown.key: (Decision.CONVERSATION, on.engine.shown_hash(shown))}
            await on.engine.decide(row.id, answers, by=eve)
            assert ((await on.end(row.id)).status, tools.ran) == (Status.WAITING, {})

    play(story())


async def _as_if_the_process_had_died(on: Stage, answer: UUID) -> None:
    await in_thread(Message.objects.filter(pk=answer).update)(runner=on.engine.runner.name)
    await on.engine.runner.recover()


@pytest.mark.parametrize(
    ("begun", "idempotent", "outcome", "times"),
    [(False, False, "done", 1), (True, False, "unknown", 0), (True, True, "done", 1)],
)
def test_after_a_death_only_what_cannot_have_run_or_does_no_harm_runs(
    tmp_path, begun, idempotent, outcome, times
):
    tools, catalog = Toolbox(), model(response(send()), response(text()))
    tools["send"] = replace(tools["send"], idempotent=idempotent)

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            row = await on.ask()
            (shown,) = await asked(on, row.id)
            answers = {shown.key: (Decision.ONCE, on.engine.shown_hash(shown))}
            fingerprints = {"send": tools["send"].fingerprint}
            deciding = in_thread(store.decide)
            await deciding(row.id, answers, by=on.conversation.owner, fingerprints=fingerprints, runner="x")
            if begun:
                claim = await in_thread(store.claim_turn)(row.id, runner="x", seen=row.attempt)
                await in_thread(store.begin_call)(claim, shown)
            await _as_if_the_process_had_died(on, row.id)
            row = await on.end(row.id)
            (result,) = [item for item in await on.items(row.id) if item.kind is Kind.TOOL_RESULT]
            assert (row.status, result.outcome, tools.ran["bob"]) == (Status.COMPLETE, outcome, times)
            assert (result.text == NO_RESULT) == (outcome == "unknown")

    play(story())


def test_a_call_is_known_to_have_begun_before_it_runs(tmp_path):
    seen: list[tuple[str, str]] = []

    async def work() -> str:
        """Works."""
        rows = await in_thread(lambda: list(ToolRun.objects.values_list("key", "arguments_hash")))()
        seen.extend(rows)
        return "done"

    async def story():
        tools = {"work": made(work, safe=True)}
        async with stage(model(response(call("work")), response(text())), tmp_path, tools=tools) as on:
            assert (await on.ask()).status == Status.COMPLETE
            assert seen == [("fc_call_1", arguments_hash("{}"))]

    play(story())


def test_how_long_a_person_took_is_no_time_of_the_answer(tmp_path):
    tools = Toolbox()
    seconds = [1000.0]

    async def story():
        async with stage(
            model(response(send()), response(text())), tmp_path, tools=tools, now=lambda: seconds[0]
        ) as on:
            row = await on.ask()
            seconds[0] += 3600
            row = await decide(on, row.id, Decision.ONCE)
            assert row.metadata["elapsed_ms"] == 0
            assert {span["end"] for span in row.metadata["timings_ms"].values()} == {0}

    play(story())


def test_one_call_id_in_two_conversations_is_two_calls(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(
            model(response(send()), response(send()), response(text())), tmp_path, tools=tools
        ) as on:
            here = await on.ask()
            there = await on.engine.ask(
                None, "And?", author=on.conversation.owner, model=on.model, tools=["send"]
            )
            assert (await on.end(there.answer)).status == Status.WAITING
            assert (await decide(on, here.id, Decision.CONVERSATION)).status == Status.COMPLETE
            assert (await on.row(there.answer)).status == Status.WAITING
            assert await in_thread(Grant.objects.count)() == 1

    play(story())


def test_tools_stay_as_they_were_described_when_they_were_chosen(tmp_path):
    tools, catalog, later = Toolbox(), model(response(text())), model(response(text()))

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            first, conversation = await on.ask(), on.conversation
        tools["look"] = replace(tools["look"], description="Looks twice.")
        del tools["send"]
        async with stage(later, tmp_path / "later", tools=tools) as on:
            on.conversation = conversation
            await on.ask(at=first.id)
            assert later.provider.asked[0].tools == catalog.provider.asked[0].tools
            assert [spec.name for spec in later.provider.asked[0].tools] == ["look", "send"]
            choose = in_thread(store.choose_tools)
            await choose(conversation.id, on.engine.definitions(["look"]))
            await on.ask(at=first.id)
            await choose(conversation.id, [])
            await choose(conversation.id, on.engine.definitions(["look"]))
            await on.ask(at=first.id)
            kept, chosen_anew = (ask.tools for ask in later.provider.asked[1:])
            assert [spec.description for spec in kept] == ["Looks."]
            assert [spec.description for spec in chosen_anew] == ["Looks twice."]

    play(story())


def test_tools_are_not_changed_while_an_answer_waits(tmp_path):
    tools = Toolbox()

    async def story():
        async with stage(model(response(send())), tmp_path, tools=tools) as on:
            await on.ask()
            with pytest.raises(Refused, match="when it has ended"):
                await in_thread(store.choose_tools)(on.conversation.id, [])

    play(story())


def test_a_tool_of_a_server_travels_under_a_name_that_every_wire_takes(tmp_path):
    tools = Toolbox()
    tools["docs.search"] = replace(tools["look"], name="docs.search", server="docs")
    catalog = model(response(call("docs__search")), response(text()))

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            row = await on.ask()
            items = await on.items(row.id)
            assert [item.name for item in items] == ["docs.search", "docs.search", ""]
            assert tools.ran == {"look": 1}
            first, second = catalog.provider.asked
            assert "docs__search" in [spec.name for spec in first.tools]
            answered = second.history.steps[1]
            assert answered.parts[0].item.name == answered.results[0].name == "docs__search"

    play(story())


def test_how_far_a_call_is_is_told_while_it_runs_and_is_no_part_of_its_result(tmp_path):
    goes_on = asyncio.Event()

    async def report(values, tell):
        tell("half\nway \x00")
        tell("too soon to be told")
        await goes_on.wait()
        return "done"

    async def nothing() -> str:
        """Works."""
        return ""

    async def story():
        tools = {"work": replace(made(nothing, safe=True), name="work", call=report)}
        async with stage(model(response(call("work")), response(text())), tmp_path, tools=tools) as on:
            answer = await on.begin()

            async def told():
                seen = await on.engine.live.seen(answer)
                pieces = seen.draft.pieces.values() if seen else ()
                return [each.said() for each in pieces if each.kind is Kind.TOOL_RESULT and each.text]

            words = await until(told)
            goes_on.set()
            row = await on.end(answer)
            assert (words, row.status) == (["half way \ufffd\n"], Status.COMPLETE)
            assert [item.text for item in await on.items(row.id)] == ["{}", "done", "Because."]

    play(story())


def test_an_answer_that_calls_for_too_long_or_is_given_too_much_answers_with_what_it_has(tmp_path):
    async def much() -> str:
        """Gives much."""
        return "x" * 600

    seconds = [0.0]

    async def slow() -> str:
        """Takes long."""
        seconds[0] += 100
        return "slow"

    async def story(name, function):
        tools = {name: made(function, safe=True)}
        catalog = model(*[response(call(name))] * 3, response(text()))
        limits = {"results": 1000, "seconds": 150.0, "now": lambda: seconds[0]}
        async with stage(catalog, tmp_path / name, tools=tools, **limits) as on:
            row = await on.ask()
            assert [ask.may_call for ask in catalog.provider.asked] == [True, True, False]
            # It called all the same.
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "empty")

    play(story("much", much))
    play(story("slow", slow))


def test_a_tool_that_fails_in_words_is_a_result(tmp_path):
    async def fails() -> str:
        """Fails."""
        raise ToolError("There is no such thing.")

    async def story():
        tools = {"fails": made(fails)}
        async with stage(model(response(call("fails")), response(text())), tmp_path, tools=tools) as on:
            row = await decide(on, (await on.ask()).id, Decision.ONCE)
            assert row.status == Status.COMPLETE
            assert (await on.items(row.id))[2].text == "There is no such thing."

    play(story())


def test_older_conversations_name_their_tools_only(tmp_path):
    tools, catalog = Toolbox(), model(response(call("look")), response(text()))

    async def story():
        async with stage(catalog, tmp_path, tools=tools) as on:
            await in_thread(Conversation.objects.update)(tools=["look", "gone"])
            assert (await on.ask()).status == Status.COMPLETE
            assert [spec.description for spec in catalog.provider.asked[0].tools] == ["Looks."]
            assert tools.ran == {"look": 1}

    play(story())
