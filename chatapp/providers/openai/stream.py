"""Reads one streamed response. Only finished items count; what comes before them is for the eye."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ...core import events, verbatim
from ...core.items import ITEM_CAP, Item, KeyMaker, Kind, clean
from ...core.values import count_in, fields, rows, word
from ..base import Ask, ProviderError, Trouble
from ..refusals import trouble_error
from .namespaces import name_of_call
from .refusals import failure
from .wishes import speaks_it

KINDS = {"reasoning": Kind.REASONING, "message": Kind.ASSISTANT_MESSAGE, "function_call": Kind.TOOL_CALL}
REFUSAL = "response.refusal.delta"
# Which items these events add to, and the field that counts the item's parts.
DELTAS = {
    "response.reasoning_summary_text.delta": (Kind.REASONING, "summary_index"),
    "response.reasoning_text.delta": (Kind.REASONING, "content_index"),
    "response.output_text.delta": (Kind.ASSISTANT_MESSAGE, "content_index"),
    REFUSAL: (Kind.ASSISTANT_MESSAGE, "content_index"),
    "response.function_call_arguments.delta": (Kind.TOOL_CALL, ""),
}
BETWEEN_PARTS = "\n\n"
# A repeated event follows close behind the first one.
REMEMBERED = 256

# The item's number in the output; servers that do not count are told apart by the item's id.
Place = int | str


@dataclass(slots=True)
class _Piece:
    """An item that has begun."""

    key: str
    kind: Kind
    name: str
    call_id: str
    text: list[str] = field(default_factory=list)
    size: int = 0
    part: tuple[str, Any] | None = None
    half: str = ""
    # Of what another item of this response was called too: nobody sees it before it says something else.
    twin: str = ""

    def whole(self, words: str) -> str:
        """One character may come in two halves, each escaped in an event of its own."""
        words = self.half + words
        self.half = words[-1:] if "\ud800" <= words[-1:] <= "\udbff" else ""
        return clean(words[: len(words) - len(self.half)])

    def add(self, text: str, part: tuple[str, Any]) -> str:
        """What this adds to the text on the page: parts of a thought stand apart."""
        if self.kind is Kind.REASONING and self.text and part != self.part:
            text = BETWEEN_PARTS + text
        self.part = part
        self.text.append(text)
        self.size += len(text)
        return text


class ResponsesParser:
    def __init__(self, ask: Ask, keys: KeyMaker) -> None:
        self._ask, self._keys = ask, keys
        self._label = ask.who
        self._open: dict[Place, _Piece] = {}
        self._done: dict[Place, str] = {}
        self._recent: dict[int, tuple[int, str]] = {}
        # What was announced under each id, once it is finished.
        self._said: dict[str, Item | None] = {}
        self._counted = True
        self._called = self._ended = False

    def feed(self, event: str, data: str) -> list[events.Event]:
        if self._ended or not data.strip() or data.strip() == "[DONE]":
            return []
        said = _frame(data)
        if said is None:
            return [events.Skipped()]
        if self._repeated(said.get("sequence_number"), data):
            return []
        name = word(said.get("type")) or event or ("error" if "error" in said else "")
        if name in DELTAS:
            return self._delta(name, said)
        match name:
            case "response.output_item.added":
                return self._begin(said)
            case "response.output_item.done":
                item = fields(said.get("item"))
                return self._finish(self._place(said, item), item)
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._end(name.rpartition(".")[2], fields(said.get("response")))
            case "error":
                raise failure(self._label, said.get("error") or said)
            case _:
                return []

    def close(self) -> list[events.Event]:
        if not self._ended:
            raise trouble_error(Trouble.BROKEN, self._label, again=True)
        return []

    def _repeated(self, number: Any, data: str) -> bool:
        """True when this event was read before. Its number does not tell alone: some servers never count."""
        if not isinstance(number, int):
            return False
        place, said = number % REMEMBERED, (number, data)
        repeated = self._recent.get(place) == said
        self._recent[place] = said
        return repeated

    def _place(self, said: dict[str, Any], item: dict[str, Any]) -> Place:
        number = said.get("output_index")
        if isinstance(number, int):
            return number
        self._counted = False
        return word(said.get("item_id")) or _name_of(item)

    def _begin(self, said: dict[str, Any]) -> list[events.Event]:
        item = fields(said.get("item"))
        kind, place = KINDS.get(word(item.get("type"))), self._place(said, item)
        if kind is None or place in self._open or self._done.get(place) == _name_of(item):
            return []
        return self._start(place, kind, item)

    def _start(self, place: Place, kind: Kind, item: dict[str, Any]) -> list[events.Event]:
        is_call = kind is Kind.TOOL_CALL
        name = clean(name_of_call(item)) if is_call else ""
        call_id = clean(word(item.get("call_id"))) if is_call else ""
        piece = self._open[place] = _Piece("", kind, name, call_id)
        given = word(item.get("id"))
        if given and given in self._said:
            piece.twin = given
            return []
        self._said[given] = None
        return [self._show(piece, given)]

    def _show(self, piece: _Piece, item_id: str) -> events.ItemStarted:
        piece.key, piece.twin = self._keys.take(item_id), ""
        return events.ItemStarted(piece.key, piece.kind, piece.name, piece.call_id)

    def _is_like_the_first(self, piece: _Piece, words: str, at: int) -> bool:
        """Whether an item says at this place what the finished one of the same name says there."""
        first = self._said[piece.twin]
        if first is None or (first.kind, first.name, first.call_id) != (
            piece.kind,
            piece.name,
            piece.call_id,
        ):
            return False
        return first.text.startswith(words, at)

    def _delta(self, name: str, said: dict[str, Any]) -> list[events.Event]:
        kind, counter = DELTAS[name]
        piece = self._open.get(self._place(said, {}))
        if piece is None or piece.kind is not kind or not (text := piece.whole(word(said.get("delta")))):
            return []
        at, refuses = piece.size, name == REFUSAL
        text = piece.add(text, (name, said.get(counter)))
        if piece.size > ITEM_CAP:
            raise self._too_large()
        if not piece.twin:
            return [events.ItemDelta(piece.key, text, refuses)]
        if self._is_like_the_first(piece, text, at):
            return []
        return [self._show(piece, piece.twin), events.ItemDelta(piece.key, "".join(piece.text), refuses)]

    def _finish(self, place: Place, item: dict[str, Any]) -> list[events.Event]:
        kind = self._kind(item)
        if kind is None or (place not in self._open and self._done.get(place) == _name_of(item)):
            return []
        started = [] if place in self._open else self._start(place, kind, item)
        piece = self._open.pop(place)
        if piece.kind is not kind:
            raise self._garbage(item)
        self._done[place] = _name_of(item)
        done = self._item(piece, item)
        if piece.twin:
            first = self._said[piece.twin]
            if self._is_like_the_first(piece, done.text, 0) and first and first.text == done.text:
                return []
            started = [self._show(piece, piece.twin)]
            done = replace(done, key=piece.key)
        self._said[word(item.get("id"))] = done
        return [*started, events.ItemDone(done)]

    def _kind(self, item: dict[str, Any]) -> Kind | None:
        """None for what cannot be kept. Items of an unknown type are kept as messages without words, so that they go back in their
        place; those that wait for an answer only where a program asks that knows them."""
        name = word(item.get("type"))
        if name in KINDS or not name:
            return KINDS.get(name)
        return Kind.ASSISTANT_MESSAGE if "call_id" not in item or speaks_it(self._ask) else None

    def _item(self, piece: _Piece, item: dict[str, Any]) -> Item:
        if piece.kind is Kind.TOOL_CALL:
            self._check_call(item)
            piece.name, piece.call_id = clean(name_of_call(item)), item["call_id"]
        text = clean(_text_of(item))
        if max(len(text.encode()), len(verbatim.encode(item))) > ITEM_CAP:
            raise self._too_large()
        return self._made(piece, text, wire=item)

    def _check_call(self, item: dict[str, Any]) -> None:
        """A call whose words are not words cannot be made, and could not be answered."""
        words = [item.get(which) for which in ("call_id", "name", "arguments")]
        if not all(isinstance(said, str) for said in words) or item["call_id"] != clean(item["call_id"]):
            raise self._garbage(item)
        self._called = True

    def _made(self, piece: _Piece, text: str, *, wire: Any = None, cut: bool = False) -> Item:
        model = self._ask.model
        return Item(
            key=piece.key,
            kind=piece.kind,
            text=text,
            wire=wire,
            provider=model.provider,
            dialect=model.dialect,
            model=model.name,
            round=self._ask.round,
            cut=cut,
            call_id=piece.call_id,
            name=piece.name,
        )

    def _end(self, status: str, response: dict[str, Any]) -> list[events.Event]:
        statuses = {status, word(response.get("status"))}
        if "failed" in statuses:
            raise failure(self._label, response.get("error"))
        made = [event for place, item in self._missed(response) for event in self._finish(place, item)]
        finish = self._finish_of(statuses, response)
        if finish not in (events.Finish.LENGTH, events.Finish.FILTER):
            self._check_calls_finished()
        made += [
            events.ItemDone(self._made(piece, "".join(piece.text), cut=True))
            for piece in self._open.values()
            if piece.key
        ]
        self._ended = True
        withheld = _withheld(response.get("input_transformations"))
        return [*made, *withheld, *_usage(response.get("usage")), events.ResponseEnded(finish)]

    def _missed(self, response: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
        """Items that only the closing event holds."""
        for number, item in enumerate(rows(response.get("output"))):
            place = number if self._counted else _name_of(item)
            if place in self._open or (place not in self._done and _name_of(item) not in self._done.values()):
                yield place, item

    def _check_calls_finished(self) -> None:
        if any(piece.kind is Kind.TOOL_CALL for piece in self._open.values()):
            raise self._garbage("a call that was never finished")

    def _finish_of(self, statuses: set[str], response: dict[str, Any]) -> events.Finish:
        if "incomplete" in statuses:
            reason = fields(response.get("incomplete_details")).get("reason")
            return events.Finish.FILTER if reason == "content_filter" else events.Finish.LENGTH
        return events.Finish.TOOL_CALLS if self._called else events.Finish.STOP

    def _garbage(self, raw: Any) -> ProviderError:
        return trouble_error(Trouble.GARBAGE, self._label, verbatim.dumps(raw))

    def _too_large(self) -> ProviderError:
        return trouble_error(Trouble.TOO_LARGE, self._label)


def _frame(data: str) -> dict[str, Any] | None:
    try:
        said = verbatim.loads(data)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def _name_of(item: dict[str, Any]) -> str:
    return word(item.get("id")) or word(item.get("call_id"))


def _text_of(item: dict[str, Any]) -> str:
    match item["type"]:
        case "reasoning":
            return _words_in(item.get("summary"), BETWEEN_PARTS) or _words_in(
                item.get("content"), BETWEEN_PARTS
            )
        case "message":
            return _words_in(item.get("content"), "")
        case "function_call":
            return word(item["arguments"])
        case _:
            return ""


def _words_in(parts: Any, between: str) -> str:
    words = (word(part.get("text")) or word(part.get("refusal")) for part in rows(parts))
    return between.join(filter(None, words))


def _withheld(transformations: Any) -> list[events.Event]:
    """Thoughts that the model was not shown although they were sent."""
    told = [told for told in rows(transformations) if told.get("action") == "removed"]
    reasons = [word(each.get("reason")) for each in told if each.get("type") == "reasoning"]
    return [events.Withheld.of(reasons)] if reasons else []


def _usage(usage: Any) -> list[events.Event]:
    if not isinstance(usage, dict):
        return []
    taken, given = (fields(usage.get(f"{way}_tokens_details")) for way in ("input", "output"))
    return [
        events.Usage(
            input=count_in(usage.get("input_tokens")),
            cached=count_in(taken.get("cached_tokens")),
            cache_written=count_in(taken.get("cache_write_tokens")),
            output=count_in(usage.get("output_tokens")),
            reasoning=count_in(given.get("reasoning_tokens")),
        )
    ]
