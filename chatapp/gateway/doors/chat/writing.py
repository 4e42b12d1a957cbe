"""Writes a response as a chat completion, in chunks or whole. Calls come one after the other, since clients take one for finished when the
next begins; no word waits for a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.events import Event, Finish, Usage
from ....core.items import Item, Kind
from ....core.values import Json, fields, rows
from ..asked import ProgramRequest
from ..door import Frame, HowEnded, Wrong
from ..handed import Handed
from ..in_turn import InTurn, ToldPiece
from ..refusing import REFUSAL
from .answers import DETAILS, THOUGHTS
from .errors import error_body
from .reading import wants_usage
from .tools import DIALECT, is_legacy

DONE = Frame("", "[DONE]")
CHUNK, WHOLE = "chat.completion.chunk", "chat.completion"
FINISHES = {
    Finish.STOP: "stop",
    Finish.TOOL_CALLS: "tool_calls",
    Finish.LENGTH: "length",
    Finish.CUT: "length",
    Finish.FILTER: "content_filter",
    Finish.REFUSAL: "content_filter",
    Finish.PAUSE: "stop",
}
CONTENT = ("content",)
REFUSES = (REFUSAL,)
SIGNED = "extra_content"


class ChatWriter:
    def __init__(self, asked: ProgramRequest, model: str, handed: Handed, at: int) -> None:
        self._handed, self._streams = handed, asked.stream
        self._head: Json = {"id": handed.response("chatcmpl-"), "created": at, "model": model}
        self._usage: Json = {"usage": None} if wants_usage(asked.body) else {}
        self._legacy = is_legacy(asked.body)
        self._line = InTurn(self, apart=True)
        self._calls: dict[ToldPiece, int] = {}
        self._ended: HowEnded | None = None

    def begin(self) -> list[Frame]:
        return [self._delta({"role": "assistant", "content": None})]

    def hear(self, event: Event) -> list[Frame]:
        return self._line.hear(event)

    def still_thinking(self) -> list[Frame]:
        return [self._delta({})]

    def end(self, ended: HowEnded) -> list[Frame]:
        frames, self._ended = self._line.close(), ended
        if details := _details(self._line.told):
            frames.append(self._delta({DETAILS: details}))
        frames.append(self._delta({}, self._finish(ended)))
        if self._usage:
            frames.append(self._chunk([], {"usage": usage_of(ended.usage)}))
        return [*frames, DONE]

    def fail(self, wrong: Wrong) -> list[Frame]:
        return [Frame("", error_body(wrong, "")), DONE]

    def whole(self) -> dict[str, Any]:
        assert self._ended
        finish = self._finish(self._ended)
        choice = {"index": 0, "message": self._message(), "logprobs": None, "finish_reason": finish}
        usage = usage_of(self._ended.usage)
        return self._head | {"object": WHOLE, "choices": [choice], "usage": usage}

    def began(self, piece: ToldPiece) -> list[Frame]:
        if piece.kind is Kind.TOOL_CALL:
            self._calls[piece] = len(self._calls)
            return self._call(piece, {"name": piece.name, "arguments": ""}, self._named(piece))
        before = [told for told in self._line.told if _fields(told) == _fields(piece) and told.told]
        return self.grew(piece, _joint(before[-1])) if before and piece.waiting else []

    def grew(self, piece: ToldPiece, text: str) -> list[Frame]:
        if piece.kind is Kind.TOOL_CALL:
            return self._call(piece, {"arguments": text}, {})
        return [self._delta(dict.fromkeys(_fields(piece), text))] if text else []

    def over(self, piece: ToldPiece) -> list[Frame]:
        signed = _signed(piece)
        return self._call(piece, {"arguments": ""}, signed) if signed and piece in self._calls else []

    def _call(self, piece: ToldPiece, function: Json, more: Json) -> list[Frame]:
        place = self._calls[piece]
        if self._legacy:
            # A message of the old form holds one call.
            return [] if place else [self._delta({"function_call": function})]
        return [self._delta({"tool_calls": [{"index": place, **more, "function": function}]})]

    def _named(self, piece: ToldPiece) -> Json:
        return {"id": self._handed.item("call_", piece.key), "type": "function"}

    def _delta(self, delta: Json, finish: str | None = None) -> Frame:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._chunk([choice], self._usage)

    def _chunk(self, choices: list[Json], more: Json) -> Frame:
        return Frame("", self._head | {"object": CHUNK, "choices": choices} | more)

    def _finish(self, ended: HowEnded) -> str:
        called = self._legacy and ended.finish is Finish.TOOL_CALLS
        return "function_call" if called else FINISHES[ended.finish]

    def _message(self) -> Json:
        """Who hears it whole hears nothing of thoughts that were lost."""
        pieces = [piece for piece in self._line.told if self._streams or not piece.lost]
        message: Json = {"role": "assistant", "content": _said(CONTENT, pieces) or None}
        if thoughts := _said(THOUGHTS, pieces):
            message |= dict.fromkeys(THOUGHTS, thoughts)
        if details := _details(pieces):
            message[DETAILS] = details
        return message | self._whole_calls() | {REFUSAL: _said(REFUSES, pieces) or None}

    def _whole_calls(self) -> Json:
        calls = [
            {
                **self._named(piece),
                "function": {"name": piece.name, "arguments": piece.text},
                **_signed(piece),
            }
            for piece in self._calls
        ]
        if not calls:
            return {}
        return {"function_call": calls[0]["function"]} if self._legacy else {"tool_calls": calls}


def usage_of(usage: Usage) -> Json:
    prompt, completion = usage.input or 0, usage.output or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
    }


def _fields(piece: ToldPiece) -> tuple[str, ...]:
    """Thoughts have two names: one is DeepSeek's, the other vLLM's and OpenRouter's."""
    match piece.kind:
        case Kind.REASONING:
            return THOUGHTS
        case Kind.ASSISTANT_MESSAGE:
            return REFUSES if piece.refuses else CONTENT
        case _:
            return ()


def _said(fields: tuple[str, ...], pieces: Sequence[ToldPiece]) -> str:
    said = [piece for piece in pieces if _fields(piece) == fields and piece.told]
    joints = ["", *map(_joint, said)]
    return "".join(joint + piece.text for joint, piece in zip(joints, said, strict=False))


def _joint(before: ToldPiece) -> str:
    """What came in one message is joined as it came; separate messages of another wire are paragraphs."""
    return "" if before.item and before.item.dialect == DIALECT else "\n\n"


def _wire(item: Item | None) -> Json:
    """What a model of this dialect wants back with it."""
    return fields(item.wire) if item and item.dialect == DIALECT else {}


def _signed(piece: ToldPiece) -> Json:
    wire = _wire(piece.item)
    return {SIGNED: wire[SIGNED]} if wire.get(SIGNED) else {}


def _details(pieces: Sequence[ToldPiece]) -> list[Json]:
    """They go out once, when nothing is added to them any more. Numbered: clients join those of one number, and refuse those of none."""
    wires = (_wire(piece.amended or piece.item) for piece in pieces if not piece.lost)
    found = [row for wire in wires for row in rows(wire.get(DETAILS))]
    return [row | {"index": place} for place, row in enumerate(found)]
