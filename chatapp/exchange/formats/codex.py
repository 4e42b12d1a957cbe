"""A session of Codex: a line for each item of its responses. Newer ones put each into an envelope with its moment, and then a thought
took from the line before it to its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from ...core.items import Kind
from ...core.values import fields, rows, word
from ...store.models import Role
from .chains import Bounded, NodePiece, ToldNode, as_messages, milliseconds
from .json_reader import JsonReader
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "codex"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
# What the program tells its model in the role of its user.
_PROGRAMS_WORDS = ("<environment_context>", "<user_instructions>", "# AGENTS.md")


def _read(json: JsonReader) -> Told:
    told = ToldConversation()
    yield told, _session(json, told)


def _session(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, nodes, model = Bounded(json), list[ToldNode](), ""
    before: datetime | None = None
    for n, _ in enumerate(json.values()):
        line = fields(bounded.value())
        at, kind = moment(line.get("timestamp")), word(line.get("type"))
        payload = fields(line.get("payload")) if "payload" in line else line
        at = at or moment(payload.get("timestamp"))
        if kind in ("session_meta", "") and word(payload.get("id")):
            told.id = told.id or word(payload.get("id"))
            told.note(Remark.SYSTEM, bool(word(payload.get("instructions"))))
        elif kind == "turn_context":
            model = word(payload.get("model")) or model
        elif kind == "response_item" or "payload" not in line:
            node = _node(n, payload, before, at, told)
            if node:
                node.parent, node.model = (nodes[-1].id if nodes else None), model
                nodes.append(node)
        if at:
            told.moments.setdefault("created_at", at)
            told.moments["updated_at"] = before = at
    told.came_from = {"source": {"name": NAME, "id": told.id}}
    yield from as_messages(nodes, told)


def _node(
    n: int, item: Mapping[str, Any], start: datetime | None, end: datetime | None, of: ToldConversation
) -> ToldNode | None:
    node = ToldNode(id=f"line {n}", parent=None, role=Role.ASSISTANT, at=end)
    kind = word(item.get("type"))
    match kind:
        case "message" if item.get("role") == "user":
            words = _words(item.get("content"), of)
            if words.startswith(_PROGRAMS_WORDS) or not words.strip():
                of.note(Remark.SYSTEM)
                return None
            node.role, node.pieces = Role.USER, [NodePiece(kind=Kind.USER_MESSAGE, text=words)]
        case "message" if item.get("role") == "assistant":
            said = _words(item.get("content"), of)
            node.pieces = [NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=said, start=start, end=end)]
        case "message":
            of.note(Remark.SYSTEM)
            return None
        case "reasoning":
            told = _joined(item.get("summary")) or _joined(item.get("content"))
            ms = milliseconds(start, end)
            node.pieces = [NodePiece(kind=Kind.REASONING, text=told, ms=ms, start=start, end=end)]
        case _ if kind in _CALLS:
            node.pieces = [_call(item, start, end)]
        case _ if kind in _RESULTS:
            gave, call = _output(item.get("output")), word(item.get("call_id"))
            node.pieces = [NodePiece(kind=Kind.TOOL_RESULT, text=gave, call_id=call, start=start, end=end)]
        case _:
            of.note(Remark.UNKNOWN, bool(kind))
            return None
    return node


def _call(item: Mapping[str, Any], start: datetime | None, end: datetime | None) -> NodePiece:
    given = word(item.get("arguments")) or word(item.get("input"))
    if not given and (command := fields(item.get("action")).get("command")):
        given = " ".join(map(str, command)) if isinstance(command, list) else str(command)
    name, call = word(item.get("name")) or "shell", word(item.get("call_id"))
    return NodePiece(kind=Kind.TOOL_CALL, text=given, name=name, call_id=call, start=start, end=end)


def _output(output: Any) -> str:
    return output if isinstance(output, str) else _joined(output) or _joined(fields(output).get("content"))


def _words(content: Any, of: ToldConversation) -> str:
    if isinstance(content, str):
        return content
    of.note(Remark.PICTURE, sum(word(part.get("type")) == "input_image" for part in rows(content)))
    return _joined(content)


def _joined(parts: Any) -> str:
    return "\n\n".join(filter(None, (word(part.get("text")) for part in rows(parts))))


FILE_FORMAT = FileFormat(
    name=NAME,
    label="a session of Codex",
    fits=lambda keys, is_list: (
        not is_list and (keys >= {"type", "payload"} or keys >= {"id", "timestamp", "instructions"})
    ),
    read=_read,
)
