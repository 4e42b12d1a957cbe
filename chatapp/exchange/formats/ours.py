"""Our own format: what a conversation, a message and an item are called in it, and its schema, which is published."""

from __future__ import annotations

from typing import Any

from ...core.items import KEY_CAP, Kind, Outcome
from ...core.recorded import BY_PROGRAM, BY_PROGRAM_BEFORE, TOLD_ROUNDS
from ...store.models import Role, Status

FORMAT, VERSION = "thoughtline", 1
# What was recorded of a message and goes along. The rest of a message's metadata belongs to the turn that made it.
RECORDED = (
    "reasoning_durations_ms",
    "timings_ms",
    "elapsed_ms",
    "rounds",
    "gaps",
    "ended",
    "goes_on_at",
    "copied",
    "program",
    "whole_seconds",
    BY_PROGRAM,
    BY_PROGRAM_BEFORE,
    TOLD_ROUNDS,
)
# Of a conversation and a message, each as its row calls it; left out where it says nothing.
OF_CONVERSATION = ("title", "titled_by", "instructions", "tools", "program")
MOMENTS_OF_CONVERSATION = ("created_at", "updated_at", "pinned_at", "archived_at")
OF_MESSAGE = ("role", "model", "effort", "status")
OF_ITEM = (
    "key",
    "kind",
    "round",
    "cut",
    "text",
    "provider",
    "dialect",
    "model",
    "call_id",
    "name",
    "outcome",
)

_TEXT, _FLAG, _WHOLE = {"type": "string"}, {"type": "boolean"}, {"type": "integer", "minimum": 0}
_MOMENT = {"type": "string", "format": "date-time"}
_NUMBER = {"type": "integer", "minimum": 1, "description": "A message's number in this conversation."}


def _object(properties: dict[str, Any], *required: str, description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(required),
    }


_ITEM = _object(
    {
        "key": {"type": "string", "minLength": 1, "maxLength": KEY_CAP},
        "kind": {"enum": [kind.value for kind in Kind]},
        "round": _WHOLE | {"description": "Which response of the model it came with, from 0."},
        "cut": _FLAG | {"description": "It was not finished."},
        "text": _TEXT | {"description": "Its words; of a call its arguments, as the model wrote them."},
        "provider": _TEXT,
        "dialect": _TEXT | {"description": "Which protocol the wire speaks."},
        "model": _TEXT,
        "call_id": _TEXT,
        "name": _TEXT | {"description": "Of the tool that is called."},
        "outcome": {"enum": ["", *(outcome.value for outcome in Outcome)]},
        "wire": {"description": "What the provider sent, value for value. Absent where nothing is kept."},
    },
    "key",
    "kind",
    description="A finished piece of a message. What is absent is 0, false or empty.",
)
_MESSAGE = _object(
    {
        "id": _NUMBER,
        "parent": {
            "anyOf": [_NUMBER, {"type": "null"}],
            "description": "null: the conversation begins with it.",
        },
        "role": {"enum": Role.values},
        "author": _TEXT | {"description": "Who wrote it, in words."},
        "model": _TEXT | {"description": "provider:model"},
        "effort": _TEXT,
        "status": {"enum": Status.values, "description": "Absent: complete."},
        "created_at": _MOMENT,
        "sent_from": _NUMBER | {"description": "Of an answer: from which message on the branch was sent."},
        "recorded": {
            "type": "object",
            "description": "reasoning_durations_ms: an item's key to whole milliseconds of thinking. timings_ms: an item's key to "
            "its start and end, from the start of the turn. rounds: for each response its model, tokens and what was sent for it.",
            "properties": {
                "reasoning_durations_ms": {"type": "object", "additionalProperties": _WHOLE},
                "timings_ms": {
                    "type": "object",
                    "additionalProperties": _object(
                        {"start": _WHOLE, "end": _WHOLE}, "start", "end", description="In milliseconds."
                    ),
                },
                "whole_seconds": _FLAG | {"description": "No more exactly are its times known."},
            },
        },
        "items": {"type": "array", "items": _ITEM},
    },
    "id",
    "parent",
    "role",
    "items",
    description="A question or an answer. A parent comes before what follows it; siblings stand in their order.",
)
_CONVERSATION = _object(
    {
        "title": _TEXT,
        "titled_by": _TEXT,
        "instructions": _TEXT,
        "tools": {
            "type": "array",
            "description": "What its models are offered, each with name, description and schema.",
        },
        "program": _TEXT | {"description": "What drove it, where that was a program."},
        **dict.fromkeys(MOMENTS_OF_CONVERSATION, _MOMENT),
        "head": _NUMBER | {"description": "The end of the branch that opens."},
        "forks": {
            "type": "object",
            "additionalProperties": _NUMBER,
            "description": "Where several follow a message (by its number; empty for the beginnings), the one that opens.",
        },
        "origin": {
            "type": "object",
            "description": "Of a fork: the title and owner of what it came from, in words.",
        },
        "source": {
            "type": "object",
            "description": "The other program that it was brought from: its name, and its id there.",
        },
        "messages": {"type": "array", "items": _MESSAGE},
    },
    "messages",
    description="A tree of messages.",
)
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": f"Thoughtline’s JSON, version {VERSION}",
    "description": "Conversations with every branch, item, wire, duration and timing. Ids are numbers of the file alone.",
    **_object(
        {
            "format": {"const": FORMAT},
            "version": {"const": VERSION},
            "made": {
                "type": "object",
                "description": "When and how much; says nothing of the conversations.",
            },
            "conversations": {"type": "array", "items": _CONVERSATION},
        },
        "format",
        "version",
        "conversations",
        description="Members may be added within a version; none changes its meaning.",
    ),
}
