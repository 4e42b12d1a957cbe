"""assistant-ui, Open WebUI, LibreChat, and sessions of Claude Code and Codex, written after real files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chatapp import store
from chatapp.core.recorded import Recorded

from .bringing import came, checked, imports, remarks, uploads, worked
from .filled import filled, repository_of, told

pytestmark = pytest.mark.both


def rows(conversation):
    return list(conversation.messages.order_by("order"))


def items(message):
    return list(message.items.order_by("seq").values_list("kind", "text"))


def thoughts(message):
    return Recorded(message.metadata).thoughts


def exactness(owner, file: bytes) -> list[int]:
    row = checked(owner, file)
    (found,) = row.files.values_list("report", flat=True)
    imports.cancel(row)
    return found["thoughts"]


# assistant-ui


def part(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind} | more


def said(id: str, parent: str | None, role: str, *parts: dict[str, Any], **custom: Any) -> dict[str, Any]:
    status = (
        {"status": {"type": "complete", "reason": "stop"}} if role == "assistant" else {"attachments": []}
    )
    message = {
        "id": id,
        "role": role,
        "createdAt": "2026-11-18T08:00:00.000Z",
        "content": list(parts),
    } | status
    return {"parentId": parent, "message": message | {"metadata": {"custom": custom}}}


ASKED = said("u1", None, "user", part("text", text="How many primes below 30?"))
EXAMPLE = {
    "headId": "a1b",
    "messages": [
        ASKED,
        said(
            "a1a",
            "u1",
            "assistant",
            part("reasoning", text="List them.", providerMetadata={"openai": {"itemId": "rs_1"}}),
            part(
                "tool-call",
                toolCallId="c1",
                toolName="sieve",
                args={"n": 30},
                argsText='{"n":30}',
                result=[2, 3],
            ),
            part("reasoning", text="Count.", providerMetadata={"openai": {"itemId": "rs_2"}}),
            part("text", text="Ten."),
            reasoningDurations={"rs_1": 23, "rs_2": 2},
        ),
        said("a1b", "u1", "assistant", part("text", text="10")),
        said("u2", "a1a", "user", part("text", text="List?")),
    ],
}


def test_a_repository_of_assistant_ui_comes_with_its_branches_and_times(alice):
    file = json.dumps(EXAMPLE).encode()
    assert exactness(alice, file) == [0, 2, 0]
    (copy,) = came(alice, file)
    # Sound for the order of the tree: what follows a message stands behind it.
    first, answer, last, other = rows(copy)
    assert items(first) == [("user_message", "How many primes below 30?")]
    assert items(answer)[1:3] == [("tool_call", '{"n":30}'), ("tool_result", "[2, 3]")]
    assert sorted(thoughts(answer).values()) == [2000, 23_000] and answer.metadata["whole_seconds"]
    assert (last.parent, items(other), copy.head) == (answer, [("assistant_message", "10")], other)
    assert copy.title == "How many primes below 30?"
    assert list(store.verify_log()) == []


@pytest.mark.parametrize("key", ["part-3", "part-2"])
def test_places_are_read_in_both_ways_of_counting(alice, key):
    answer = said(
        "a",
        "u1",
        "assistant",
        part("step-start"),
        part("text", text="Hm"),
        part("step-start"),
        part("reasoning", text="So."),
        reasoningDurations={"part-1" if key == "part-2" else key: 5},
    )
    (copy,) = came(alice, json.dumps({"headId": None, "messages": [ASKED, answer]}).encode())
    assert list(thoughts(rows(copy)[1]).values()) == [5000]


def test_what_went_out_from_here_comes_again_whole(alice, bob):
    source = filled(alice)
    (copy,) = came(bob, json.dumps(repository_of(source)).encode())
    before, after = told(source)["messages"], told(copy)["messages"]
    assert after == before
    assert list(store.verify_log()) == []


REPOSITORIES = {
    "no head": ({"messages": EXAMPLE["messages"]}, {}),
    "an unknown head": (EXAMPLE | {"headId": "x"}, {"head": 1}),
    "a head in the middle": (EXAMPLE | {"headId": "a1a"}, {}),
    "an orphan": (
        {"messages": [ASKED, said("x", "gone", "user", part("text", text="?"))]},
        {"orphan": 1, "roots": 2},
    ),
    "a loop": (
        {
            "messages": [
                ASKED,
                said("x", "y", "user", part("text", text="?")),
                said("y", "x", "assistant", part("text", text="!")),
            ]
        },
        {"loop": 1, "roots": 2},
    ),
    "twice": ({"messages": [ASKED, ASKED]}, {"twice": 1}),
    "two roots": ({"messages": [ASKED, said("n", None, "user", part("text", text="?"))]}, {"roots": 2}),
}


@pytest.mark.parametrize("what", REPOSITORIES)
def test_what_the_real_importer_throws_at_is_mended(alice, what):
    repository, repaired = REPOSITORIES[what]
    file = json.dumps(repository).encode()
    assert remarks(checked(alice, file)) == repaired
    imports.cancel(uploads.open_import(alice))
    (copy,) = came(alice, file)
    assert len(rows(copy)) == len({each["message"]["id"] for each in repository["messages"]})
    assert list(store.verify_log()) == []


def stored(id: str, parent: str | None, role: str, *parts: dict[str, Any], **custom: Any) -> dict[str, Any]:
    """As the adapter of the AI SDK keeps it."""
    content = {"role": role, "parts": list(parts), "metadata": {"custom": custom}}
    at = f"2026-11-18T08:0{len(id)}:00.000Z"
    return {"id": id, "parent_id": parent, "format": "ai-sdk/v6", "created_at": at, "content": content}


def summary(text: str, id: str = "rs_1") -> dict[str, Any]:
    return part("reasoning", text=text, state="done", providerMetadata={"openai": {"itemId": id}})


ROWS = [
    stored("u", None, "user", part("text", text="How many?"), part("file", mediaType="image/png")),
    stored(
        "a1",
        "u",
        "assistant",
        part("step-start"),
        summary("List them."),
        summary("All of them."),
        part("tool-sieve", toolCallId="c1", state="output-available", input={"n": 30}, output=[2, 3]),
        part("step-start"),
        part("tool-slow", toolCallId="c2", state="output-error", input={}, errorText="Too late."),
        part("reasoning", text="Count.", state="done"),
        part("text", text="Ten.", state="done"),
        reasoningDurations={"rs_1": 23, "part-6": 2},
    ),
    stored("a2", "u", "assistant", part("text", text="10")),
    stored("u2", "a1", "user", part("text", text="List?")),
]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("where", ["list", "messages"])
def test_rows_of_the_ai_sdks_adapter_come_with_one_time_for_all_summaries_of_a_thought(
    alice, newest_first, where
):
    found = ROWS[::-1] if newest_first else ROWS
    file = json.dumps(found if where == "list" else {"messages": found}).encode()
    assert exactness(alice, file) == [0, 2, 0]
    (copy,) = came(alice, file)
    first, answer, last, other = rows(copy)
    assert items(first) == [("user_message", "How many?")]
    assert items(answer) == [
        ("reasoning", "List them.\n\nAll of them."),
        ("tool_call", '{"n": 30}'),
        ("tool_result", "[2, 3]"),
        ("tool_call", "{}"),
        ("tool_result", "Too late."),
        ("reasoning", "Count."),
        ("assistant_message", "Ten."),
    ]
    assert [item.outcome for item in answer.items.filter(kind="tool_result").order_by("seq")] == [
        "done",
        "failed",
    ]
    assert sorted(thoughts(answer).values()) == [2000, 23_000]
    assert (last.parent, items(other)) == (answer, [("assistant_message", "10")])
    assert list(store.verify_log()) == []


# Open WebUI


def chat(*messages: dict[str, Any], head: str = "") -> bytes:
    history = {"currentId": head or messages[-1]["id"], "messages": {each["id"]: each for each in messages}}
    told = {
        "id": "c",
        "title": "Sums",
        "chat": {"title": "Sums", "history": history},
        "created_at": 1_700_000_000,
    }
    return json.dumps([told]).encode()


QUESTION = {
    "id": "u",
    "parentId": None,
    "childrenIds": ["a"],
    "role": "user",
    "content": "15 * 17?",
    "timestamp": 1_700_000_000,
}


def reply(**more: Any) -> dict[str, Any]:
    return {"id": "a", "parentId": "u", "role": "assistant", "model": "r1", "timestamp": 1_700_000_010} | more


OUTPUT = [
    {
        "type": "reasoning",
        "content": [{"type": "output_text", "text": "Hm."}],
        "started_at": 1_700_000_007.0,
        "ended_at": 1_700_000_010.0,
        "duration": 3,
    },
    {"type": "function_call", "call_id": "c1", "name": "sum", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "255"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "255"}]},
]


def test_open_webui_comes_piece_by_piece(alice):
    file = chat(QUESTION, reply(output=OUTPUT, content="ignored"))
    assert exactness(alice, file) == [0, 1, 0]
    (copy,) = came(alice, file)
    answer = rows(copy)[1]
    assert [kind for kind, _ in items(answer)] == [
        "reasoning",
        "tool_call",
        "tool_result",
        "assistant_message",
    ]
    assert (thoughts(answer), answer.model, copy.title) == ({"part-0": 3000}, "r1", "Sums")


def test_fractions_of_seconds_are_kept(alice):
    output = [OUTPUT[0] | {"started_at": 1_700_000_007.25, "ended_at": 1_700_000_010.5}]
    file = chat(QUESTION, reply(output=output))
    assert exactness(alice, file) == [1, 0, 0]
    (copy,) = came(alice, file)
    assert thoughts(rows(copy)[1]) == {"part-0": 3250}


def test_older_ones_have_their_thoughts_in_the_text(alice):
    told = "<summary>Thought for 3 seconds</summary>\n&gt; a &lt; b\n&gt; so\n"
    folded = f'<details type="reasoning" done="true" duration="3">\n{told}</details>\n255'
    (copy,) = came(alice, chat(QUESTION, reply(content=folded)))
    assert items(rows(copy)[1]) == [("reasoning", "a < b\nso"), ("assistant_message", "255")]
    assert thoughts(rows(copy)[1]) == {"part-0": 3000}


def test_a_fold_that_never_ends_is_text(alice):
    (copy,) = came(alice, chat(QUESTION, reply(content='<details type="reasoning"> Hm')))
    assert items(rows(copy)[1]) == [("assistant_message", '<details type="reasoning"> Hm')]


# LibreChat


def libre(id: str, parent: str, text: str, *, user: bool = False, **more: Any) -> dict[str, Any]:
    told = {"messageId": id, "parentMessageId": parent, "text": text, "isCreatedByUser": user}
    return told | {"createdAt": "2026-05-01T16:35:11.530Z"} | more


NOBODY = "00000000-0000-0000-0000-000000000000"


def libre_file(*messages: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"conversationId": "c", "title": "Venv"} | more | {"messages": list(messages)}).encode()


PARTS = [
    {"type": "think", "think": "Hm."},
    {"type": "tool_call", "tool_call": {"id": "t", "name": "sum", "args": "{}", "output": "2"}},
    {"type": "text", "text": "Two."},
]


def test_a_tree_of_librechat_may_be_as_deep_as_a_conversation_is_long(alice):
    most = 3000
    tree = b'{"conversationId":"c","title":"Deep","recursive":true,"messages":'
    for n in range(1, most + 1):
        message = libre(f"{n}", f"{n - 1}" if n > 1 else NOBODY, f"{n}", user=bool(n % 2), siblingIndex=0)
        tree += b"[" + json.dumps(message)[:-1].encode() + b',"children":'
    tree += b"[]" + b',"depth":1}]' * most + b"}"
    (copy,) = came(alice, tree)
    assert copy.messages.count() == most and copy.head.items.get().text == f"{most}"
    assert list(store.verify_log()) == []


def test_librechat_comes_flat_and_as_a_tree(alice, bob):
    asked, answer = libre("u", NOBODY, "1 + 1?", user=True), libre("a", "u", "", content=PARTS, model="gpt")
    other = libre("b", "u", "2", error=True)
    (flat,) = came(alice, libre_file(asked, answer, other, options={"promptPrefix": "Be brief."}))
    (tree,) = came(bob, libre_file(asked | {"children": [answer, other]}, recursive=True))
    for copy in (flat, tree):
        assert [items(row) for row in rows(copy)] == [
            [("user_message", "1 + 1?")],
            [("reasoning", "Hm."), ("tool_call", "{}"), ("tool_result", "2"), ("assistant_message", "Two.")],
            [("assistant_message", "2")],
        ]
        assert [row.status for row in rows(copy)] == ["complete", "complete", "failed"]
    assert exactness(alice, libre_file(asked, answer)) == [0, 0, 1]
    assert flat.instructions == ""


# Sessions


def lines(*values: dict[str, Any]) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


def line(
    uuid: str, parent: str | None, second: float, content: Any, role: str = "assistant", **more: Any
) -> dict[str, Any]:
    message = {"role": role, "content": content} | ({"model": "claude-x"} if role == "assistant" else {})
    told = {"parentUuid": parent, "isSidechain": False, "sessionId": "s1", "type": role, "uuid": uuid}
    return told | {"message": message, "timestamp": f"2026-03-04T05:06:{second:06.3f}Z"} | more


SESSION = lines(
    {"type": "summary", "summary": "Fix the test", "leafUuid": "4"},
    line("1", None, 1, "Fix it.", "user"),
    line("2", "1", 3.5, [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]),
    line("3", "2", 4, [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]),
    line("4", "3", 5, [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}], "user"),
    line("5", "4", 7, [{"type": "text", "text": "Done."}]),
    line("s", "2", 6, "Aside.", "user", isSidechain=True),
    line("m", "5", 8, "<command>", "user", isMeta=True),
    {"type": "file-history-snapshot"},
)


def test_a_session_of_claude_code_is_a_question_and_an_answer(alice):
    assert remarks(checked(alice, SESSION)) == {"side": 1, "system": 1}
    imports.cancel(uploads.open_import(alice))
    (copy,) = came(alice, SESSION)
    question, answer = rows(copy)
    assert items(question) == [("user_message", "Fix it.")]
    assert items(answer) == [
        ("reasoning", "Hm."),
        ("tool_call", '{"command": "ls"}'),
        ("tool_result", "a.py"),
        ("assistant_message", "Done."),
    ]
    assert (thoughts(answer), answer.model, copy.title) == ({"part-0": 2500}, "claude-x", "Fix the test")
    assert list(store.verify_log()) == []


def item(second: float, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-04T05:06:{second:06.3f}Z", "type": "response_item", "payload": payload}


NEWER = lines(
    {
        "timestamp": "2026-03-04T05:06:00Z",
        "type": "session_meta",
        "payload": {"id": "s2", "instructions": "Obey."},
    },
    item(1, type="message", role="user", content=[{"type": "input_text", "text": "<environment_context>…"}]),
    item(2, type="message", role="user", content=[{"type": "input_text", "text": "Look around."}]),
    {"timestamp": "2026-03-04T05:06:02.5Z", "type": "turn_context", "payload": {"model": "gpt-5-codex"}},
    item(4, type="reasoning", summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="gAAA"),
    item(5, type="function_call", name="shell", arguments="{}", call_id="c"),
    item(6, type="function_call_output", call_id="c", output="a.py"),
    item(7, type="message", role="assistant", content=[{"type": "output_text", "text": "One file."}]),
)
OLDER = lines(
    {"id": "s3", "timestamp": "2025-08-11T18:18:33.034Z", "instructions": None},
    {"record_type": "state"},
    {
        "type": "message",
        "id": None,
        "role": "user",
        "content": [{"type": "input_text", "text": "Look around."}],
    },
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
)


@pytest.mark.parametrize(("file", "ms"), [(NEWER, {"part-0": 1500}), (OLDER, {})])
def test_a_session_of_codex_is_a_question_and_an_answer(alice, file, ms):
    (copy,) = came(alice, file)
    question, answer = rows(copy)
    assert items(question) == [("user_message", "Look around.")]
    assert items(answer)[0] == ("reasoning", "Hm.") and items(answer)[-1] == (
        "assistant_message",
        "One file.",
    )
    assert thoughts(answer) == ms
    assert all(row.wire is None for row in answer.items.all())
    assert list(store.verify_log()) == []


WRONG = [
    {"headId": [], "messages": [7, {}, {"message": {"id": "x", "role": "user", "content": "y"}}]},
    [{"chat": {"history": {"messages": {"a": 7, "b": {"role": "assistant", "output": [{}, 7]}}}}}],
    {
        "conversationId": 7,
        "messages": [7, {"messageId": "a", "content": [7, {"type": "tool_call"}], "children": 7}],
    },
    {
        "parentUuid": None,
        "type": "assistant",
        "uuid": 7,
        "message": {"content": [{"type": "tool_use", "input": 7}]},
    },
    {"timestamp": "x", "payload": {"type": "function_call", "arguments": 7}, "type": "response_item"},
]


@pytest.mark.parametrize("value", WRONG)
def test_wrong_types_break_nothing(alice, value):
    row = checked(alice, json.dumps(value).encode())
    if row.found.exists():
        imports.start(row, skips_known=True)
        assert worked(row).state == "came"
    assert list(store.verify_log()) == []
