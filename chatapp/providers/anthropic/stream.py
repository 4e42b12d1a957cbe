"""Reads one streamed response of the Messages API: blocks that grow, each of which becomes one item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core import events
from ...core.items import ITEM_CAP, Item, KeyMaker, Kind, clean
from ...core.values import count_in, fields, rows, word
from ...core.verbatim import loads
from ..base import Ask, Trouble
from ..refusals import trouble_error
from .refusals import failure

KINDS = {
    "thinking": Kind.REASONING,
    "redacted_thinking": Kind.REASONING,
    "text": Kind.ASSISTANT_MESSAGE,
    "tool_use": Kind.TOOL_CALL,
}
# Which delta a block grows by, and the field that holds its words.
GROWTH = {
    "thinking": ("thinking_delta", "thinking"),
    "text": ("text_delta", "text"),
    "tool_use": ("input_json_delta", "partial_json"),
}
FINISHES = {
    "end_turn": events.Finish.STOP,
    "stop_sequence": events.Finish.STOP,
    "tool_use": events.Finish.TOOL_CALLS,
    "max_tokens": events.Finish.LENGTH,
    "model_context_window_exceeded": events.Finish.LENGTH,
    "pause_turn": events.Finish.PAUSE,
    "refusal": events.Finish.REFUSAL,
}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


class MessagesParser:
    """Blocks of other types (of tools on the provider's side, which nothing here asks for) become no item: they are
    neither shown nor sent back, and what stands around them stays as it came."""

    def __init__(self, ask: Ask, keys: KeyMaker) -> None:
        self._ask, self._keys = ask, keys
        self._label = ask.who
        self._open: dict[int, _Block] = {}
        self._tokens: dict[str, int] = {}
        self._reason = ""
        self._called = False
        self._ended = False

    def feed(self, event: str, data: str) -> list[events.Event]:
        if self._ended:
            return []
        if not data.strip():
            return []
        said = self._read(event, data)
        if said is None:
            return [events.Skipped()]
        match word(said.get("type")) or event:
            case "content_block_start":
                return self._start(_index(said), fields(said.get("content_block")), len(data))
            case "content_block_delta":
                return self._delta(self._open.get(_index(said)), fields(said.get("delta")), len(data))
            case "content_block_stop":
                return self._stop(_index(said))
            case "message_start":
                self._count(fields(said.get("message")))
                return _withheld(fields(said.get("message")).get("input_transformations"))
            case "message_delta":
                self._count(said)
                self._reason = word(fields(said.get("delta")).get("stop_reason")) or self._reason
            case "message_stop":
                return self._end()
            case "error":
                raise failure(self._label, data)
            case _:
                pass  # ping, and what is still to be invented
        return []

    def close(self) -> list[events.Event]:
        if self._ended:
            return []
        raise trouble_error(Trouble.BROKEN, self._label, again=True)

    def _read(self, event: str, data: str) -> dict[str, Any] | None:
        """None where nobody can read it."""
        try:
            said = loads(data)
        except ValueError:
            said = None
        if isinstance(said, dict) or event in ("ping", "error"):
            return fields(said)
        self._lose(self._open.values(), data)
        return None

    def _lose(self, blocks: Iterable[_Block], data: str) -> None:
        """Something could not be read. A text goes on, a thought never goes back, a call must not be made."""
        for block in blocks:
            if block.kind is Kind.TOOL_CALL:
                raise trouble_error(Trouble.GARBAGE, self._label, data, again=True)
            block.damaged = True

    def _start(self, index: int, first: dict[str, Any], size: int) -> list[events.Event]:
        before, kind = self._open.get(index), KINDS.get(word(first.get("type")))
        if before and (before.type, before.id) == (word(first.get("type")), word(first.get("id"))):
            return []
        made = self._stop(index)
        if kind is None:
            return made
        block = self._open[index] = _Block(kind, first)
        self._called = self._called or kind is Kind.TOOL_CALL
        self._weigh(block, size)
        return [*made, *self._say(block, block.opening())]

    def _delta(self, block: _Block | None, delta: dict[str, Any], size: int) -> list[events.Event]:
        if block is None:
            return []
        match delta:
            case {"type": "signature_delta", "signature": str(signature)}:
                block.signature = signature
            case {"type": "citations_delta", "citation": citation}:
                block.citations.append(citation)
            case _:
                return self._grow(block, delta)
        self._weigh(block, size)
        return []

    def _grow(self, block: _Block, delta: dict[str, Any]) -> list[events.Event]:
        type_, name = GROWTH.get(block.type, ("", ""))
        if delta.get("type") != type_:
            return []
        piece = delta.get(name)
        if not isinstance(piece, str):
            self._lose([block], "")
            return []
        self._weigh(block, len(piece.encode(errors="surrogatepass")))
        return self._say(block, piece)

    def _say(self, block: _Block, piece: str) -> list[events.Event]:
        shown = block.add(piece)
        if block.waits:
            return []
        started = [] if block.key else [self._begin(block)]
        return [*started, *_delta(block, shown)]

    def _begin(self, block: _Block) -> events.ItemStarted:
        block.key = self._keys.take(block.id)
        return events.ItemStarted(block.key, block.kind, block.name, block.call_id)

    def _weigh(self, block: _Block, size: int) -> None:
        block.size += size
        if block.size > ITEM_CAP:
            raise trouble_error(Trouble.TOO_LARGE, self._label)

    def _stop(self, index: int) -> list[events.Event]:
        block = self._open.pop(index, None)
        if block is None or block.waits:
            return []
        return [*_delta(block, block.rest()), events.ItemDone(self._item(block))]

    def _item(self, block: _Block) -> Item:
        model = self._ask.model
        return Item(
            key=block.key,
            kind=block.kind,
            text=clean(block.text),
            wire=block.wire(),
            provider=model.provider,
            dialect=model.dialect,
            model=model.name,
            round=self._ask.round,
            call_id=block.call_id,
            name=block.name,
        )

    def _count(self, said: dict[str, Any]) -> None:
        """Every report is the sum so far: the last one counts."""
        usage = fields(said.get("usage"))
        told = usage | fields(usage.get("output_tokens_details"))
        self._tokens |= {name: value for name, value in told.items() if count_in(value) is not None}

    def _end(self) -> list[events.Event]:
        made = [event for index in list(self._open) for event in self._stop(index)]
        self._ended = True
        otherwise = events.Finish.TOOL_CALLS if self._called else events.Finish.STOP
        return [*made, *_usage(self._tokens), events.ResponseEnded(FINISHES.get(self._reason, otherwise))]


@dataclass(slots=True)
class _Block:
    """A block while it comes. `first` is how it was announced; a later signature replaces an earlier one."""

    kind: Kind
    first: dict[str, Any]
    key: str = ""
    pieces: list[str] = field(default_factory=list)
    citations: list[Any] = field(default_factory=list)
    signature: str = ""
    blank: bool = True
    shown: int = 0
    held: str = ""
    size: int = 0
    damaged: bool = False

    @property
    def type(self) -> str:
        return word(self.first.get("type"))

    @property
    def id(self) -> str:
        return word(self.first.get("id"))

    @property
    def name(self) -> str:
        return clean(word(self.first.get("name"))) if self.kind is Kind.TOOL_CALL else ""

    @property
    def call_id(self) -> str:
        """The provider's where it can be kept as it is, else one that is unique in its message."""
        if self.kind is not Kind.TOOL_CALL:
            return ""
        return self.id if self.id.isascii() and self.id.isprintable() and self.id else self.key

    @property
    def waits(self) -> bool:
        """A text begins with its first words: one that stays blank is none, and could never be sent back."""
        return self.blank and self.kind is Kind.ASSISTANT_MESSAGE

    @property
    def text(self) -> str:
        text = "".join(self.pieces)
        return text or "{}" if self.kind is Kind.TOOL_CALL else text

    def opening(self) -> str:
        """What the announcement says already."""
        match self.first:
            case {"type": "tool_use", "input": dict(given)}:
                return json.dumps(given, ensure_ascii=False) if given else ""
            case _:
                _, name = GROWTH.get(self.type, ("", ""))
                return word(self.first.get(name))

    def add(self, piece: str) -> str:
        """What may be shown by now. Half of a character waits for its other half."""
        self.pieces.append(piece)
        self.blank = self.blank and not piece.strip()
        if self.waits:
            return ""
        said = self.held + "".join(self.pieces[self.shown :])
        self.held = said[-1:] if "\ud800" <= said[-1:] <= "\udbff" else ""
        self.shown = len(self.pieces)
        return clean(said.removesuffix(self.held))

    def rest(self) -> str:
        """What is still to be shown at the end: half a character, or the arguments of a call without any."""
        return "{}" if self.kind is Kind.TOOL_CALL and self.blank else clean(self.held)

    def wire(self) -> dict[str, Any] | None:
        """What goes back to its model; None where this may not be what the model wrote."""
        match self.type:
            case "thinking":
                # Open servers sign nothing. Whether an unsigned thought may go back, the contract says.
                signature = self.signature or word(self.first.get("signature"))
                wire = {**self.first, "thinking": self.text, "signature": signature}
                return wire if (signature or self.text) and not self.damaged else None
            case "redacted_thinking":
                return self.first if word(self.first.get("data")) and not self.damaged else None
            case "tool_use":
                sound = self.call_id == self.id and TOOL_NAME.fullmatch(self.name)
                return {**self.first, "input": arguments_object(self.text)} if sound else None
            case _:
                cited = {"citations": self.citations} if self.citations else {}
                return {**self.first, "text": self.text, **cited}


def arguments_object(text: str) -> dict[str, Any]:
    """The object that may go back: empty where the model wrote none, and without half characters, for which the API
    refuses a whole request."""
    try:
        value = loads(text)
        whole = loads(clean(json.dumps(value, ensure_ascii=False)))
    except ValueError:
        return {}
    return whole if isinstance(whole, dict) else {}


def _delta(block: _Block, shown: str) -> list[events.Event]:
    return [events.ItemDelta(block.key, shown)] if shown else []


def _withheld(transformations: object) -> list[events.Event]:
    """Thoughts that the model was not shown although they were sent."""
    told = [told for told in rows(transformations) if told.get("type") == "thinking_dropped"]
    reasons = [word(each.get("reason")) for each in told]
    return [events.Withheld.of(reasons)] if reasons else []


def _usage(tokens: Mapping[str, int]) -> list[events.Event]:
    if not tokens:
        return []
    cached, written = tokens.get("cache_read_input_tokens"), tokens.get("cache_creation_input_tokens")
    fresh = tokens.get("input_tokens")
    usage = events.Usage(
        input=None if fresh is None else fresh + (cached or 0) + (written or 0),
        cached=cached,
        cache_written=written,
        output=tokens.get("output_tokens"),
        reasoning=tokens.get("thinking_tokens"),
    )
    return [usage]


def _index(said: dict[str, Any]) -> int:
    index = said.get("index")
    return index if isinstance(index, int) else -1
