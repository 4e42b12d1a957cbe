"""Open WebUI's exported chats: a history of messages, answers with their output piece by piece, or, in older ones, with thoughts folded
into their text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.items import Kind
from ...core.values import fields, rows, word
from ...store.models import Role, Status
from .chains import Bounded, NodePiece, ToldNode, as_messages, milliseconds, seconds
from .json_reader import JsonReader
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "open-webui"
_OPENS, _CLOSES = '<details type="reasoning"', "</details>"
_DURATION = re.compile(r'duration="(\d{1,9})"')


def _read(json: JsonReader) -> Told:
    if json.sign() == "{":
        told = ToldConversation()
        yield told, _conversation(json, told)
        return
    for _ in json.elements():
        told = ToldConversation()
        yield told, _conversation(json, told)


def _conversation(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, messages = Bounded(json), dict[str, Any]()
    for name in json.members():
        match name:
            case "chat" if json.sign() == "{":
                for inner in json.members():
                    if inner == "history" and json.sign() == "{":
                        messages = _history(json, bounded, told)
                    elif inner == "title":
                        told.title = told.title or word(json.value())
            case "title":
                told.title = word(json.value())
            case "id":
                told.id = word(json.value())
            case "created_at" | "updated_at":
                if at := moment(json.value()):
                    told.moments[name] = at
            case _:
                pass
    told.came_from = {"source": {"name": NAME, "id": told.id}}
    nodes = [_node(id, fields(each), told) for id, each in messages.items()]
    order = {
        id: [word(child) for child in _list(fields(each).get("childrenIds"))] for id, each in messages.items()
    }
    yield from as_messages(nodes, told, order)


def _history(json: JsonReader, bounded: Bounded, told: ToldConversation) -> dict[str, Any]:
    messages: dict[str, Any] = {}
    for name in json.members():
        if name == "currentId":
            told.head = word(json.value()) or None
        elif name == "messages" and json.sign() == "{":
            messages = {id: bounded.value() for id in json.members()}
    return messages


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _node(id: str, message: Mapping[str, Any], of: ToldConversation) -> ToldNode:
    node = ToldNode(id=id, parent=word(message.get("parentId")) or None, role=None)
    node.at, role = moment(message.get("timestamp")), word(message.get("role"))
    files = rows(message.get("files"))
    pictures = sum(word(file.get("type")) == "image" for file in files)
    of.note(Remark.PICTURE, pictures)
    of.note(Remark.FILE, len(files) - pictures)
    if role == "user":
        node.role = Role.USER
        node.pieces = [NodePiece(kind=Kind.USER_MESSAGE, text=word(message.get("content")))]
    elif role == "assistant":
        output = rows(message.get("output"))
        told = list(_pieces(output, of)) if output else list(_folded(word(message.get("content"))))
        node.role, node.pieces, node.model = Role.ASSISTANT, told, word(message.get("model"))
        if message.get("error"):
            node.status = Status.FAILED
    else:
        of.note(Remark.SYSTEM)
    return node


def _pieces(output: list[Any], of: ToldConversation) -> Iterator[NodePiece]:
    for item in output:
        match word(item.get("type")):
            case "reasoning":
                yield _thought(item)
            case "message":
                if (words := _words(item.get("content"))).strip():
                    yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=words)
            case "function_call":
                name, call = word(item.get("name")), word(item.get("call_id"))
                yield NodePiece(
                    kind=Kind.TOOL_CALL, text=word(item.get("arguments")), name=name, call_id=call
                )
            case "function_call_output":
                gave, call = _words(item.get("output")), word(item.get("call_id"))
                yield NodePiece(kind=Kind.TOOL_RESULT, text=gave, call_id=call)
            case _:
                of.note(Remark.UNKNOWN)


def _thought(item: Mapping[str, Any]) -> NodePiece:
    """Its moments are told with fractions; its duration is cut to whole seconds."""
    began, ended = item.get("started_at"), item.get("ended_at")
    start, end = moment(began), moment(ended)
    exact = any(isinstance(each, float) and not each.is_integer() for each in (began, ended))
    ms = milliseconds(start, end) if exact else None
    whole = seconds(item.get("duration")) if ms is None else None
    return NodePiece(
        kind=Kind.REASONING,
        text=_words(item.get("content")) or _words(item.get("summary")),
        ms=whole if ms is None else ms,
        is_whole=ms is None,
        start=start if ms is not None else None,
        end=end,
    )


def _words(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    return "\n\n".join(filter(None, (word(part.get("text")) for part in rows(parts))))


def _folded(text: str) -> Iterator[NodePiece]:
    """Thoughts between tags, each line of them quoted."""
    at = 0
    while (begin := text.find(_OPENS, at)) >= 0:
        opened = text.find(">", begin)
        end = text.find(_CLOSES, opened)
        if opened < 0 or end < 0:
            break
        if before := text[at:begin].strip():
            yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=before)
        _, _, inside = text[opened + 1 : end].rpartition("</summary>")
        found = _DURATION.search(text, begin, min(opened, begin + 500))
        ms = seconds(int(found[1])) if found else None
        lines = (
            line.removeprefix(">").removeprefix(" ") for line in html.unescape(inside).strip().splitlines()
        )
        yield NodePiece(kind=Kind.REASONING, text="\n".join(lines), ms=ms, is_whole=True)
        at = end + len(_CLOSES)
    if rest := text[at:].strip():
        yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=rest)


FILE_FORMAT = FileFormat(name=NAME, label="Open WebUI", fits=lambda keys, is_list: "chat" in keys, read=_read)
