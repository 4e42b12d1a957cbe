"""How text gets into files that somebody brings, and out of those that they take along."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice

from chatapp.core.items import Item, Kind
from chatapp.exchange.formats.growing_tree import GrowingTree
from chatapp.exchange.formats.json_reader import Broken, JsonReader
from chatapp.exchange.formats.known import FORMATS
from chatapp.exchange.formats.shape import ToldConversation
from chatapp.exchange.formats.sound import made_sound
from chatapp.exchange.out.as_json import as_told
from chatapp.exchange.out.as_markdown import Told, _message
from chatapp.store.models import Message, Role

PIECE = 64 * 1024


def read(data: bytes) -> None:
    """As every format has it."""
    for each in FORMATS:
        json_reader = JsonReader(_pieces(data))
        with suppress(Broken):
            for told, messages in each.read(json_reader):
                for message in messages:
                    made_sound(message, told, wires=each.wires)


def _pieces(data: bytes) -> Iterator[bytes]:
    return (data[at : at + PIECE] for at in range(0, len(data), PIECE))


def _walked(text: str) -> None:
    for begin in ("", '"', '{"a":', "[[", '{"conversations":[{"messages":[{"items":["'):
        for how in (JsonReader.skip, JsonReader.value):
            with suppress(Broken):
                how(JsonReader(_pieces((begin + text).encode(errors="replace"))))
        read((begin + text).encode(errors="replace"))


def _ours(text: str) -> bytes:
    wire = {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}
    kinds = zip(Kind, ("responses", "chat", "messages", "demo", "responses", "chat"), strict=True)
    items = [
        {"key": kind, "kind": kind, "text": text, "wire": wire, "dialect": dialect} for kind, dialect in kinds
    ]
    messages = [
        {"id": n, "parent": n - 1 or None, "role": role, "items": items, "created_at": text, "author": text}
        for n, role in enumerate(("user", "assistant"), 1)
    ]
    conversation = {"title": text, "instructions": text, "created_at": text, "messages": messages}
    return _as_file({"conversations": [conversation]})


def _chatgpt(text: str) -> bytes:
    contents = (
        {"content_type": "text", "parts": [text]},
        {"content_type": "thoughts", "thoughts": [{"summary": text, "content": text}]},
        {"content_type": "code", "text": text},
    )
    mapping = {
        f"{role} {n}": {
            "parent": text,
            "message": {"author": {"role": role}, "content": content, "recipient": text, "create_time": text},
        }
        for role in ("user", "assistant", "tool")
        for n, content in enumerate(contents)
    }
    return _as_file([{"title": text, "current_node": text, "mapping": mapping}])


def _claude(text: str) -> bytes:
    blocks = [
        {"type": "text", "text": text},
        {"type": "thinking", "thinking": text, "start_timestamp": text},
        {"type": "tool_use", "name": text, "id": text, "input": {"a": text}},
        {"type": "tool_result", "content": text, "tool_use_id": text},
    ]
    messages = [{"uuid": sender, "sender": sender, "content": blocks} for sender in ("human", "assistant")]
    return _as_file([{"name": text, "chat_messages": messages}])


def _others(text: str) -> Iterator[bytes]:
    """The other programs' files, with this text wherever they have words."""
    parts = [
        {"type": kind, "text": text, "think": text, "toolName": text}
        for kind in ("text", "reasoning", "think")
    ]
    message = {
        "id": "a",
        "role": "assistant",
        "content": parts,
        "metadata": {"custom": {"reasoningDurations": {text: 1}}},
    }
    yield _as_file({"headId": text, "messages": [{"parentId": text, "message": message}]})
    folded = {"role": "assistant", "content": f'<details type="reasoning" {text}>{text}</details>{text}'}
    written = {"role": "assistant", "output": [{"type": "reasoning", "content": parts, "started_at": text}]}
    history = {"currentId": text, "messages": {"a": folded, "b": written}}
    yield _as_file([{"title": text, "chat": {"history": history}}])
    told = {"messageId": "a", "text": text, "content": parts, "parentMessageId": text, "createdAt": text}
    yield _as_file({"conversationId": text, "title": text, "messages": [told]})
    line = {"uuid": "a", "parentUuid": text, "type": "assistant", "timestamp": text}
    yield _as_file(line | {"message": {"content": [{"type": "thinking", "thinking": text}]}})
    yield _as_file(
        {
            "timestamp": text,
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": parts},
        }
    )


def _as_file(value: object) -> bytes:
    return json.dumps(value).encode()


def _out(text: str) -> None:
    items = [Item(key=f"part-{n}", kind=kind, text=text, name=text) for n, kind in enumerate(Kind)]
    for role in Role:
        row = Message(role=role, metadata={}, model=text[:300])
        _message(row, items, 1, Told(tools=True))
        as_told(row, items)


def _grown(text: str) -> None:
    tree = GrowingTree(ToldConversation(head=text, forks={text: text}))
    for n in range(9):
        tree.add(f"{text}{n}", f"{text}{n - 1}")
        tree.known_parent(f"{text}{n}")
    tree.head_in(tree.grown()[0])


def _read_other(n: int, text: str) -> None:
    read(next(islice(_others(text), n, None)))


FILE_ROADS: dict[str, Callable[[str], object]] = {
    "a file that is brought": _walked,
    "our own file": lambda text: read(_ours(text)),
    "a file of ChatGPT": lambda text: read(_chatgpt(text)),
    "a file of Claude": lambda text: read(_claude(text)),
    **{f"a file of another program, the {n}th": partial(_read_other, n) for n in range(5)},
    "a file that is taken along": _out,
    "exchange.formats.growing_tree.GrowingTree.add": _grown,
    "exchange.formats.growing_tree.GrowingTree.known_parent": _grown,
}
