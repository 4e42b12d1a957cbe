"""ChatGPT's `conversations.json`: a mapping of nodes. How long it thought is told by the node of the recap alone; thoughts and answers
repeat the same number, and the recap's words are in the language of whoever saw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.items import Kind
from ...core.values import fields, rows, word
from ...store.models import Role, Status
from .chains import Bounded, NodePiece, ToldNode, as_messages, milliseconds, seconds
from .json_reader import JsonReader
from .shape import FileFormat, Remark, Told, ToldConversation, ToldMessage, moment

NAME = "chatgpt"
_STATUS = {"in_progress": Status.INTERRUPTED, "finished_partial_completion": Status.STOPPED}
_RESULTS = (
    "execution_output",
    "tether_quote",
    "tether_browsing_display",
    "system_error",
    "text",
    "multimodal_text",
)


def _read(json: JsonReader) -> Told:
    if json.sign() == "{":
        told = ToldConversation()
        yield told, _conversation(json, told)
        return
    for _ in json.elements():
        told = ToldConversation()
        yield told, _conversation(json, told)


def _conversation(json: JsonReader, told: ToldConversation) -> Iterator[ToldMessage]:
    bounded, mapping, default = Bounded(json), dict[str, Any](), ""
    for name in json.members():
        match name:
            case "mapping" if json.sign() == "{":
                for id in json.members():
                    mapping[id] = fields(bounded.value())
            case "title":
                told.title = word(json.value())
            case "conversation_id" | "id":
                told.id = word(json.value()) or told.id
            case "current_node":
                told.head = word(json.value()) or None
            case "default_model_slug":
                default = word(json.value())
            case "create_time" | "update_time":
                if at := moment(json.value()):
                    told.moments["created_at" if name == "create_time" else "updated_at"] = at
            case _:
                pass
    told.came_from = {"source": {"name": NAME, "id": told.id}}
    nodes = [_node(id, each, told, default) for id, each in mapping.items()]
    # A tie must not depend on the order of the mapping.
    order = {id: [word(child) for child in _list(each.get("children"))] for id, each in mapping.items()}
    yield from as_messages(nodes, told, order)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _node(id: str, each: Mapping[str, Any], of: ToldConversation, default: str) -> ToldNode:
    message = fields(each.get("message"))
    node = ToldNode(id=id, parent=word(each.get("parent")) or None, role=None)
    author, content = fields(message.get("author")), fields(message.get("content"))
    metadata = fields(message.get("metadata"))
    role, kind = word(author.get("role")), word(content.get("content_type"))
    node.at = moment(message.get("create_time"))
    if role == "system" or kind == "user_editable_context":
        of.note(Remark.SYSTEM, bool(_words(content, None) or kind == "user_editable_context"))
        return node
    node.model = word(metadata.get("model_slug"))
    if role == "user":
        words = _words(content, of)
        of.note(Remark.FILE, _other_files(metadata, content))
        hidden = metadata.get("is_visually_hidden_from_conversation") is True
        node.role = None if hidden and not words else Role.USER
        node.pieces = [NodePiece(kind=Kind.USER_MESSAGE, text=words)]
        return node
    node.model = node.model or default
    pieces = list(_pieces(message, role, kind, content, metadata, of))
    if pieces:
        node.role, node.pieces = Role.ASSISTANT, pieces
    finish = word(fields(metadata.get("finish_details")).get("type"))
    node.status = Status.STOPPED if finish == "interrupted" else _STATUS.get(word(message.get("status")), "")
    return node


def _pieces(
    message: Mapping[str, Any],
    role: str,
    kind: str,
    content: Mapping[str, Any],
    metadata: Mapping[str, Any],
    of: ToldConversation,
) -> Iterator[NodePiece]:
    recipient = word(message.get("recipient")) or "all"
    match kind:
        case "thoughts":
            if words := _thoughts(content) or _words(content, None):
                yield NodePiece(kind=Kind.REASONING, text=words)
        case "reasoning_recap":
            yield _recap(metadata)
        case _ if role == "tool" and kind in _RESULTS:
            yield NodePiece(kind=Kind.TOOL_RESULT, text=_words(content, of) or _text(content))
        case _ if role == "assistant" and recipient != "all":
            yield NodePiece(kind=Kind.TOOL_CALL, name=recipient, text=_words(content, of) or _text(content))
        case "text" | "multimodal_text" | "code":
            words = _words(content, of) or _text(content)
            yield from _timed(metadata, words)
        case _ if role == "assistant" or role == "tool":
            of.note(Remark.UNKNOWN)


def _timed(metadata: Mapping[str, Any], words: str) -> Iterator[NodePiece]:
    if words.strip():
        yield NodePiece(kind=Kind.ASSISTANT_MESSAGE, text=words)


def _recap(metadata: Mapping[str, Any]) -> NodePiece:
    start, end = (moment(metadata.get(f"reasoning_{which}_time")) for which in ("start", "end"))
    exact = milliseconds(start, end)
    whole = seconds(metadata.get("finished_duration_sec"))
    return NodePiece(kind=None, ms=whole if exact is None else exact, is_whole=exact is None)


def _thoughts(content: Mapping[str, Any]) -> str:
    told = []
    for thought in rows(content.get("thoughts")):
        summary, words = word(thought.get("summary")).strip(), word(thought.get("content")).strip()
        told.append("\n\n".join(filter(None, (f"**{summary}**" if summary else "", words))))
    return "\n\n".join(filter(None, told))


def _words(content: Mapping[str, Any], of: ToldConversation | None) -> str:
    """Of its parts; what is no words is counted where somebody counts."""
    words: list[str] = []
    for part in _list(content.get("parts")):
        if isinstance(part, str):
            words.append(part)
        elif text := word(fields(part).get("text")):
            words.append(text)
        elif of and isinstance(part, dict):
            image = word(part.get("content_type")) == "image_asset_pointer"
            of.note(Remark.PICTURE if image else Remark.FILE)
    return "\n\n".join(each for each in words if each.strip())


def _text(content: Mapping[str, Any]) -> str:
    return word(content.get("text")) or word(content.get("result"))


def _other_files(metadata: Mapping[str, Any], content: Mapping[str, Any]) -> int:
    """Those that are named and are no pictures of its parts."""
    pictures = sum(isinstance(part, dict) for part in _list(content.get("parts")))
    return max(0, len(_attached(metadata)) - pictures)


def _attached(metadata: Mapping[str, Any]) -> Sequence[Any]:
    return rows(metadata.get("attachments"))


FILE_FORMAT = FileFormat(
    name=NAME,
    label="ChatGPT",
    fits=lambda keys, is_list: "mapping" in keys or "current_node" in keys,
    read=_read,
)
