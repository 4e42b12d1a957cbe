"""One item of a chat completion while it grows: its words for people, and what goes into the log for its provider."""

from __future__ import annotations

from ...core.events import Event, ItemAmended, ItemDelta, ItemDone, ItemStarted
from ...core.items import ITEM_CAP, Item, Kind, clean
from ...core.values import Json, fields, word
from ...core.verbatim import encode
from ..base import Ask, Trouble
from ..refusals import trouble_error

# The pieces of OpenRouter's reasoning details that come bit by bit; everything else comes whole.
_BIT_BY_BIT = ("text", "summary", "data")
# The entry that a piece goes on with is one of the last.
NEAR = 16
# Where thoughts come as parts of the content, as Mistral's do.
PARTS = "parts"
REFUSAL = "refusal"


class GrowingWords:
    """`field` is where the words came on the wire. Words are cleaned as they come, so that what was streamed is what is stored."""

    def __init__(
        self, ask: Ask, key: str, kind: Kind, field: str = "", *, name: str = "", call_id: str = ""
    ) -> None:
        self.key, self.kind, self.field, self.name, self.call_id = key, kind, field, name, call_id
        self.finished = False
        self._ask = ask
        self._raw: list[str] = []
        self._shown: list[str] = []
        self._half = ""
        self._size = 0
        self._details: list[Json] = []
        self._call: Json = {}

    def started(self) -> ItemStarted:
        return ItemStarted(self.key, self.kind, self.name, self.call_id)

    def say(self, words: str, raw: str | None = None) -> list[Event]:
        raw = words if raw is None else raw
        self._raw.append(raw)
        self._weigh(len((raw or words).encode("utf-8", "surrogatepass")))
        words = self._half + words
        # One character may come in two halves, each escaped in a frame of its own.
        self._half = words[-1:] if "\ud800" <= words[-1:] <= "\udbff" else ""
        return self._show(words[: len(words) - len(self._half)])

    def _show(self, words: str) -> list[Event]:
        if not words:
            return []
        self._shown.append(clean(words))
        return [ItemDelta(self.key, self._shown[-1], self.field == REFUSAL)]

    def add_detail(self, detail: Json) -> None:
        """A piece of the entry of the same type and index, or a new entry."""
        entry = next((entry for entry in reversed(self._details[-NEAR:]) if _continues(detail, entry)), None)
        if entry is None:
            self._weigh(len(encode(detail)))
            self._details.append(dict(detail))
            return
        pieces = {
            name: value for name, value in detail.items() if name in _BIT_BY_BIT and isinstance(value, str)
        }
        for name, piece in pieces.items():
            self._weigh(len(piece))
            entry[name] = word(entry.get(name)) + piece
        _complete(entry, detail)

    def add_call_piece(self, piece: Json) -> list[Event]:
        """What came first stays, the arguments grow."""
        function = fields(piece.get("function"))
        _complete(
            self._call, {name: value for name, value in piece.items() if name not in ("index", "function")}
        )
        _complete(
            self._call.setdefault("function", {}),
            {name: value for name, value in function.items() if name != "arguments"},
        )
        self.name = self.name or clean(word(function.get("name")))
        arguments = function.get("arguments")
        if isinstance(arguments, dict | list):
            arguments = encode(arguments).decode()
        return self.say(arguments) if isinstance(arguments, str) and arguments else []

    def take_back(self) -> str:
        """All its words, which are another item's."""
        words = "".join(self._raw)
        self._raw, self._shown, self._half = [], [], ""
        return words

    def done(self) -> list[Event]:
        self.finished = True
        last, self._half = self._show(self._half), ""
        wire = self._wire()
        self._size = 0
        self._weigh(len(encode(wire)))
        return [*last, ItemDone(self._item(wire))]

    def amended(self) -> ItemAmended:
        """What came for it when it was finished."""
        return ItemAmended(self._item(self._wire()))

    def _item(self, wire: Json | None) -> Item:
        model = self._ask.model
        return Item(
            key=self.key,
            kind=self.kind,
            text="".join(self._shown),
            wire=wire,
            provider=model.provider,
            dialect=model.dialect,
            model=model.name,
            round=self._ask.round,
            call_id=self.call_id,
            name=self.name,
        )

    def _wire(self) -> Json | None:
        """None for a thought that proved to be none."""
        raw = "".join(self._raw)
        if self.kind is Kind.TOOL_CALL:
            return {**self._call, "function": {**self._call["function"], "arguments": raw}}
        words: Json = _in_field(self.field, raw) if self.field and raw else {}
        # A copy: what was said of an item does not change under those who heard it.
        details = {"reasoning_details": [dict(entry) for entry in self._details]} if self._details else {}
        return {**details, **words} or None

    def _weigh(self, size: int) -> None:
        self._size += size
        if self._size > ITEM_CAP:
            raise trouble_error(Trouble.TOO_LARGE, self._ask.who)


def _in_field(field: str, raw: str) -> Json:
    if field == PARTS:
        return {
            "content": [{"type": "thinking", "thinking": [{"type": "text", "text": raw}], "closed": True}]
        }
    return {field: raw}


def _continues(detail: Json, entry: Json) -> bool:
    same = all(detail.get(name) == entry.get(name) for name in ("type", "index"))
    return same and detail.get("index") is not None and detail.get("id") in (None, entry.get("id"))


def _complete(whole: Json, piece: Json) -> None:
    for name, value in piece.items():
        if not whole.get(name):
            whole[name] = value
