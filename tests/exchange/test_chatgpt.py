"""ChatGPT's export, written after real ones: its tree, its head, its thoughts with their times, each counted once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatapp import store
from chatapp.core.recorded import Recorded
from chatapp.exchange.models import ImportedConversation
from chatapp.store.models import Item, Message

from .bringing import came, checked, imports, problems, remarks, uploads

pytestmark = pytest.mark.both

START = 1_760_000_000.0


def node(
    id: str, parent: str | None, role: str = "assistant", *, at: float | None = 0, **more: Any
) -> dict[str, Any]:
    content = more.pop("content", None) or {"content_type": "text", "parts": [more.pop("text", "")]}
    message = {
        "id": id,
        "author": {"role": role, "name": more.pop("name", None)},
        "create_time": None if at is None else START + at,
        "content": content,
        "status": more.pop("status", "finished_successfully"),
        "metadata": more.pop("metadata", {}),
        "recipient": more.pop("recipient", "all"),
    }
    return {"id": id, "parent": parent, "message": message, "children": more.pop("children", [])}


def thoughts(id: str, parent: str, *told: tuple[str, str], **more: Any) -> dict[str, Any]:
    inside = [
        {"summary": summary, "content": words, "chunks": [], "finished": True} for summary, words in told
    ]
    return node(id, parent, content={"content_type": "thoughts", "thoughts": inside}, **more)


def recap(id: str, parent: str, words: str = "Thought for 33s", **metadata: Any) -> dict[str, Any]:
    return node(id, parent, content={"content_type": "reasoning_recap", "content": words}, metadata=metadata)


def conversation(*nodes: dict[str, Any], head: str = "", **more: Any) -> dict[str, Any]:
    mapping = {
        each["id"]: each for each in ({"id": "root", "message": None, "parent": None, "children": []}, *nodes)
    }
    for each in nodes:
        if each["parent"] in mapping and each["id"] not in mapping[each["parent"]]["children"]:
            mapping[each["parent"]]["children"].append(each["id"])
    told = {"title": "Bergen", "create_time": START, "update_time": START + 60, "mapping": mapping}
    return (
        told
        | {"current_node": head or nodes[-1]["id"], "conversation_id": "abc", "default_model_slug": "gpt-5"}
        | more
    )


def export(*conversations: dict[str, Any]) -> bytes:
    return json.dumps(conversations).encode()


ASKED = node("u", "root", "user", text="Where?")
EXACT = {
    "reasoning_start_time": START + 1.25,
    "reasoning_end_time": START + 24.706,
    "finished_duration_sec": 23,
}


def rows(conversation) -> list[Message]:
    return list(conversation.messages.order_by("order"))


def items(message) -> list[tuple[str, str]]:
    return list(message.items.order_by("seq").values_list("kind", "text"))


def test_a_chain_of_nodes_is_one_answer_with_its_thought_and_its_time(alice):
    (copy,) = came(
        alice,
        export(
            conversation(
                ASKED,
                node("s", "u", "system", at=1),
                thoughts("t", "s", ("Looking", "At a map."), at=2, metadata={"finished_duration_sec": 23}),
                recap("r", "t", **EXACT),
                node(
                    "a",
                    "r",
                    text="In Norway.",
                    at=25,
                    metadata={"model_slug": "gpt-5-thinking", "finished_duration_sec": 23},
                ),
            )
        ),
    )
    question, answer = rows(copy)
    assert items(question) == [("user_message", "Where?")]
    assert items(answer) == [("reasoning", "**Looking**\n\nAt a map."), ("assistant_message", "In Norway.")]
    assert Recorded(answer.metadata).thoughts == {"part-0": 23_456}
    assert (answer.model, copy.title, copy.head) == ("gpt-5-thinking", "Bergen", answer)
    assert copy.created_at.timestamp() == START and answer.created_at.timestamp() == START + 2
    assert list(store.verify_log()) == []
    assert ImportedConversation.objects.get().source == "abc"


@pytest.mark.parametrize(
    ("metadata", "ms", "exact"),
    [
        (EXACT, 23_456, [1, 0, 0]),
        ({"finished_duration_sec": 33}, 33_000, [0, 1, 0]),
        ({"finished_duration_sec": 0}, 0, [0, 1, 0]),
        (
            {"reasoning_start_time": START + 9, "reasoning_end_time": START, "finished_duration_sec": 4},
            4000,
            [0, 1, 0],
        ),
        ({"finished_duration_sec": -5}, None, [0, 0, 1]),
        ({"finished_duration_sec": "33"}, None, [0, 0, 1]),
        ({"finished_duration_sec": True}, None, [0, 0, 1]),
        ({"finished_duration_sec": 1e300}, None, [0, 0, 1]),
        ({"reasoning_start_time": "x", "reasoning_end_time": None}, None, [0, 0, 1]),
        ({}, None, [0, 0, 1]),
    ],
)
def test_a_time_is_taken_where_it_can_be_right_and_never_from_the_words(alice, metadata, ms, exact):
    file = export(
        conversation(
            ASKED,
            thoughts("t", "u", ("", "Hm.")),
            recap("r", "t", "33 秒間思考しました", **metadata),
            node("a", "r", text="So."),
        )
    )
    row = checked(alice, file)
    assert row.files.get().report["thoughts"] == exact
    imports.cancel(row)
    (copy,) = came(alice, file)
    answer = rows(copy)[1]
    assert Recorded(answer.metadata).thoughts.get("part-0") == ms
    assert answer.metadata.get("whole_seconds", False) is (exact == [0, 1, 0])


def test_of_several_thoughts_before_one_recap_the_time_is_counted_once(alice):
    (copy,) = came(
        alice,
        export(
            conversation(
                ASKED,
                thoughts("t1", "u", ("", "One.")),
                node("c", "t1", recipient="python", content={"content_type": "code", "text": "1+1"}),
                node(
                    "o", "c", "tool", name="python", content={"content_type": "execution_output", "text": "2"}
                ),
                thoughts("t2", "o", ("", "Two.")),
                recap("r", "t2", finished_duration_sec=7),
                node("a", "r", text="2"),
            )
        ),
    )
    answer = rows(copy)[1]
    assert [kind for kind, _ in items(answer)] == [
        "reasoning",
        "tool_call",
        "tool_result",
        "reasoning",
        "assistant_message",
    ]
    assert sum(Recorded(answer.metadata).thoughts.values()) == 7000
    call, result = Item.objects.filter(call_id__gt="").order_by("seq")
    assert (call.name, call.text, result.text, result.call_id) == ("python", "1+1", "2", call.call_id)
    assert list(store.verify_log()) == []


def test_branches_come_in_the_order_of_their_parent_whatever_the_order_of_the_mapping(alice, bob):
    nodes = [
        ASKED | {"children": ["a1", "a2"]},
        node("a2", "u", text="Second."),
        node("a1", "u", text="First."),
        node("u2", "a1", "user", text="And?"),
    ]
    first = conversation(*nodes, head="a2")
    turned = first | {"mapping": dict(reversed(first["mapping"].items()))}
    told = []
    for owner, file in ((alice, export(first)), (bob, export(turned))):
        (copy,) = came(owner, file)
        told.append([[text for _, text in items(row)] for row in rows(copy)])
        assert items(copy.head) == [("assistant_message", "Second.")]
    assert told[0] == told[1] == [["Where?"], ["First."], ["And?"], ["Second."]]


def test_an_answer_that_forks_in_the_middle_loses_nothing(alice):
    (copy,) = came(
        alice,
        export(
            conversation(
                ASKED, thoughts("t", "u", ("", "Hm.")), node("a", "t", text="A."), node("b", "t", text="B.")
            )
        ),
    )
    assert [items(row) for row in rows(copy)[1:]] == [
        [("reasoning", "Hm.")],
        [("assistant_message", "A.")],
        [("assistant_message", "B.")],
    ]


def test_what_is_no_words_is_left_out_by_name(alice):
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
    asked = node(
        "u",
        "c",
        "user",
        content={"content_type": "multimodal_text", "parts": ["See.", picture]},
        metadata={"attachments": [{"name": "a.png"}, {"name": "b.pdf"}]},
    )
    context = node(
        "c", "root", "user", content={"content_type": "user_editable_context", "user_profile": "P"}
    )
    odd = node("x", "u", content={"content_type": "hologram"})
    file = export(conversation(context, asked, odd, node("a", "x", text="So.")))
    assert remarks(checked(alice, file)) == {"picture": 1, "file": 1, "system": 1, "unknown": 1}
    imports.cancel(uploads.open_import(alice))
    (copy,) = came(alice, file)
    assert [items(row) for row in rows(copy)] == [[("user_message", "See.")], [("assistant_message", "So.")]]


def test_how_an_answer_ended_is_kept(alice):
    stopped = node("a", "u", text="So", metadata={"finish_details": {"type": "interrupted"}})
    (copy,) = came(alice, export(conversation(ASKED, stopped)))
    assert rows(copy)[1].status == "stopped"


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ([ASKED, node("a", "gone", text="So.")], {"orphan": 1, "no question": 1, "roots": 2}),
        (
            [ASKED, node("a", "b", text="A."), node("b", "a", text="B.")],
            {"loop": 1, "no question": 1, "roots": 2},
        ),
        ([node("a", "root", text="Hello.")], {"no question": 1}),
    ],
)
def test_a_bad_tree_is_mended(alice, nodes, told):
    file = export(conversation(*nodes))
    assert remarks(checked(alice, file)) == told
    imports.cancel(uploads.open_import(alice))
    came(alice, file)
    assert list(store.verify_log()) == []


def test_a_conversation_without_messages_is_told_and_the_others_come(alice):
    bare = {"title": "Bare", "conversation_id": "x", "current_node": None}
    row = checked(alice, export(bare, conversation(ASKED, node("a", "u", text="So."))))
    assert remarks(row) == {"empty": 1} and row.found.count() == 1


WRONG = {
    "the mapping": conversation(ASKED) | {"mapping": []},
    "a node": conversation(ASKED) | {"mapping": {"a": 7, "b": None, "c": []}},
    "a message": conversation(ASKED | {"message": "x"}),
    "children": conversation(ASKED | {"children": 7}),
    "an author": conversation(ASKED | {"message": {"author": 7, "content": [], "metadata": "x"}}),
    "parts": conversation(node("u", "root", "user", content={"content_type": "text", "parts": {"a": 1}})),
    "thoughts": conversation(ASKED, node("t", "u", content={"content_type": "thoughts", "thoughts": "x"})),
    "moments": conversation(ASKED, create_time=[], update_time={}),
    "names": conversation(ASKED, title=7, conversation_id=[], current_node={}, default_model_slug=1),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_types_break_nothing(alice, what):
    row = checked(alice, export(WRONG[what], conversation(ASKED, node("a", "u", text="So."))))
    assert problems(row) == [] and row.found.exists()
    imports.start(row, skips_known=True)
    from .bringing import worked

    worked(row)
    assert list(store.verify_log()) == []
