"""A session of Claude Code: a line for each message or block of it, with its parent and its moment. A thought took from the line before
it to its own."""

from __future__ import annotations

import json as standard
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ...core.items import Kind, Outcome
from ...core.values import fields, rows, word
from ...store.models import Role
from .chains import Bounded, NodePiece, ToldNode, as_messages, milliseconds
from .json_reader import JsonReader
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "claude-code"


def _read(json: JsonReader) -> Told:
    told = ToldConversation()
    yield told, _session(json, told)


def _session(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, lines = Bounded(json), list[dict[str, Any]]()
    for _ in json.values():
        line = fields(bounded.value())
        match word(line.get("type")):
            case "summary":
                told.title = told.title or word(line.get("summary"))
            case "user" | "assistant" if line.get("isSidechain") is True:
                told.note(Remark.SIDE)
            case "user" | "assistant":
                told.id = told.id or word(line.get("sessionId"))
                lines.append(line)
            case "system":
                # What it says of itself stands in the line of parents.
                lines.append(line)
            case _:
                pass
    moments = [at for line in lines if (at := moment(line.get("timestamp")))]
    if moments:
        told.moments |= {"created_at": min(moments), "updated_at": max(moments)}
    told.came_from = {"source": {"name": NAME, "id": told.id}}
    yield from as_messages(list(_nodes(lines, told)), told)


def _nodes(lines: list[dict[str, Any]], of: ToldConversation) -> Iterator[ToldNode]:
    known = {word(line.get("uuid")): line for line in reversed(lines)}
    for n, line in enumerate(lines):
        parent = word(line.get("parentUuid"))
        # What it followed may stand in another session.
        node = ToldNode(
            id=word(line.get("uuid")) or f"line {n}", parent=parent if parent in known else None, role=None
        )
        node.at = moment(line.get("timestamp"))
        before = moment(fields(known.get(parent)).get("timestamp"))
        message = fields(line.get("message"))
        if line.get("isMeta") is True:
            of.note(Remark.SYSTEM)
        elif line.get("type") == "assistant":
            node.model = word(message.get("model"))
            node.pieces = list(_of_model(message.get("content"), before, node.at, of))
            node.role = Role.ASSISTANT if node.pieces else None
        elif line.get("type") == "user":
            _told_by_user(node, message.get("content"), before, of)
        yield node


def _told_by_user(node: ToldNode, content: Any, before: datetime | None, of: ToldConversation) -> None:
    """Results are told by the user's side."""
    blocks = rows(content)
    results = [block for block in blocks if block.get("type") == "tool_result"]
    words = (
        content
        if isinstance(content, str)
        else "\n\n".join(word(block.get("text")) for block in blocks if block.get("type") == "text")
    )
    of.note(Remark.PICTURE, sum(block.get("type") == "image" for block in blocks))
    of.note(Remark.FILE, sum(block.get("type") == "document" for block in blocks))
    if results:
        node.role, node.pieces = Role.ASSISTANT, [_result(each, before, node.at) for each in results]
    elif words.strip():
        node.role, node.pieces = Role.USER, [NodePiece(kind=Kind.USER_MESSAGE, text=words)]


def _result(block: Mapping[str, Any], start: datetime | None, end: datetime | None) -> NodePiece:
    content = block.get("content")
    words = (
        content
        if isinstance(content, str)
        else "\n\n".join(filter(None, (word(part.get("text")) for part in rows(content))))
    )
    outcome = Outcome.FAILED if block.get("is_error") is True else Outcome.DONE
    call = word(block.get("tool_use_id"))
    return NodePiece(kind=Kind.TOOL_RESULT, text=words, call_id=call, outcome=outcome, start=start, end=end)


def _of_model(
    content: Any, start: datetime | None, end: datetime | None, of: ToldConversation
) -> Iterator[NodePiece]:
    if isinstance(content, str) and content.strip():
        yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=content, start=start, end=end)
    for block in rows(content):
        match word(block.get("type")):
            case "thinking":
                ms = milliseconds(start, end)
                yield NodePiece(
                    kind=Kind.REASONING, text=word(block.get("thinking")), ms=ms, start=start, end=end
                )
            case "redacted_thinking":
                yield NodePiece(kind=Kind.REASONING, ms=milliseconds(start, end), start=start, end=end)
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
            case _:
                of.note(Remark.UNKNOWN)
        # Several blocks on a line have its moment together: the first took the time.
        start = end


FILE_FORMAT = FileFormat(
    name=NAME,
    label="a session of Claude Code",
    fits=lambda keys, is_list: (
        not is_list
        and bool(keys & {"parentUuid", "isSidechain", "leafUuid"} or keys >= {"uuid", "sessionId"})
    ),
    read=_read,
)
