"""assistant-ui's exported repository, or the rows in which its adapters store it. Where it was exported here it holds everything of each
message, which counts before what the format itself has words for."""

from __future__ import annotations

import json as standard
from collections.abc import Iterator, Mapping
from typing import Any

from ...core.items import Kind, Outcome
from ...core.values import fields, rows, word
from ...store.models import Role, Status
from .chains import Bounded, NodePiece, ToldNode, as_messages, seconds
from .json_reader import JsonReader
from .our_file import items_of
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "assistant-ui"
_STATUS = {"error": Status.FAILED, "cancelled": Status.STOPPED}


def _read(json: JsonReader) -> Told:
    told = ToldConversation()
    yield told, _conversation(json, told)


def _conversation(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, found = Bounded(json), list[Any]()
    if json.sign() == "[":
        found = _stored(json, bounded)
    else:
        for name in json.members():
            if name == "headId":
                told.head = word(json.value()) or None
            elif name == "messages" and json.sign() == "[":
                found = _stored(json, bounded)
    told.came_from = {"source": {"name": NAME, "id": ""}}
    wholes = [_whole(each, told) for each in found]
    if found and all(wholes):
        yield from (whole for whole in wholes if whole)
    else:
        yield from as_messages([node for each in found if (node := _node(each, told))], told)
    told.title = told.title or _first_words(found)


def _stored(json: JsonReader, bounded: Bounded) -> list[Any]:
    """As a repository has them. Rows come with the newest first."""
    found = [fields(bounded.value()) for _ in json.elements()]
    if not found or any("message" in each for each in found):
        return found
    first = word(found[0].get("parent_id"))
    newest_first = bool(first) and any(word(each.get("id")) == first for each in found)
    return [_of_row(each) for each in (reversed(found) if newest_first else found)]


def _of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    content = fields(row.get("content"))
    message = {"createdAt": row.get("created_at")} | content | {"id": row.get("id")}
    if "parts" in content:
        message["content"] = [_of_ui(part) for part in rows(content["parts"])]
    return {"parentId": row.get("parent_id"), "message": message}


def _of_ui(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a UI message of the AI SDK, as it is named in a thread."""
    kind = word(part.get("type"))
    if kind == "file":
        return {"type": "image" if word(part.get("mediaType")).startswith("image/") else "file"}
    if kind.startswith("source-"):
        return {"type": "source"}
    if kind != "dynamic-tool" and not kind.startswith("tool-"):
        return part
    failed = part.get("state") == "output-error"
    call = {
        "type": "tool-call",
        "toolCallId": part.get("toolCallId"),
        "toolName": part.get("toolName") or kind.removeprefix("tool-"),
        "args": part.get("input", {}),
        "isError": failed,
    }
    result = part.get("errorText") if failed else part.get("output")
    return call if result is None else call | {"result": result}


def _first_words(found: list[Any]) -> str:
    """The format has no titles."""
    asked = (fields(each.get("message")) for each in found)
    first = next((each for each in asked if each.get("role") == "user"), {})
    words = " ".join(word(part.get("text")) for part in rows(first.get("content")))
    return " ".join(words.split())[:60]


def _whole(each: Mapping[str, Any], of: ToldConversation) -> ToldMessage | None:
    """As it was exported here, if it was."""
    message = fields(each.get("message"))
    ours = fields(fields(fields(message.get("metadata")).get("custom")).get("thoughtline"))
    role = word(ours.get("role"))
    if role not in Role.values or role != message.get("role"):
        return None
    return ToldMessage(
        id=word(message.get("id")),
        parent=word(each.get("parentId")) or None,
        role=role,
        items=items_of(ours.get("items"), of),
        author=word(ours.get("author")),
        model=word(ours.get("model")),
        effort=word(ours.get("effort")),
        status=word(ours.get("status")),
        at=moment(ours.get("created_at")),
        recorded=fields(ours.get("recorded")),
    )


def _node(each: Mapping[str, Any], of: ToldConversation) -> ToldNode | None:
    message = fields(each.get("message"))
    id, role, parts = word(message.get("id")), word(message.get("role")), rows(message.get("content"))
    if not id:
        of.note(Remark.UNKNOWN)
        return None
    node = ToldNode(id=id, parent=word(each.get("parentId")) or None, role=None)
    node.at = moment(message.get("createdAt"))
    if role == "user":
        node.role = Role.USER
        words = "\n\n".join(word(part.get("text")) for part in parts if part.get("type") == "text")
        pictures = sum(part.get("type") == "image" for part in parts)
        of.note(Remark.PICTURE, pictures)
        others = sum(part.get("type") not in ("text", "image") for part in parts)
        of.note(Remark.FILE, others + len(rows(message.get("attachments"))))
        node.pieces = [NodePiece(kind=Kind.USER_MESSAGE, text=words)]
    elif role == "assistant":
        node.role, node.pieces = Role.ASSISTANT, list(_pieces(message, parts, of))
        status = fields(message.get("status"))
        if status.get("type") != "complete" and status:
            node.status = _STATUS.get(word(status.get("reason")), Status.INTERRUPTED)
    else:
        of.note(Remark.SYSTEM)
    return node


def _pieces(message: Mapping[str, Any], parts: list[Any], of: ToldConversation) -> Iterator[NodePiece]:
    custom = fields(fields(message.get("metadata")).get("custom"))
    durations = fields(custom.get("reasoningDurations"))
    # Places are counted with what says nothing, and without it.
    places = {"all": 0, "said": 0}
    for thought, part in _thoughts_joined(parts):
        kind = word(part.get("type"))
        if kind == "reasoning":
            ms = _duration(part, durations, places)
            yield NodePiece(kind=Kind.REASONING, text="\n\n".join(thought), ms=ms, is_whole=ms is not None)
        elif kind == "text" and word(part.get("text")).strip():
            yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=word(part.get("text")))
        elif kind == "tool-call":
            yield from _call(part)
        elif kind not in ("text", "step-start"):
            of.note(Remark.PICTURE if kind == "image" else Remark.UNKNOWN)
        for _ in thought or [""]:
            places["all"] += 1
            places["said"] += kind != "step-start" and (kind != "text" or bool(word(part.get("text"))))


def _thoughts_joined(parts: list[Any]) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """The summaries of one thought are a part each, of the same id, and took that long together."""
    at = 0
    while at < len(parts):
        part, thought = parts[at], list[str]()
        ids = _ids(part)
        while at < len(parts) and (parts[at] is part or (ids and _ids(parts[at]) == ids)):
            thought.append(word(parts[at].get("text")))
            at += 1
        yield thought if part.get("type") == "reasoning" else [], part


def _ids(part: Mapping[str, Any]) -> list[str]:
    """Of a thought, as its provider gave them."""
    if part.get("type") != "reasoning":
        return []
    given = [word(fields(each).get("itemId")) for each in fields(part.get("providerMetadata")).values()]
    return [id for id in given if id]


def _duration(part: Mapping[str, Any], durations: Mapping[str, Any], places: Mapping[str, int]) -> int | None:
    """By the id that its provider gave it, else by its place, in either way of counting."""
    names = _ids(part) or [f"part-{place}" for place in places.values()]
    return next((ms for name in names if (ms := seconds(durations.get(name))) is not None), None)


def _call(part: Mapping[str, Any]) -> Iterator[NodePiece]:
    given = word(part.get("argsText")) or standard.dumps(part.get("args", {}), ensure_ascii=False)
    name, call = word(part.get("toolName")), word(part.get("toolCallId"))
    yield NodePiece(kind=Kind.TOOL_CALL, text=given, name=name, call_id=call)
    if "result" in part:
        result = part["result"]
        gave = result if isinstance(result, str) else standard.dumps(result, ensure_ascii=False)
        outcome = Outcome.FAILED if part.get("isError") is True else Outcome.DONE
        yield NodePiece(kind=Kind.TOOL_RESULT, text=gave, call_id=call, outcome=outcome)


FILE_FORMAT = FileFormat(
    name=NAME,
    label="assistant-ui",
    fits=lambda keys, is_list: (
        keys >= {"parent_id", "format", "content"}
        if is_list
        else ("headId" in keys or keys == {"messages"}) and "conversationId" not in keys
    ),
    read=_read,
    wires=True,
)
