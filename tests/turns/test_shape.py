"""What is recorded of each request's shape, on every wire: true of what went out, and without a word of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from chatapp.store.models import Status
from chatapp.tools.base import tool
from tests.support.providers import LINES, Line, catalog_for
from tests.support.stage import play, stage

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "canary"
KEY = f"sk-org-{SECRET}-key"
SEALS = ("id", "call_id", "tool_use_id", "tool_call_id", "encrypted_content", "signature", "data")
TELLING = {
    "turns": [
        {"items": [
            {"reasoning": {"summary": f"the {SECRET} thought"}},
            {"reasoning": {"text": f"a {SECRET}", "summary": [], "redacted": True}},
            {"tool": {"name": "look", "args": {"at": f"{SECRET} argument"}}},
        ]},
        {"items": [{"reasoning": {"summary": f"{SECRET} again"}}, {"text": f"The {SECRET} answer."}]},
    ]
}  # fmt: skip


def look(at: str) -> str:
    """Looks at a canary."""
    return f"{SECRET} result"


@pytest.mark.parametrize("line", LINES, ids=str)
def test_no_word_no_seal_and_no_key_of_a_request_is_in_its_shape(up, tmp_path, line: Line):
    up.add("mine-shape", TELLING)

    async def story():
        tools = {"look": tool(look, safe=True)}
        catalog = catalog_for(up, key=KEY)
        async with stage(catalog, tmp_path, model=line.model("mine-shape"), tools=tools) as on:
            first = await on.ask(f"A {SECRET} question?")
            second = await on.ask(f"One more {SECRET} question?", at=first.id)
            shapes = [facts["shape"] for row in (first, second) for facts in row.metadata["rounds"]]
            requests = up.requests("mine-shape")
            assert [row.status for row in (first, second)] == [Status.COMPLETE] * 2
            for shape, request in zip(shapes, requests, strict=True):
                said = "\n".join(shape)
                assert SECRET in json.dumps(request["body"])
                assert SECRET not in said
                assert not [seal for seal in seals(request["body"]) if seal in said]
                assert str(on.conversation.id) not in said
                assert_true(shape, request["body"])

    play(story())


def seals(value: Any) -> Iterator[str]:
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from seals(inner)
    if isinstance(value, dict):
        yield from (value[name] for name in SEALS if value.get(name))


def assert_true(shape: list[str], body: dict[str, Any]) -> None:
    told = dict(line.split(": ", 1) for line in shape)
    assert set(told) == set(body) - {"prompt_cache_key"}
    assert told["model"] == json.dumps(body["model"])
    assert told["tools"] == "look"
    history = body.get("input", body.get("messages"))
    sent = json.dumps(history, ensure_ascii=False, separators=(",", ":"))
    opening = (
        f"{len(history):,} {'entry' if len(history) == 1 else 'entries'}, {len(sent.encode()):,} bytes: "
    )
    assert told["input" if "input" in body else "messages"].startswith(opening)


def test_a_repaired_request_is_described_as_it_went_out_at_last(up, tmp_path):
    up.add("mine-shape-stale", {"turns": [
        {"items": [{"reasoning": {"summary": "Soon stale", "stale": True}}, {"text": "One."}]},
        {"items": [{"text": "Two."}]},
    ]})  # fmt: skip

    async def story():
        async with stage(catalog_for(up), tmp_path, model=LINES[0].model("mine-shape-stale")) as on:
            first = await on.ask("One?")
            second = await on.ask("Two?", at=first.id)
            (facts,) = second.metadata["rounds"]
            assert facts["repaired"] == ["stale"]
            assert [request["status"] for request in up.requests("mine-shape-stale")] == [200, 400, 200]
            assert not [line for line in facts["shape"] if "reasoning (" in line]
            assert_sent(facts["shape"], up.requests("mine-shape-stale")[-1]["body"])

    def assert_sent(shape: list[str], body: dict[str, Any]) -> None:
        (line,) = [line for line in shape if line.startswith("input: ")]
        assert line.endswith(f"{sum(each.get('role') == 'user' for each in body['input'])} user, 1 assistant")

    play(story())
