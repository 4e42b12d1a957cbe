"""Events as plain lines for those who watch."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from chatapp.core.events import (
    NAMES,
    Asked,
    Event,
    Finish,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemsStored,
    ItemStarted,
    Repaired,
    ResponseEnded,
    Retrying,
    Saving,
    Skipped,
    TurnEnded,
    Usage,
    Withheld,
    as_dict,
)
from chatapp.core.items import Item, Kind, Outcome

SECRET = "gAAAA-only-for-the-provider"
THOUGHT = Item(
    key="rs_1",
    kind=Kind.REASONING,
    text="List them.",
    wire={"id": "rs_1", "encrypted_content": SECRET},
    provider="openai",
    dialect="responses",
    model="gpt-5",
    round=2,
)
RESULT = Item(
    key="part-3",
    kind=Kind.TOOL_RESULT,
    text="12:00",
    call_id="call_1",
    name="time",
    outcome=Outcome.DONE,
    round=1,
)
LINES: list[tuple[Event, dict[str, object]]] = [
    (Asked(0), {"event": "asked", "round": 0}),
    (
        ItemStarted("fc_1", Kind.TOOL_CALL, "time", "call_1"),
        {"event": "item_started", "key": "fc_1", "kind": "tool_call", "name": "time", "call_id": "call_1"},
    ),
    (ItemDelta("rs_1", "Li"), {"event": "item_delta", "key": "rs_1", "text": "Li", "refuses": False}),
    (
        ItemDone(RESULT),
        {
            "event": "item_done",
            "key": "part-3",
            "kind": "tool_result",
            "text": "12:00",
            "round": 1,
            "cut": False,
            "name": "time",
            "call_id": "call_1",
            "outcome": "done",
        },
    ),
    (
        ItemAmended(THOUGHT),
        {
            "event": "item_amended",
            "key": "rs_1",
            "kind": "reasoning",
            "text": "List them.",
            "round": 2,
            "cut": False,
            "name": "",
            "call_id": "",
            "outcome": "",
        },
    ),
    (Skipped(), {"event": "skipped"}),
    (Withheld.of(["stale", "stale\x00"]), {"event": "withheld", "reasons": {"stale": 1, "stale\ufffd": 1}}),
    (
        Usage(input=3, cached=1, output=9, reasoning=8),
        {"event": "usage", "input": 3, "cached": 1, "cache_written": None, "output": 9, "reasoning": 8},
    ),
    (ResponseEnded(Finish.LENGTH), {"event": "response_ended", "finish": "length"}),
    (
        Retrying(4.0, "Busy.", ("rs_1",)),
        {"event": "retrying", "seconds": 4.0, "sentence": "Busy.", "lost": ["rs_1"]},
    ),
    (Repaired("stale", "Again."), {"event": "repaired", "how": "stale", "sentence": "Again."}),
    (ItemsStored(("rs_1",)), {"event": "items_stored", "keys": ["rs_1"]}),
    (Saving("Being saved."), {"event": "saving", "sentence": "Being saved."}),
    (TurnEnded("complete"), {"event": "turn_ended", "status": "complete", "sentence": ""}),
]


@pytest.mark.parametrize(("event", "line"), LINES, ids=[NAMES[type(event)] for event, _ in LINES])
def test_an_event_is_a_line_of_plain_values(event: Event, line: dict[str, object]):
    assert json.loads(json.dumps(as_dict(event))) == line


def test_every_event_has_a_name_of_its_own_and_a_line_here():
    assert set(NAMES) == set(get_args(Event)) == {type(event) for event, _ in LINES}
    assert len(set(NAMES.values())) == len(NAMES)


def test_what_only_the_provider_may_read_is_in_no_line():
    line = json.dumps(as_dict(ItemDone(THOUGHT)))
    assert SECRET not in line
    assert "wire" not in line
