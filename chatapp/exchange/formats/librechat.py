"""LibreChat's exported conversation: a list of messages that name their parents, or a tree of them. It knows no times of thoughts."""

from __future__ import annotations

import json as standard
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.items import Kind
from ...core.values import fields, rows, word
from ...store.models import Role, Status
from .chains import Bounded, NodePiece, ToldNode, as_messages
from .json_reader import JsonReader
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "librechat"
_NOBODY = "00000000-0000-0000-0000-000000000000"


def _read(json: JsonReader) -> Told:
    told = ToldConversation()
    yield told, _conversation(json, told)


def _conversation(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, found = Bounded(json), list[Any]()
    for name in json.members():
        match name:
            case "conversationId":
                told.id = word(json.value())
            case "title":
                told.title = word(json.value())
            case "options":
                told.note(Remark.SYSTEM, bool(word(fields(json.value()).get("promptPrefix"))))
            case "messages" | "messagesTree" if json.sign() == "[" and not found:
                found = bounded.nested("children")
            case _:
                pass
    told.came_from = {"source": {"name": NAME, "id": told.id}}
    yield from as_messages(list(_nodes(found, told)), told)


def _nodes(found: list[Any], of: ToldConversation) -> Iterator[ToldNode]:
    """Whatever hangs below a message in a tree names it as its parent too."""
    before = ""
    waiting = list(reversed(found))
    while waiting:
        message = fields(waiting.pop())
        children = rows(message.get("children"))
        waiting.extend(reversed(children))
        id = word(message.get("messageId")) or word(message.get("id"))
        if not id:
            of.note(Remark.UNKNOWN)
            continue
        parent = word(message.get("parentMessageId")) if "parentMessageId" in message else before
        user = message.get("isCreatedByUser") is True or word(message.get("sender")).casefold() == "user"
        failed, broken = message.get("error") is True, message.get("unfinished") is True
        yield ToldNode(
            id=id,
            parent=None if parent in ("", _NOBODY) else parent,
            role=Role.USER if user else Role.ASSISTANT,
            pieces=list(_pieces(message, of, user=user)),
            at=moment(message.get("createdAt")),
            model="" if user else word(message.get("model")),
            status="" if user else Status.FAILED if failed else Status.STOPPED if broken else "",
        )
        before = id


def _pieces(message: Mapping[str, Any], of: ToldConversation, *, user: bool) -> Iterator[NodePiece]:
    said = Kind.USER_MESSAGE if user else Kind.ASSISTANT_MESSAGE
    files = rows(message.get("files"))
    pictures = sum(word(file.get("type")).startswith("image") for file in files)
    of.note(Remark.PICTURE, pictures)
    of.note(Remark.FILE, len(files) - pictures)
    content = rows(message.get("content"))
    if not content and word(message.get("text")).strip():
        yield NodePiece(kind=said, text=word(message.get("text")))
    for part in content:
        match word(part.get("type")):
            case "text":
                if (words := _words(part.get("text"))).strip():
                    yield NodePiece(kind=said, text=words)
            case "think" if not user:
                yield NodePiece(kind=Kind.REASONING, text=_words(part.get("think")))
            case "tool_call" if not user:
                yield from _call(fields(part.get("tool_call")))
            case "image_url" | "image_file":
                of.note(Remark.PICTURE)
            case "error":
                pass
            case _:
                of.note(Remark.UNKNOWN)


def _words(text: Any) -> str:
    return word(text) or word(fields(text).get("value"))


def _call(call: Mapping[str, Any]) -> Iterator[NodePiece]:
    given = call.get("args", "")
    text = given if isinstance(given, str) else standard.dumps(given, ensure_ascii=False)
    name, id = word(call.get("name")), word(call.get("id"))
    yield NodePiece(kind=Kind.TOOL_CALL, text=text, name=name, call_id=id)
    if word(call.get("output")):
        yield NodePiece(kind=Kind.TOOL_RESULT, text=word(call.get("output")), call_id=id)


FILE_FORMAT = FileFormat(
    name=NAME,
    label="LibreChat",
    fits=lambda keys, is_list: (
        not is_list and "conversationId" in keys and bool(keys & {"messages", "messagesTree"})
    ),
    read=_read,
)
