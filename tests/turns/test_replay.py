"""Replay in the wild: people who decide, restart, stop, edit and change models, on every wire. Each request is accepted, and
every thought that may go back goes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from chatapp.core.decision import Decision
from chatapp.core.items import Item, Kind
from chatapp.store import in_thread
from chatapp.store.models import Conversation, Message, Status
from chatapp.store.models import Item as ItemRow
from chatapp.tools.base import CAP, Tool, tool
from tests.support.providers import LINES, TOOLS, Line, catalog_for
from tests.support.stage import Stage, play, stage, until

from .ledger import Ledger, assert_one_begins_the_next
from .ledger import decide as one_word
from .test_scenarios import thoughts_in

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

OPENAI, ANTHROPIC = LINES[0], LINES[1]
KIMI = Line("compatible", "chat", "@kimi")
ONCE, CONVERSATION, DENIED = Decision.ONCE, Decision.CONVERSATION, Decision.DENIED


def send(to: str) -> str:
    """Sends a letter."""
    return f"sent to {to}"


def search(q: str) -> str:
    """Searches."""
    return f"three pages about {q}"


# A tool of a server has a dot in its name, which no wire takes.
BOX: dict[str, Tool] = {
    "docs.search": replace(tool(search, safe=True, idempotent=True), name="docs.search", server="docs"),
    "send": tool(send),
}


def letter(to: str) -> dict[str, Any]:
    return {"tool": {"name": "send", "args": {"to": to}}}


def thinks(words: str) -> dict[str, Any]:
    return {"reasoning": {"summary": f"{words} of turn {{{{turn}}}} about {{{{last_user}}}}"}}


# On the Messages API the strictest there is: each thought is bound to every byte before it.
BOUND = {"preserved_thinking": True, "default_thinking": "adaptive", "only_adaptive": True}
ASKING = {
    "anthropic": BOUND,
    "turns": [
        {"items": [thinks("Plan"), {"tool": {"name": "docs__search", "args": {"q": "ü"}}}, letter("a"), letter("b")]},
        {"items": [thinks("Look"), letter("c")]},
        {"items": [thinks("End"), {"text": "Done: {{tool_output}}"}]},
    ]
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("line", LINES, ids=str)
def test_asking_turns_and_a_restart_send_every_thought_and_begin_byte_for_byte_alike(
    up, tmp_path, line: Line
):
    up.add("mine-asking", ASKING)
    model, catalog = line.model("mine-asking"), catalog_for(up)

    async def story():
        ledger = Ledger(up, line)
        async with stage(catalog, tmp_path / "one", model=model, tools=BOX) as on:
            conversation = on.conversation
            row = await ledger.decide(on, await on.ask("Allowed?"), ONCE)
            row = await ledger.decide(on, await on.ask("Denied?", at=row.id), DENIED)
            row = await ledger.decide(on, await on.ask("One by one?", at=row.id), DENIED, ONCE)
            row = await ledger.check(on, await on.ask("Restarted?", at=row.id))
            assert row.status == Status.WAITING
        async with stage(catalog, tmp_path / "two", model=model, tools=BOX) as on:
            on.conversation = conversation
            row = await ledger.decide(on, row, CONVERSATION)
            row = await ledger.check(on, await on.ask("Nobody asked?", at=row.id))
            assert row.status == Status.COMPLETE
        requests = up.requests("mine-asking")
        assert len(requests) == 15
        assert_one_begins_the_next(requests)

    play(story())


# All that is sent is looked at on every line; where a story is long, on those that differ most.
FEW = [
    line
    for line in LINES
    if line.suffix in ("", "@deepseek", "@openrouter", "@kimi", "@think-tags", "@gemini")
]
PHASES = {
    "thinking": Kind.REASONING,
    "writing arguments": Kind.TOOL_CALL,
    "writing": Kind.ASSISTANT_MESSAGE,
    "a tool runs": Kind.TOOL_RESULT,
    "it waits": None,
    "half of it is decided": None,
}
SHOWS_NO_THOUGHTS = {"@openai", "@mistral", "@gemini"}
SENDS_CALLS_WHOLE = {"@glm", "@ollama", "@gemini"}
LONG = "so very many words that somebody can stop it in between " * 4


def stopping(phase: str) -> dict[str, Any]:
    """What is stopped comes a few letters at a time when it is asked for first, and at once afterwards."""
    long = {name: LONG if name == phase else "Hm." for name in PHASES}
    hold = {"tool": {"name": "hold", "args": {}}}
    search = {"tool": {"name": "docs__search", "args": {"q": long["writing arguments"]}}}
    asking = [letter("a"), letter("b")]
    calls = {"it waits": asking, "half of it is decided": asking, "a tool runs": [hold]}.get(phase, [search])
    turns: list[dict[str, Any]] = [
        {"items": [{"reasoning": {"summary": long["thinking"]}}, *calls]},
        {"items": [{"reasoning": {"summary": "So."}}, {"text": long["writing"]}]},
    ]
    turns[phase == "writing"]["attempts"] = [{"speed": {"tps": 5}}, {}]
    return {"anthropic": BOUND, "turns": turns, "after_last": "stay"}


@pytest.mark.sampled
@pytest.mark.parametrize("then", ["continue", "ask below"])
@pytest.mark.parametrize("line", FEW, ids=str)
def test_after_a_stop_in_any_phase_the_conversation_goes_on(up, tmp_path, line: Line, then: str):
    async def hold() -> str:
        """Takes its time."""
        await asyncio.Event().wait()
        return ""

    async def story():
        tools = BOX | {"hold": tool(hold, safe=True)}
        for number, phase in enumerate(phases_of(line)):
            name = f"mine-stop-{number}"
            up.add(name, stopping(phase))
            async with stage(catalog_for(up), tmp_path / name, model=line.model(name), tools=tools) as on:
                ledger = Ledger(up, line)
                answer = await on.begin(f"Stop while {phase}?")
                await until(lambda: has_come_to(on, answer, phase))  # noqa: B023
                if phase == "half of it is decided":
                    calls = await calls_of(on, answer)
                    await one_word(on, await on.row(answer), ONCE, calls[:1])
                assert await on.engine.stop(answer)
                row = await ledger.check(on, await on.end(answer))
                assert row.status == Status.STOPPED
                if then == "continue":
                    row = await ledger.decide(on, await on.go_on(answer), ONCE)
                await ledger.decide(on, await on.ask("And now?", at=answer), ONCE)

    async def has_come_to(on: Stage, answer: UUID, phase: str) -> bool:
        if PHASES[phase] is None:
            return (await on.row(answer)).status == Status.WAITING
        seen = await on.engine.live.seen(answer)
        pieces = seen.draft.pieces.values() if seen else ()
        said = (piece for piece in pieces if piece.kind is PHASES[phase])
        return any(phase == "a tool runs" or piece.said() for piece in said)

    play(story())


async def calls_of(on: Stage, answer: UUID) -> list[Item]:
    return [item for item in await on.items(answer) if item.kind is Kind.TOOL_CALL]


def phases_of(line: Line) -> list[str]:
    unseen = {"thinking"} if line.suffix in SHOWS_NO_THOUGHTS else set()
    unseen |= {"writing arguments"} if line.suffix in SENDS_CALLS_WHOLE else set()
    return [phase for phase in PHASES if phase not in unseen]


TELLING = {
    "anthropic": BOUND,
    "turns": [
        {"items": [thinks("Plan"), {"tool": {"name": "docs__search", "args": {"q": "x"}}}, letter("a")]},
        {"items": [thinks("End"), {"text": "{{last_user}} {{tool_output}}"}]},
    ],
}


@pytest.mark.parametrize("line", FEW, ids=str)
def test_edits_second_branches_and_other_models_around_a_tool_turn(up, tmp_path, line: Line):
    """A question is edited while its turn waits; both go on; one is asked again, here and elsewhere, and comes home."""
    stranger = ANTHROPIC if line is OPENAI else OPENAI
    for name in ("mine-one", "mine-two"):
        up.add(name, TELLING)
    one, two, far = line.model("mine-one"), line.model("mine-two"), stranger.model("mine-one")

    async def story():
        ledger = Ledger(up, line, stranger)
        async with stage(catalog_for(up), tmp_path, model=one, tools=BOX) as on:

            async def ask(words: str, at: Message, word: Decision = ONCE, model: str = one) -> Message:
                return await ledger.decide(on, await on.ask(words, at=at.id, model=model), word)

            async def again(answer: Message, model: str) -> Message:
                return await ledger.decide(on, await on.again(answer.id, model=model), ONCE)

            before = await ledger.decide(on, await on.ask("Before?"), ONCE)
            waits = await ledger.check(on, await on.ask("Before the edit?", at=before.id))
            edited = await ask("After the edit?", before, DENIED)
            waited = await ledger.decide(on, waits, ONCE)
            below = await ask("Below the one that waited?", waited, DENIED)
            await ask("Another way below it?", waited)
            by_two = await again(waited, two)
            home = await ask("And home from another model?", by_two)
            assert home.metadata["rounds"][0]["dropped"].get("model changed", 0) == shown(line, 2)
            there = await ask("Another provider?", below, model=far)
            assert not there.metadata["rounds"][0]["replayed"]
            back = await ask("And back?", there, DENIED)
            await again(back, far)
            await ask("After all?", edited, model=two)

    play(story())


def shown(line: Line, thoughts: int) -> int:
    """Of so many: some servers never show a thought."""
    return 0 if line.suffix in SHOWS_NO_THOUGHTS else thoughts


WITHOUT_WIRES = ({"wire": None}, {"wire": None, "provider": "", "dialect": "", "model": ""})


@pytest.mark.parametrize("line", FEW, ids=str)
def test_items_without_wires_are_told_in_words(up, tmp_path, line: Line):
    """As an import brings them, of a known model or of nobody: what was said and called stays, the thoughts do not go."""
    up.add("mine-bare", TELLING)

    async def story():
        ledger = Ledger(up, line)
        async with stage(catalog_for(up), tmp_path, model=line.model("mine-bare"), tools=BOX) as on:
            for bare in WITHOUT_WIRES:
                first = await ledger.decide(on, await on.ask("Told by somebody?"), ONCE)
                rows = ItemRow.objects.filter(message=first.id, provider__gt="")
                assert await in_thread(rows.update)(**bare)
                second = await ledger.decide(on, await on.ask("And now?", at=first.id), ONCE)
                assert sum(second.metadata["rounds"][0]["dropped"].values()) == shown(line, 2)
                await ledger.decide(on, await on.ask("And then?", at=second.id), ONCE)
                body = str(up.requests("mine-bare")[-1]["body"])
                for said in ("docs__search", "sent to a", "Told by somebody?"):
                    assert said in body

    play(story())


def weather(city: str, **more: Any) -> dict[str, Any]:
    return {"tool": {"name": "get_weather", "args": {"city": city}, **more}}


LOOK = {"tool": {"name": "get_time", "args": {}}}
NASTY: dict[str, list[dict[str, Any]]] = {
    "a thought before each call": [thinks("One"), weather("Rome"), thinks("Two"), LOOK, thinks("Three"), weather("Oslo")],
    "one thought for three calls": [thinks("One"), weather("Rome"), weather("Oslo"), LOOK],
    "thoughts, words and a call": [thinks("One"), {"text": "I look."}, thinks("Two"), thinks("Three"), LOOK],
    "empty summaries": [{"reasoning": {"summary": ["", ""]}}, LOOK, {"reasoning": {"summary": [], "text": ""}}, weather("Rome")],
    "redacted thoughts between calls": [
        {"reasoning": {"text": "hidden", "redacted": True}}, LOOK, thinks("Open"),
        {"reasoning": {"text": "hidden too", "redacted": True}}, weather("Rome"),
    ],
    "one id for two thoughts": [thinks("One"), LOOK, {"reasoning": {"summary": "Two", "same_id_as": 0}}, weather("Rome")],
    "fields of the future": [{"reasoning": {"summary": "One", "extra": {"z": 1.50, "a": {"ü": [None, "\ud83c\udf0d"]}}}}, LOOK],
    "arguments letter by letter": [
        thinks("One"), weather('Z\u00fcrich "\\ \U0001f30d', chunk=1),
        {"tool": {"name": "get_weather", "args": '{ "city" :\t"R\\u006fme" }', "chunk": 1}},
    ],
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("line", LINES, ids=str)
def test_odd_responses_go_back_as_they_came(up, tmp_path, line: Line):
    for n, items in enumerate(NASTY.values()):
        turns = [{"items": items}, {"items": [thinks("End"), {"text": "So."}]}]
        up.add(f"mine-odd-{n}", {"anthropic": BOUND, "turns": turns})

    async def story():
        ledger = Ledger(up, line)
        async with stage(catalog_for(up), tmp_path, tools=TOOLS) as on:
            for n, (name, items) in enumerate(NASTY.items()):
                model = line.model(f"mine-odd-{n}")
                row = await ledger.check(on, await on.ask(name, model=model))
                calls = [each for each in items if "tool" in each]
                results = [item for item in await on.items(row.id) if item.kind is Kind.TOOL_RESULT]
                assert [item.outcome for item in results] == ["done"] * len(calls), name
                for question in ("Two?", "Three?"):
                    row = await ledger.check(on, await on.ask(question, at=row.id, model=model))
                    assert row.status == Status.COMPLETE, name

    play(story())


@pytest.mark.sampled
@pytest.mark.parametrize("line", LINES, ids=str)
def test_at_the_cap_it_is_asked_for_a_closing_answer_with_the_same_tools_and_no_choice(
    up, tmp_path, line: Line
):
    turns = [
        {"items": [thinks("One"), LOOK]},
        {"items": [thinks("Two"), weather("Rome")]},
        {"items": [thinks("End"), {"text": "So."}]},
    ]
    up.add("mine-cap", {"anthropic": BOUND, "turns": turns})

    async def story():
        ledger, model = Ledger(up, line), line.model("mine-cap")
        async with stage(catalog_for(up), tmp_path, model=model, tools=TOOLS, rounds=2) as on:
            row = await ledger.check(on, await on.ask("How often?"))
            assert (row.status, await on.said(row.id)) == (Status.COMPLETE, "So.")
            *before, closing = (request["body"] for request in up.requests("mine-cap"))
            assert [body.get("tool_choice") for body in before] == [None, None]
            if "tool_choice" in closing or line.dialect != "chat":
                assert closing["tool_choice"] in ("none", {"type": "none"})
                assert names_in(closing) == names_in(before[0]) == list(TOOLS)
            else:
                assert "tools" not in closing
            row = await ledger.check(on, await on.ask("And now?", at=row.id))
            assert row.status == Status.COMPLETE

    play(story())


def names_in(body: dict[str, Any]) -> list[str]:
    return [each.get("function", each)["name"] for each in body["tools"]]


@pytest.mark.parametrize("line", FEW, ids=str)
def test_a_result_of_a_megabyte_is_cut_and_says_so(up, tmp_path, line: Line):
    up.add("mine-big", {"turns": [{"items": [thinks("One"), LOOK]}, {"items": [{"text": "Read."}]}]})

    def get_time() -> str:
        """Talks too much."""
        return "\u00fc" * 500_000

    async def story():
        ledger, tools = Ledger(up, line), {"get_time": tool(get_time, safe=True)}
        async with stage(catalog_for(up), tmp_path, model=line.model("mine-big"), tools=tools) as on:
            row = await ledger.check(on, await on.ask("How long?"))
            row = await ledger.check(on, await on.ask("And again?", at=row.id))
            assert row.status == Status.COMPLETE
            (result,) = [item for item in await on.items(row.id) if item.kind is Kind.TOOL_RESULT]
            kept, said = result.text.split("\n")
            assert (len(kept.encode()), set(kept)) == (CAP, {"\u00fc"})
            assert said == f"[The result was cut here: it has 1,000,000 bytes, and only {CAP:,} may be kept.]"
            assert said in str(up.requests("mine-big")[-1]["body"])

    play(story())


def test_a_stale_thought_in_the_middle_of_a_long_loop_is_left_out_from_then_on(up, tmp_path):
    """What was thought before it goes with it; what is thought afterwards goes back again."""
    stale = {"reasoning": {"summary": "Soon stale", "stale": True}}
    up.add("mine-stale-middle", {"turns": [
        {"items": [thinks("One"), LOOK]},
        {"items": [stale, weather("Rome")]},
        {"items": [thinks("Three"), LOOK]},
        {"items": [thinks("Four"), {"text": "So."}]},
    ]})  # fmt: skip

    async def story():
        model = OPENAI.model("mine-stale-middle")
        async with stage(catalog_for(up), tmp_path, model=model, tools=TOOLS) as on:
            row = await on.ask("One?")
            assert row.status == Status.COMPLETE
            rounds = row.metadata["rounds"]
            assert [facts["replayed"] for facts in rounds] == [0, 1, 0, 1]
            assert [facts["dropped"] for facts in rounds] == [{}, {}, {"stale": 2}, {"stale": 2}]
            assert [facts.get("repaired") for facts in rounds] == [None, None, ["stale"], None]
            requests = up.requests("mine-stale-middle")
            assert [request["status"] for request in requests] == [200, 200, 400, 200, 200]
            assert [len(thoughts_in(request["body"], "responses")) for request in requests] == [0, 1, 2, 0, 1]
            assert all(request["notes"] == [] for request in requests)

    play(story())


@pytest.mark.parametrize("word", [ONCE, DENIED])
def test_the_same_call_id_in_two_conversations_means_two_calls(up, tmp_path, word: Decision):
    """Kimi counts its calls from nought in every conversation."""
    up.add(
        "mine-same",
        {"turns": [{"items": [thinks("One"), letter("a")]}, {"items": [{"text": "{{tool_output}}"}]}]},
    )

    async def story():
        first = Ledger(up, KIMI)
        async with (
            stage(catalog_for(up), tmp_path / "one", model=KIMI.model("mine-same"), tools=BOX) as here,
            stage(catalog_for(up), tmp_path / "two", model=KIMI.model("mine-same"), tools=BOX) as there,
        ):
            mine = await first.check(here, await here.ask("Here?"))
            second = Ledger(up, KIMI)
            yours = await second.check(there, await there.ask("There?"))
            calls = await calls_of(here, mine.id), await calls_of(there, yours.id)
            assert [call.call_id for each in calls for call in each] == ["functions.send:0"] * 2
            mine = await one_word(here, mine, word, calls[0])
            assert (mine.status, (await there.row(yours.id)).status) == (Status.COMPLETE, Status.WAITING)
            yours = await one_word(there, yours, ONCE, calls[1])
            assert (await there.said(yours.id)) == "sent to a"
            assert (await here.said(mine.id) == "sent to a") == (word is ONCE)
            assert all((each["status"], each["notes"]) == (200, []) for each in up.requests("mine-same"))

    play(story())


CHANGES = {
    "instructions": {"instructions": "Be long."},
    "tools": {"tools": []},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("variant", ["@claude-opus-5-5", ""])
def test_a_model_that_binds_its_thoughts_drops_them_after_a_change_and_it_is_told(
    up, tmp_path, change: str, variant: str
):
    """A model that a row knows is never refused for it; of another one refusal teaches the branch."""
    up.add("mine-bound", {"anthropic": BOUND, "turns": [{"items": [thinks("Bound"), {"text": "So."}]}]})

    async def story():
        model = ANTHROPIC.model("mine-bound", variant)
        async with stage(catalog_for(up), tmp_path, model=model, tools=BOX) as on:
            first = await on.ask("One?")
            rows = Conversation.objects.filter(pk=on.conversation.pk)
            await in_thread(rows.update)(**CHANGES[change])
            second = await on.ask("Two?", at=first.id)
            third = await on.ask("Three?", at=second.id)
            assert [row.status for row in (first, second, third)] == [Status.COMPLETE] * 3
            refused = [request for request in up.requests("mine-bound") if request["status"] != 200]
            assert len(refused) == (0 if variant else 1)
            facts = [row.metadata["rounds"][0] for row in (second, third)]
            assert [each["replayed"] for each in facts] == [1, 2]
            assert [each["withheld"] for each in facts] == [{"prefix_binding_mismatch": 1}] * 2
            assert facts[0].get("repaired") == (None if variant else ["bound"])
            assert "repaired" not in facts[1]
            asked = up.requests("mine-bound")[-1]["body"]["thinking"]["block_binding"]
            assert asked == {"prefix_mismatch_behavior": "drop_block"}

    play(story())
