"""Writes a response as a message: blocks one after the other, streamed or whole."""

from __future__ import annotations

from typing import Any

from ....core.events import Event, Finish, Usage
from ....core.items import Kind
from ....core.values import Json
from ..asked import ProgramRequest
from ..door import Frame, HowEnded, Wrong
from ..handed import Handed
from ..in_turn import InTurn, ToldPiece
from .blocks import arguments, growth, is_redacted, opening, signature, whole
from .errors import error_body

FINISHES = {
    Finish.STOP: "end_turn",
    Finish.TOOL_CALLS: "tool_use",
    Finish.LENGTH: "max_tokens",
    Finish.CUT: "max_tokens",
    Finish.FILTER: "refusal",
    Finish.REFUSAL: "refusal",
    Finish.PAUSE: "pause_turn",
}
# Who asks for it takes arguments as they are written, whether they are JSON or not.
EAGER, EAGER_BETA = "eager_input_streaming", "fine-grained-tool-streaming"


class MessagesWriter:
    def __init__(self, asked: ProgramRequest, model: str, handed: Handed, at: int) -> None:
        self._handed, self._streams, self._eager = handed, asked.stream, _eager_tools(asked)
        self._hides = asked.wishes.hides_thoughts
        self._head: Json = {
            "id": handed.response("msg_"),
            "type": "message",
            "role": "assistant",
            "model": model,
        }
        self._line = InTurn(self)
        self._blocks = 0
        self._ended: HowEnded | None = None

    def begin(self) -> list[Frame]:
        message = self._message([], None, Usage())
        return [_frame("message_start", message=message)]

    def hear(self, event: Event) -> list[Frame]:
        return self._line.hear(event)

    def still_thinking(self) -> list[Frame]:
        return [_frame("ping")]

    def end(self, ended: HowEnded) -> list[Frame]:
        frames, self._ended = self._line.close(), ended
        delta = {"stop_reason": FINISHES[ended.finish], "stop_sequence": None}
        frames.append(_frame("message_delta", delta=delta, usage=usage_of(ended.usage)))
        return [*frames, _frame("message_stop")]

    def fail(self, wrong: Wrong) -> list[Frame]:
        return [Frame("error", error_body(wrong, ""))]

    def whole(self) -> dict[str, Any]:
        """Who hears it whole hears nothing of thoughts that were lost."""
        assert self._ended
        pieces = [piece for piece in self._line.told if self._streams or not piece.lost]
        blocks = [whole(piece, self._handed, hidden=self._hides) for piece in pieces]
        return self._message(blocks, FINISHES[self._ended.finish], self._ended.usage)

    def began(self, piece: ToldPiece) -> list[Frame]:
        block = opening(piece, self._handed)
        self._blocks += 1
        return [_frame("content_block_start", index=self._blocks - 1, content_block=block)]

    def grew(self, piece: ToldPiece, text: str) -> list[Frame]:
        waits = piece.kind is Kind.TOOL_CALL and piece.name not in self._eager
        is_hidden = piece.kind is Kind.REASONING and self._hides
        return [] if waits or is_hidden else [self._delta(growth(piece.kind, text))]

    def over(self, piece: ToldPiece) -> list[Frame]:
        return [*self._last(piece), _frame("content_block_stop", index=self._blocks - 1)]

    def _last(self, piece: ToldPiece) -> list[Frame]:
        match piece.kind:
            case Kind.REASONING if not is_redacted(piece):
                return [self._delta(signature(piece, self._handed, hidden=self._hides))]
            case Kind.TOOL_CALL if piece.name not in self._eager:
                return [self._delta(growth(piece.kind, arguments(piece)))]
            case _:
                return []

    def _delta(self, delta: Json) -> Frame:
        return _frame("content_block_delta", index=self._blocks - 1, delta=delta)

    def _message(self, blocks: list[Json], reason: str | None, usage: Usage) -> Json:
        end = {"stop_reason": reason, "stop_sequence": None, "usage": usage_of(usage)}
        return self._head | {"content": blocks} | end


def usage_of(usage: Usage) -> Json:
    """Here the cached tokens are not among the others. What was not told counts as none: the fields must be numbers."""
    cached, written = usage.cached or 0, usage.cache_written or 0
    told = {
        "input_tokens": max((usage.input or 0) - cached - written, 0),
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": usage.output or 0,
    }
    return told | {"output_tokens_details": {"thinking_tokens": usage.reasoning or 0}}


def _eager_tools(asked: ProgramRequest) -> frozenset[str]:
    every = any(beta.startswith(EAGER_BETA) for beta in asked.wishes.betas)
    return frozenset(tool.name for tool in asked.tools if every or (tool.wire or {}).get(EAGER) is True)


def _frame(event: str, **data: Any) -> Frame:
    return Frame(event, {"type": event, **data})
