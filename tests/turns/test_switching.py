"""One tree, several models: switches both ways, forks before and after a tool round, and nothing of one provider in
a request to another."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest

from chatapp.core.items import Kind
from chatapp.store.models import Status
from chatapp.tools.base import tool
from tests.support.providers import LINES, TOOLS, Line, catalog_for
from tests.support.stage import Stage, play, stage

from .test_scenarios import thoughts_in

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

OPENAI, ANTHROPIC = LINES[0], LINES[1]
KIMI, GEMINI, DEEPSEEK, GROQ = (
    Line("compatible", "chat", "@kimi"),
    Line("compatible", "chat", "@gemini"),
    LINES[2],
    Line("compatible", "chat", "@groq"),
)
PAIRS = [
    (OPENAI, ANTHROPIC),
    (OPENAI, DEEPSEEK),
    (ANTHROPIC, DEEPSEEK),
    (ANTHROPIC, KIMI),
    (OPENAI, GEMINI),
    (KIMI, GROQ),
    (DEEPSEEK, KIMI),
]


def ids(pair: tuple[Line, Line]) -> str:
    return f"{pair[0]}-{pair[1]}"


def all_fine(up: Any) -> None:
    for request in up.requests():
        assert request["status"] == 200, request["error"]
        assert request["notes"] == []


async def secrets(on: Stage, *answers: Any) -> list[str]:
    """What only its own provider may see: sealed content, signatures, ids."""
    found: list[str] = []
    for row in answers:
        for item in await on.items(row.id):
            wire = item.wire if isinstance(item.wire, dict) else {}
            values = [
                wire.get(name) for name in ("id", "encrypted_content", "signature", "data", "extra_content")
            ]
            found += [json.dumps(value)[1:-1] for value in values if value]
            if item.kind is Kind.REASONING and item.text:
                found.append(json.dumps(item.text, ensure_ascii=False)[1:-1])
    return found


TELLING = {
    "turns": [
        {"items": [
            {"reasoning": {"summary": "{{model}} about {{last_user}}"}},
            {"tool": {"name": "get_weather", "args": {"city": "Florence"}}},
        ]},
        {"items": [{"reasoning": {"summary": "{{model}} reads for {{last_user}}"}}, {"text": "Sunny."}]},
    ]
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids=ids)
def test_a_conversation_changes_its_model_and_changes_back(up, tmp_path, pair: tuple[Line, Line]):
    one, two = pair
    for line, name in ((one, "mine-one"), (two, "mine-two")):
        up.add(name, TELLING | ({"chat": {"profile": line.suffix[1:]}} if line.suffix else {}))

    async def story():
        async with stage(catalog_for(up), tmp_path, model=one.model("mine-one"), tools=TOOLS) as on:
            first = await on.ask(f"One, {ids(pair)}?")
            second = await on.ask("Two?", at=first.id, model=two.model("mine-two"))
            third = await on.ask("Three?", at=second.id, model=one.model("mine-one"))
            fourth = await on.ask("Four?", at=third.id, model=two.model("mine-two"))
            assert [row.status for row in (first, second, third, fourth)] == [Status.COMPLETE] * 4
            all_fine(up)
            for name, strangers in (("mine-one", (second, fourth)), ("mine-two", (first, third))):
                foreign = await secrets(on, *strangers)
                assert foreign
                for request in up.requests(name):
                    sent = json.dumps(request["body"], ensure_ascii=False)
                    assert not [secret for secret in foreign if secret in sent]
            assert sum(third.metadata["rounds"][0]["dropped"].values()) == len(await thoughts(on, second))

    play(story())


async def thoughts(on: Stage, row: Any) -> list[Any]:
    return [item for item in await on.items(row.id) if item.kind is Kind.REASONING]


@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC, DEEPSEEK, KIMI, GEMINI], ids=str)
def test_another_model_of_the_same_provider_gets_no_thoughts(up, tmp_path, line: Line):
    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model("tool-loop"), tools=TOOLS) as on:
            first = await on.ask("One of two models?")
            second = await on.ask("Two?", at=first.id, model=line.model("tool-loop", "@mini"))
            third = await on.ask("Three?", at=second.id)
            assert [row.status for row in (second, third)] == [Status.COMPLETE] * 2
            all_fine(up)
            if line is not GEMINI:
                # Its own thoughts of both rounds of the first answer go back, not those of the other model.
                assert third.metadata["rounds"][0]["replayed"] == 2
                assert third.metadata["rounds"][0]["dropped"] == {"model changed": 2}

    play(story())


@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC, DEEPSEEK, KIMI, GEMINI], ids=str)
def test_a_fork_before_and_after_a_tool_round_is_answered_on_both_sides(up, tmp_path, line: Line):
    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model("two-step-tools"), tools=TOOLS) as on:
            before = await on.ask("Before?", model=line.model("one-reasoning"))
            tools = await on.ask("With tools?", at=before.id)
            after = await on.ask("After?", at=tools.id)
            other_before = await on.ask("Another way before?", at=before.id)
            other_after = await on.ask("Another way after?", at=tools.id)
            again = await on.again(tools.id)
            on_again = await on.ask("On the other answer?", at=again.id)
            rows = (before, tools, after, other_before, other_after, again, on_again)
            assert [row.status for row in rows] == [Status.COMPLETE] * len(rows)
            all_fine(up)
            bodies = [request["body"] for request in up.requests("two-step-tools")]
            assert any("Another way before?" in json.dumps(body) for body in bodies)
            assert not any(
                "After?" in json.dumps(body) and "Another way" in json.dumps(body) for body in bodies
            )

    play(story())


@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC, DEEPSEEK], ids=str)
def test_an_earlier_request_is_a_prefix_of_the_later_one(up, tmp_path, line: Line):
    """System prompt, tools and everything before stay the same, value for value, from request to request."""

    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model("two-step-tools"), tools=TOOLS) as on:
            row = await on.ask("One?")
            for question in ("Two?", "Three?"):
                row = await on.ask(question, at=row.id)
            bodies = [request["body"] for request in up.requests()]
            for earlier, later in pairwise(bodies):
                for name in ("instructions", "system", "tools"):
                    assert without_marks(earlier.get(name)) == without_marks(later.get(name))
                said, says = (without_marks(steps(body)) for body in (earlier, later))
                assert says[: len(said)] == said
                assert len(says) > len(said)

    play(story())


def steps(body: dict[str, Any]) -> list[Any]:
    """The history, with messages of the Messages API taken apart into their blocks: one may grow at its end."""
    if "input" in body:
        return body["input"]
    pieces = []
    for message in body["messages"]:
        content = message["content"]
        blocks = content if isinstance(content, list) and "system" in body else None
        pieces += [(message["role"], block) for block in blocks] if blocks else [message]
    return pieces


def without_marks(value: Any) -> Any:
    """Marks for the cache move on with the conversation; they do not count as content."""
    if isinstance(value, dict):
        return {name: without_marks(inner) for name, inner in value.items() if name != "cache_control"}
    if isinstance(value, list | tuple):
        return [without_marks(inner) for inner in value]
    return value


@pytest.mark.parametrize("then", ["continue", "ask below"])
@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC, DEEPSEEK, KIMI, GEMINI], ids=str)
def test_after_a_stop_while_a_tool_ran_the_conversation_goes_on(up, tmp_path, line: Line, then: str):
    """A call whose turn was stopped has a result, so both Continue and the next question are accepted."""
    reached = asyncio.Event()

    async def get_weather(city: str) -> str:
        """The weather, after a very long while."""
        reached.set()
        await asyncio.Event().wait()
        return city

    async def story():
        slow = {"get_weather": tool(get_weather, safe=True)}
        async with stage(catalog_for(up), tmp_path, model=line.model("tool-loop"), tools=slow) as on:
            first = await on.begin("Stop me while the tool runs?")
            await reached.wait()
            assert await on.engine.stop(first)
            await on.end(first)
            if then == "continue":
                assert (await on.go_on(first)).status == Status.COMPLETE
            else:
                below = await on.ask("And now?", at=first, model=line.model("one-reasoning"))
                assert below.status == Status.COMPLETE
            all_fine(up)

    play(story())


@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC], ids=str)
def test_a_capped_replay_sends_only_the_newest_thoughts(up, tmp_path, line: Line):
    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model("one-reasoning"), replay_turns=1) as on:
            row = await on.ask("One?")
            for question in ("Two?", "Three?", "Four?"):
                row = await on.ask(question, at=row.id)
            all_fine(up)
            facts = row.metadata["rounds"][0]
            assert (facts["replayed"], facts["dropped"]) == (1, {"capped": 2})
            assert len(thoughts_in(up.requests()[-1]["body"], line.dialect)) == 1

    play(story())


@pytest.mark.parametrize("line", [OPENAI, ANTHROPIC], ids=str)
def test_stale_thoughts_in_the_middle_of_a_tool_loop_are_repaired_once(up, tmp_path, line: Line):
    """OpenAI: a blob that went stale. Anthropic: another account's signature, as after a change of the key."""
    name = "mine-stale-loop"
    up.add(name, {"turns": [
        {"items": [{"reasoning": {"summary": "Soon stale", "stale": True}}, {"tool": {"name": "get_time", "args": {}}}]},
        {"items": [{"reasoning": {"summary": "Fresh"}}, {"text": "Noon."}]},
    ]})  # fmt: skip

    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model(name), tools=TOOLS) as on:
            row = await on.ask("What time is it?")
            assert row.status == Status.COMPLETE
            refusals = [request for request in up.requests(name) if request["status"] != 200]
            assert len(refusals) == (1 if line is OPENAI else 0)
            if refusals:
                assert row.metadata["rounds"][1]["repaired"] == ["stale"]
                assert row.metadata["rounds"][1]["dropped"] == {"stale": 1}

    play(story())
