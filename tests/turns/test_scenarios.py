"""Every public scenario of the fake providers, on every protocol that it fits, driven through run_turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from chatapp.core.history import GO_ON
from chatapp.core.items import Item, Kind
from chatapp.store.models import Message, Status
from tests.support.providers import LINES, TOOLS, UNKNOWN, Line, catalog_for
from tests.support.stage import Stage, play, stage

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

GOOD = [
    "plain",
    "one-reasoning",
    "two-reasoning-items",
    "tool-loop",
    "two-step-tools",
    "no-summary",
    "raw-reasoning",
    "rate-limited",
    "overloaded",
    "malformed-chunk",
    "odd-events",
    "stale-blob",
    "think-tags",
    "codeblock-tags",
    "phases",
    "preserved-thinking",
    "omitted-thinking",
    "obliging",
    "load",
    "slow-start",
    "load-long",
]
FAILING = {
    "http-500": "broken",
    "http-401": "key",
    "failed": "broken",
    # A chat completion that just ends is cut.
    "eof-midstream": "broken cut",
    "error-midstream": "busy broken",
    "error-midstream-flat": "busy broken",
    "stall": "silent",
}
# Only this one is silent; the others may take their time on a busy machine.
SILENCE = {"stall": 1.0}
# What a scenario plans to answer with, beside 200.
PLANNED = {"rate-limited": {429}, "overloaded": {529}, "stale-blob": {400}}
# Long, and the same on every line.
HEAVY = {"load-long", "slow-start"}


def fitting() -> Iterable[Any]:
    for line in LINES:
        for name in GOOD:
            if name not in HEAVY or line is LINES[0]:
                yield pytest.param(line, name, id=f"{line}-{name}")


def unknown() -> Iterable[Any]:
    for line in UNKNOWN:
        for name in GOOD:
            # The fake keeps no unsealed thought; a server that gives some is in test_open_servers.py.
            if name not in HEAVY and (line.dialect, name) != ("responses", "raw-reasoning"):
                yield pytest.param(line, name, id=f"{line.dialect}-{name}")


def test_no_public_scenario_is_forgotten(fake_providers):
    from tests.upstream.scenario import load_dir
    from tests.upstream.server import SCENARIOS

    assert set(load_dir(SCENARIOS)) == {*GOOD, *FAILING, "incomplete", "drop-midstream"}


@pytest.mark.sampled
@pytest.mark.parametrize(("line", "name"), list(fitting()))
def test_two_turns_pass_and_thoughts_go_back(up, tmp_path, line: Line, name: str):
    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model(name), tools=TOOLS) as on:
            first = await on.ask("First question?")
            second = await on.ask("Second question?", at=first.id)
            third = await on.ask("Third question?", at=second.id)
            assert [row.status for row in (first, second, third)] == [Status.COMPLETE] * 3, (
                third.metadata.get("ended")
            )
            check_requests(up.requests(name), line, name)
            await check_replay(on, up.requests(name), line, [first, second, third])

    play(story())


@pytest.mark.parametrize(("line", "name"), list(unknown()))
def test_a_server_that_nobody_knows_is_understood_all_the_same(up, tmp_path, line: Line, name: str):
    """Its thoughts are seen, timed and sent back, and it refuses nothing."""
    # With tools the fake wants empty thoughts of answers that had none, which nobody can know before the first thought.
    tools = {} if name == "plain" else TOOLS

    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model(name), tools=tools) as on:
            rows = [await on.ask("First question?")]
            for question in ("Second question?", "Third question?"):
                rows.append(await on.ask(question, at=rows[-1].id))
            assert [row.status for row in rows] == [Status.COMPLETE] * 3, rows[-1].metadata.get("ended")
            check_requests(up.requests(name), line, name)
            await check_replay(on, up.requests(name), line, rows)
            for row in rows:
                thoughts = {item.key for item in await on.items(row.id) if item.kind is Kind.REASONING}
                assert set(row.metadata.get("reasoning_durations_ms", {})) == thoughts
            assert any(row.metadata.get("reasoning_durations_ms") for row in rows) == (name != "plain")
            assert sum(facts["dropped"].get("forbidden", 0) for facts in rows[-1].metadata["rounds"]) == 0

    play(story())


def check_requests(requests: Sequence[dict[str, Any]], line: Line, name: str) -> None:
    for request in requests:
        planned = request["status"] in {200, *PLANNED.get(name, ())} or repaired_double(line, name, request)
        assert planned, request["error"]
        assert request["notes"] == [], request["notes"]
        if line.dialect == "responses":
            assert request["body"]["store"] is False
            assert request["body"]["include"] == ["reasoning.encrypted_content"]


def repaired_double(line: Line, name: str, request: dict[str, Any]) -> bool:
    """An event of the Messages API that comes twice cannot be told from two: its thought is refused once and dropped."""
    return (
        line.dialect == "messages" and name == "odd-events" and "Invalid `signature`" in str(request["error"])
    )


async def check_replay(
    on: Stage, requests: Sequence[dict[str, Any]], line: Line, answers: Sequence[Message]
) -> None:
    """What the facts say of the last request is what stands in it, and every thought in it is a stored one."""
    body = [request["body"] for request in requests if request["status"] == 200][-1]
    sent = thoughts_in(body, line.dialect)
    facts = answers[-1].metadata["rounds"][-1]
    stored = [item for row in answers for item in await on.items(row.id) if item.kind is Kind.REASONING]
    if line.dialect == "chat":
        joined = {words for row in answers for words in await joined_thoughts(on, row)}
        assert {thought for thought in sent if thought} <= joined
        assert bool([thought for thought in sent if thought]) == bool(facts["replayed"])
    else:
        assert len(sent) == facts["replayed"]
        for thought in sent:
            assert without_id(thought) in [without_id(item.wire) for item in stored]
    if not facts["dropped"] and line.dialect != "chat":
        before = [item for item in stored if item not in await last_round(on, answers[-1])]
        assert facts["replayed"] == len(before)


async def joined_thoughts(on: Stage, row: Message) -> list[str]:
    items = await on.items(row.id)
    rounds = sorted({item.round for item in items})
    return [
        "".join(item.text for item in items if item.round == n and item.kind is Kind.REASONING)
        for n in rounds
    ]


async def last_round(on: Stage, row: Message) -> list[Item]:
    items = await on.items(row.id)
    return [item for item in items if item.round == max(other.round for other in items)]


def thoughts_in(body: dict[str, Any], dialect: str) -> list[Any]:
    if dialect == "responses":
        return [item for item in body["input"] if item.get("type") == "reasoning"]
    if dialect == "messages":
        blocks = [
            block for message in body["messages"] for block in message["content"] if isinstance(block, dict)
        ]
        return [block for block in blocks if "thinking" in block["type"]]
    answers = [message for message in body["messages"] if message["role"] == "assistant"]
    return [_words(message) for message in answers if _words(message) is not None]


def _words(message: dict[str, Any]) -> str | None:
    said, tag, _ = (message["content"] or "").partition("</think>")
    if tag and "```" not in said:
        return said.removeprefix("<think>")
    details = message.get("reasoning_details")
    if details:
        return "".join(detail.get("text", "") for detail in details)
    return message.get("reasoning_content", message.get("reasoning"))


def without_id(wire: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wire.items() if name != "id"}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("line", [LINES[0], LINES[1], LINES[2]], ids=str)
def test_a_failure_is_said_in_words_and_what_was_seen_is_kept(up, tmp_path, line: Line, name: str):
    async def story():
        catalog = catalog_for(up, silence=SILENCE.get(name, 30.0))
        async with stage(catalog, tmp_path, model=line.model(name), tools=TOOLS) as on:
            row = await on.ask("First question?")
            ended = row.metadata["ended"]
            assert ended["reason"] in FAILING[name].split()
            if ended["reason"] == "cut":
                assert (row.status, ended) == (Status.STOPPED, {"reason": "cut"})
            else:
                assert row.status == Status.FAILED
                assert ended["sentence"].endswith(".")
            assert "sk-org-test" not in str(row.metadata)
            items = await on.items(row.id)
            assert all(item.cut and item.wire is None for item in items)
            if not name.startswith("http-"):
                assert items, "what was seen is kept"
            else:
                assert not items and ended["raw"]
            below = await on.ask("Second question?", at=row.id)
            assert below.status == row.status

    play(story())


@pytest.mark.parametrize("line", [LINES[0], LINES[1]], ids=str)
def test_an_answer_that_was_dropped_while_it_thought_is_asked_for_again_by_itself(up, tmp_path, line: Line):
    """What was thought for it is gone: nothing is shown, counted or sent twice."""

    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model("drop-midstream")) as on:
            row = await on.ask("First question?")
            assert (row.status, len(up.requests("drop-midstream"))) == (Status.COMPLETE, 2)
            assert "cut in the middle" in await on.said(row.id)
            (thought,) = [item for item in await on.items(row.id) if item.kind is Kind.REASONING]
            assert not thought.cut
            assert list(row.metadata["reasoning_durations_ms"]) == [thought.key]
            assert set(row.metadata["timings_ms"]) == {item.key for item in await on.items(row.id)}
            below = await on.ask("Second question?", at=row.id)
            assert below.metadata["rounds"][0]["replayed"] == 1

    play(story())


def test_an_answer_that_was_dropped_in_its_words_is_right_at_the_second_try(up, tmp_path):
    async def story():
        async with stage(catalog_for(up), tmp_path, model=LINES[2].model("drop-midstream")) as on:
            row = await on.ask("First question?")
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "broken")
            again = await on.again(row.id)
            assert (again.status, again.parent_id) == (Status.COMPLETE, row.parent_id)
            assert "cut in the middle" in await on.said(again.id)

    play(story())


def test_an_answer_that_just_ends_can_be_continued(up, tmp_path):
    long = "This answer ends early, and goes on when it is asked to."
    cut_and_whole = [
        {"faults": [{"kind": "eof", "after": 8}], "items": [{"text": long}]},
        {"items": [{"text": " asked to."}]},
    ]
    up.add("mine-eof", {"turns": cut_and_whole, "after_last": "stay"})

    async def story():
        async with stage(catalog_for(up), tmp_path, model=UNKNOWN[2].model("mine-eof")) as on:
            row = await on.ask("First question?")
            assert (row.status, row.metadata["ended"]) == (Status.STOPPED, {"reason": "cut"})
            row = await on.go_on(row.id)
            assert row.status == Status.COMPLETE
            assert (await on.said(row.id)).endswith(" asked to.")
            assert up.requests("mine-eof")[-1]["body"]["messages"][-1]["content"] == GO_ON

    play(story())


@pytest.mark.parametrize("line", [LINES[0], LINES[1], LINES[2]], ids=str)
def test_an_answer_cut_while_thinking_keeps_its_thought_and_never_sends_it(up, tmp_path, line: Line):
    async def story():
        async with stage(catalog_for(up), tmp_path, model=line.model("incomplete")) as on:
            row = await on.ask("First question?")
            assert (row.status, row.metadata["ended"]) == (Status.STOPPED, {"reason": "length"})
            (item,) = await on.items(row.id)
            assert (item.kind, item.cut) == (Kind.REASONING, True)
            assert "budget was used up" in item.text
            await on.ask("Second question?", at=row.id)
            assert not thoughts_in(up.requests("incomplete")[-1]["body"], line.dialect)
            assert all(request["status"] == 200 for request in up.requests("incomplete"))

    play(story())
