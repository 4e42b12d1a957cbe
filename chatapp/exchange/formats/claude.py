"""Claude.ai's `conversations.json`: messages with their parents, each of blocks that know when they began and ended."""

from __future__ import annotations

import json as standard
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.items import Kind, Outcome
from ...core.values import fields, rows, word
from ...store.models import Role
from .chains import Bounded, NodePiece, ToldNode, as_messages, milliseconds
from .json_reader import JsonReader
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "claude"
# What a first message names as its parent.
_NOBODY = "00000000-0000-4000-8000-000000000000"


def _read(json: JsonReader) -> Told:
    if json.sign() == "{":
        told = ToldConversation()
        yield told, _conversation(json, told)
        return
    for _ in json.elements():
        told = ToldConversation()
        yield told, _conversation(json, told)


def _conversation(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, messages, model = Bounded(json), list[Any](), ""
    for name in json.members():
        match name:
            case "chat_messages" if json.sign() == "[":
                messages = [fields(bounded.value()) for _ in json.elements()]
            case "name" | "title":
                told.title = word(json.value())
            case "uuid":
                told.id = word(json.value())
            case "model":
                model = word(json.value())
            case "current_leaf_message_uuid":
                told.head = word(json.value()) or None
            case "created_at" | "updated_at":
                if at := moment(json.value()):
                    told.moments[name] = at
            case _:
                pass
    told.came_from = {"source": {"name": NAME, "id": told.id}}
    yield from as_messages(list(_nodes(messages, told, model)), told)


def _nodes(messages: list[Any], of: ToldConversation, model: str) -> Iterator[ToldNode]:
    """Older exports tell no parents: there each message follows the one before it."""
    before = ""
    for n, message in enumerate(messages):
        id = word(message.get("uuid")) or f"message {n}"
        parent = word(message.get("parent_message_uuid")) if "parent_message_uuid" in message else before
        human = word(message.get("sender")) == "human"
        pieces = [_of_user(message, of)] if human else list(_pieces(message, of))
        yield ToldNode(
            id=id,
            parent=None if parent in ("", _NOBODY) else parent,
            role=Role.USER if human else Role.ASSISTANT,
            pieces=pieces,
            at=moment(message.get("created_at")),
            model="" if human else word(message.get("model")) or model,
        )
        before = id


def _of_user(message: Mapping[str, Any], of: ToldConversation) -> NodePiece:
    """With the words of files that were taken out of them for the model."""
    blocks = [word(block.get("text")) for block in rows(message.get("content"))]
    words = ["\n\n".join(filter(None, blocks)) or word(message.get("text"))]
    for each in rows(message.get("attachments")):
        if text := word(each.get("extracted_content")):
            words.append(f"{word(each.get('file_name')) or 'File'}:\n\n{text}")
        else:
            of.note(Remark.FILE)
    taken = {word(each.get("file_name")) for each in rows(message.get("attachments"))}
    named = [each for each in rows(message.get("files")) if word(each.get("file_name")) not in taken]
    pictures = sum(word(each.get("file_kind")) == "image" for each in named)
    of.note(Remark.PICTURE, pictures)
    of.note(Remark.FILE, len(named) - pictures)
    return NodePiece(kind=Kind.USER_MESSAGE, text="\n\n".join(filter(str.strip, words)))


def _pieces(message: Mapping[str, Any], of: ToldConversation) -> Iterator[NodePiece]:
    blocks = rows(message.get("content"))
    if not blocks and word(message.get("text")).strip():
        yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=word(message.get("text")))
    for block in blocks:
        start, end = (moment(block.get(f"{which}_timestamp")) for which in ("start", "stop"))
        match word(block.get("type")):
            case "thinking" | "redacted_thinking":
                ms = milliseconds(start, end)
                of.note(Remark.DURATION, ms is None and start is not None and end is not None)
                yield NodePiece(
                    kind=Kind.REASONING, text=word(block.get("thinking")), ms=ms, start=start, end=end
                )
            case "text":
                if word(block.get("text")).strip():
                    yield NodePiece(
                        kind=Kind.ASSISTANT_MESSAGE, text=word(block.get("text")), start=start, end=end
                    )
            case "tool_use":
                given = standard.dumps(block.get("input", {}), ensure_ascii=False)
                name, call = word(block.get("name")), word(block.get("id"))
                yield NodePiece(
                    kind=Kind.TOOL_CALL, text=given, name=name, call_id=call, start=start, end=end
                )
            case "tool_result":
                outcome = Outcome.FAILED if block.get("is_error") is True else Outcome.DONE
                gave, call = _result(block.get("content"), of), word(block.get("tool_use_id"))
                yield NodePiece(
                    kind=Kind.TOOL_RESULT, text=gave, call_id=call, outcome=outcome, start=start, end=end
                )
            case "token_budget" | "flag":
                pass
            case _:
                of.note(Remark.UNKNOWN)


def _result(content: Any, of: ToldConversation) -> str:
    if isinstance(content, str):
        return content
    parts = rows(content)
    of.note(Remark.PICTURE, sum(word(part.get("type")) == "image" for part in parts))
    return "\n\n".join(filter(None, (word(part.get("text")) for part in parts)))


FILE_FORMAT = FileFormat(
    name=NAME, label="Claude", fits=lambda keys, is_list: "chat_messages" in keys, read=_read
)
