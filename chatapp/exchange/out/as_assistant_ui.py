"""A conversation as the repository of messages that assistant-ui takes (`ExportedMessageRepository`): parents first, with a leaf as head.
What it has no place for stands in `metadata.custom.thoughtline`, which others leave alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC
from itertools import islice
from math import ceil
from typing import Any
from uuid import UUID

from ...core import verbatim
from ...core.items import Item, Kind, Outcome
from ...core.recorded import Recorded
from ...core.values import fields, word
from ...store import load_items_of
from ...store.models import Message, Role, Status
from .as_json import as_told
from .chosen import Chosen

BATCH = 50
_STATUS = {
    Status.COMPLETE: {"type": "complete", "reason": "stop"},
    Status.FAILED: {"type": "incomplete", "reason": "error"},
    Status.INTERRUPTED: {"type": "incomplete", "reason": "other"},
}
# What runs is kept there as cancelled.
_CANCELLED = {"type": "incomplete", "reason": "cancelled"}


def as_assistant_ui(chosen: Chosen) -> Iterator[bytes]:
    names = {pk: f"m{number}" for number, pk in enumerate(chosen.messages, 1)}
    head = names.get(chosen.leaf) if chosen.leaf else None
    yield b'{"headId":' + verbatim.encode(head) + b',"messages":[\n'
    wanted, first = iter(_in_pre_order(chosen)), True
    while some := list(islice(wanted, BATCH)):
        rows, items = Message.objects.select_related("author").in_bulk(some), load_items_of(some)
        for pk in some:
            if pk not in rows:
                continue
            parent = chosen.parents[pk]
            told = {
                "parentId": names[parent] if parent else None,
                "message": _message(rows[pk], items[pk], names[pk]),
            }
            yield (b"" if first else b",\n") + verbatim.encode(told)
            first = False
    yield b"\n]}\n"


def _in_pre_order(chosen: Chosen) -> Iterator[UUID]:
    children: dict[UUID | None, list[UUID]] = {}
    for pk, parent in chosen.parents.items():
        children.setdefault(parent, []).append(pk)
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        at = waiting.pop()
        yield at
        waiting.extend(reversed(children.get(at, [])))


def _message(row: Message, items: Iterable[Item], name: str) -> dict[str, Any]:
    said = list(items)
    common = {"id": name, "role": row.role, "createdAt": row.created_at.astimezone(UTC).isoformat()}
    whole = {"thoughtline": as_told(row, said)}
    if row.role == Role.USER:
        words = [{"type": "text", "text": item.text} for item in said if item.kind is Kind.USER_MESSAGE]
        return common | {"content": words, "attachments": [], "metadata": {"custom": whole}}
    names = {item.key: _id_of(item, n) for n, item in enumerate(said)}
    durations = {
        names[key]: ceil(ms / 1000) for key, ms in Recorded(row.metadata).thoughts.items() if key in names
    }
    custom = ({"reasoningDurations": durations} if durations else {}) | whole
    metadata: dict[str, Any] = {
        "unstable_state": None,
        "unstable_annotations": [],
        "unstable_data": [],
        "steps": [],
    }
    return common | {
        "status": _STATUS.get(Status(row.status), _CANCELLED),
        "content": list(_parts(said, names)),
        "metadata": metadata | {"custom": custom},
    }


def _id_of(item: Item, number: int) -> str:
    """Never a place: those are counted in two ways there."""
    return f"thought-{number}" if item.key.startswith("part-") else item.key


def _parts(items: Iterable[Item], names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    said = list(items)
    results: dict[str, list[Item]] = {}
    for item in said:
        if item.kind is Kind.TOOL_RESULT:
            results.setdefault(item.call_id, []).append(item)
    for item in said:
        match item.kind:
            case Kind.REASONING:
                yield {
                    "type": "reasoning",
                    "text": item.text,
                    "providerMetadata": _names(item, names[item.key]),
                }
            case Kind.ASSISTANT_MESSAGE:
                yield {"type": "text", "text": item.text}
            case Kind.TOOL_CALL:
                yield _call(item, results.get(item.call_id, []))
            case Kind.USER_MESSAGE | Kind.PERMISSION_DECISION | Kind.TOOL_RESULT:
                pass


def _names(item: Item, name: str) -> dict[str, Any]:
    if item.dialect != "responses" or name != item.key:
        return {"thoughtline": {"itemId": name}}
    sealed = word(fields(item.wire).get("encrypted_content"))
    return {"openai": {"itemId": name} | ({"reasoningEncryptedContent": sealed} if sealed else {})}


def _call(call: Item, results: list[Item]) -> dict[str, Any]:
    try:
        arguments = fields(verbatim.loads(call.text))
    except ValueError:
        arguments = {}
    told: dict[str, Any] = {
        "type": "tool-call",
        "toolCallId": call.call_id or call.key,
        "toolName": call.name or "unknown",
        "args": arguments,
        "argsText": call.text,
    }
    if results:
        result = results.pop(0)
        told |= {"result": result.text, "isError": result.outcome not in ("", Outcome.DONE)}
    return told
