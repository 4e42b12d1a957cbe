"""Claude.ai's export, written after real ones: blocks with their times to the millisecond, parents, the leaf that was open."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatapp import store
from chatapp.core.recorded import Recorded

from .bringing import came, checked, imports, remarks, uploads, worked

pytestmark = pytest.mark.both

ROOT = "00000000-0000-4000-8000-000000000000"
DAY = "2026-03-04T05:06:"


def at(seconds: float) -> str:
    return f"{DAY}{seconds:09.6f}Z"


def block(kind: str, start: float, stop: float, **more: Any) -> dict[str, Any]:
    return {"type": kind, "start_timestamp": at(start), "stop_timestamp": at(stop)} | more


def said(uuid: str, parent: str | None, sender: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    told = {"uuid": uuid, "sender": sender, "content": list(blocks), "created_at": at(1), "text": ""}
    return told | ({} if parent is None else {"parent_message_uuid": parent}) | more


def human(uuid: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    return said(uuid, parent, "human", {"type": "text", "text": text}, text=text, **more)


def export(*messages: dict[str, Any], **more: Any) -> bytes:
    told = {"uuid": "c1", "name": "Clocks", "created_at": at(0), "updated_at": at(59), "model": "claude-x"}
    return json.dumps([told | {"chat_messages": list(messages)} | more]).encode()


ANSWER = said(
    "a",
    "u",
    "assistant",
    block("thinking", 1.0, 3.123456, thinking="Hm."),
    block("tool_use", 3.2, 3.4, name="clock", id="t1", input={"zone": "Asia/Tokyo"}),
    block("tool_result", 3.5, 4.0, tool_use_id="t1", content=[{"type": "text", "text": "14:05"}]),
    block("thinking", 4.0, 4.5, thinking="Well."),
    block("text", 4.5, 6.0, text="Five past two."),
)


def rows(conversation):
    return list(conversation.messages.order_by("order"))


def test_blocks_come_in_their_order_with_their_times(alice):
    (copy,) = came(alice, export(human("u", ROOT, "What time is it?"), ANSWER, current_leaf_message_uuid="a"))
    answer = rows(copy)[1]
    assert list(answer.items.order_by("seq").values_list("kind", "text", "round")) == [
        ("reasoning", "Hm.", 0),
        ("tool_call", '{"zone": "Asia/Tokyo"}', 0),
        ("tool_result", "14:05", 0),
        ("reasoning", "Well.", 1),
        ("assistant_message", "Five past two.", 1),
    ]
    recorded = Recorded(answer.metadata)
    assert recorded.thoughts == {"part-0": 2123, "part-3": 500}
    assert (recorded.stretches["part-4"].start, recorded.stretches["part-4"].end) == (3500, 5000)
    assert (answer.model, recorded.elapsed, copy.title) == ("claude-x", 5000, "Clocks")
    assert list(store.verify_log()) == []


def test_branches_and_the_open_leaf_come(alice):
    other = human("u2", ROOT, "Another first?")
    (copy,) = came(
        alice, export(human("u", ROOT, "What time is it?"), ANSWER, other, current_leaf_message_uuid="a")
    )
    assert copy.head == rows(copy)[1] and sum(row.parent is None for row in rows(copy)) == 2


def test_older_exports_are_one_line(alice):
    old = [
        human("u", None, "Hi"),
        {"uuid": "a", "sender": "assistant", "text": "Hello.", "created_at": at(2)},
    ]
    (copy,) = came(alice, export(*old, human("u2", None, "And?")))
    assert [row.parent and row.parent.order for row in rows(copy)] == [None, 0, 1]


@pytest.mark.parametrize("offset", ["Z", "+00:00", "+02:00"])
def test_offsets_change_nothing(alice, offset):
    hour = "07" if offset == "+02:00" else "05"
    times = {
        "start_timestamp": f"2026-03-04T{hour}:06:01{offset}",
        "stop_timestamp": f"2026-03-04T{hour}:06:02.5{offset}",
    }
    answer = said("a", "u", "assistant", {"type": "thinking", "thinking": "Hm."} | times)
    (copy,) = came(alice, export(human("u", ROOT, "Hi"), answer))
    assert Recorded(rows(copy)[1].metadata).thoughts == {"part-0": 1500}


def test_reversed_times_are_not_believed(alice):
    file = export(
        human("u", ROOT, "Hi"), said("a", "u", "assistant", block("thinking", 5, 1, thinking="Hm."))
    )
    row = checked(alice, file)
    assert remarks(row) == {"duration": 1} and row.files.get().report["thoughts"] == [0, 0, 1]


def test_words_of_files_come_and_others_are_named(alice):
    attached = {
        "attachments": [{"file_name": "a.py", "extracted_content": "print(1)"}, {"file_name": "b.bin"}],
        "files": [
            {"file_name": "a.py"},
            {"file_name": "c.png", "file_kind": "image"},
            {"file_name": "d.pdf"},
        ],
    }
    file = export(human("u", ROOT, "See.", **attached), said("a", "u", "assistant", {"type": "voice_note"}))
    assert remarks(checked(alice, file)) == {"picture": 1, "file": 2, "unknown": 1}
    imports.cancel(uploads.open_import(alice))
    (copy,) = came(alice, file)
    assert rows(copy)[0].items.get().text == "See.\n\na.py:\n\nprint(1)"


def test_a_failed_call_says_so_and_one_without_a_result_too(alice):
    blocks = [
        block("tool_use", 1, 2, name="x", id="t1", input={}),
        block("tool_use", 1, 2, name="y", id="t2", input={}),
        block("tool_result", 2, 3, tool_use_id="t2", content="No.", is_error=True),
    ]
    (copy,) = came(alice, export(human("u", ROOT, "Hi"), said("a", "u", "assistant", *blocks)))
    results = rows(copy)[1].items.filter(kind="tool_result").order_by("seq")
    assert [(row.name, row.outcome) for row in results] == [("y", "failed"), ("x", "unknown")]
    assert list(store.verify_log()) == []


@pytest.mark.parametrize(
    "messages",
    [
        [7],
        [{}],
        [{"sender": []}],
        [said("a", "a", "assistant", {"type": []}, {"type": "tool_use", "input": "x"})],
    ],
)
def test_wrong_types_break_nothing(alice, messages):
    row = checked(alice, export(human("u", ROOT, "Hi"), *messages))
    imports.start(row, skips_known=True)
    assert worked(row).state == "came"
    assert list(store.verify_log()) == []
