"""Whatever there is much of in a file, it is read in proportion: nobody waits for somebody else's ten thousand calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.linear.files import read
from tests.linear.growth import too_steep

USED, GAVE = {"type": "tool_use", "input": {}}, {"type": "tool_result", "content": "x"}


def claude(*blocks: dict[str, Any]) -> bytes:
    asked = {"uuid": "u", "sender": "human", "text": "Why?"}
    message = {"uuid": "a", "sender": "assistant", "parent_message_uuid": "u", "content": list(blocks)}
    return json.dumps([{"name": "T", "chat_messages": [asked, message]}]).encode()


def calls_then_results(many: int) -> bytes:
    calls = [USED | {"id": f"{n}", "name": "t"} for n in range(many)]
    return claude(*calls, *[GAVE | {"tool_use_id": f"{n}"} for n in range(many)])


def results_without_a_name(many: int) -> bytes:
    return claude(*[USED | {"id": f"{n}"} for n in range(many)], *[GAVE] * many)


def results_of_nothing(many: int) -> bytes:
    return claude(*[USED | {"id": f"{n}"} for n in range(many)], *[GAVE | {"tool_use_id": "x"}] * many)


def chatgpt(parents: Iterator[tuple[int, int | None]]) -> bytes:
    def node(n: int, parent: int | None) -> dict[str, Any]:
        role = "assistant" if n % 2 else "user"
        content = {"content_type": "text", "parts": [f"{n}"]}
        told = {"author": {"role": role}, "content": content}
        return {"id": f"{n}", "parent": None if parent is None else f"{parent}", "message": told}

    return json.dumps(
        [{"title": "T", "mapping": {f"{n}": node(n, parent) for n, parent in parents}}]
    ).encode()


def folds(many: int) -> bytes:
    words = '<details type="reasoning" duration="3"><summary>x</summary>&gt; a</details> so ' * many
    messages = {"a": {"id": "a", "role": "assistant", "content": words}}
    return json.dumps([{"title": "T", "chat": {"history": {"messages": messages}}}]).encode()


def tree(many: int) -> bytes:
    begin = b'{"conversationId":"c","messages":'
    ends = b"[]" + b"}]" * many
    return (
        begin + b"".join(b'[{"messageId":"%d","text":"x","children":' % n for n in range(many)) + ends + b"}"
    )


def summaries(many: int) -> bytes:
    part = {"type": "reasoning", "text": "x", "providerMetadata": {"openai": {"itemId": "rs_1"}}}
    message = {"id": "a", "role": "assistant", "content": [part] * many}
    return json.dumps({"headId": None, "messages": [{"parentId": None, "message": message}]}).encode()


MUCH: dict[str, Callable[[int], bytes]] = {
    "calls, and then their results": calls_then_results,
    "results that name no call": results_without_a_name,
    "results of calls that nobody made": results_of_nothing,
    "a chain": lambda many: chatgpt((n, n - 1 if n else None) for n in range(many)),
    "a chain that stands there backwards": lambda many: chatgpt(
        (n, n - 1 if n else None) for n in reversed(range(many))
    ),
    "first questions": lambda many: chatgpt((n, None) for n in range(many)),
    "a loop": lambda many: chatgpt((n, (n + 1) % many) for n in range(many)),
    "answers to one question": lambda many: chatgpt((n, 0 if n else None) for n in range(many)),
    "thoughts folded into a text": folds,
    "a tree": tree,
    "summaries of a thought": summaries,
}


@pytest.mark.parametrize("what", MUCH)
def test_much_of_it_is_read_in_proportion(what):
    assert not too_steep(lambda text: read(MUCH[what](len(text) // 8)), lambda size: "x" * size)
