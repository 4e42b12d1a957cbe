"""The answer so far: a fold over the events of a running turn, with what each piece says and how long it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import events
from .durations import ReasoningClock, Span
from .items import FROM_MODEL, Item, Kind, clean


@dataclass(slots=True)
class DraftItem:
    key: str
    kind: Kind
    round: int = 0
    name: str = ""
    call_id: str = ""
    text: list[str] = field(default_factory=list)
    done: Item | None = None

    def said(self) -> str:
        """Everything so far; what was joined stays joined."""
        if len(self.text) > 1:
            self.text[:] = ["".join(self.text)]
        return clean(self.text[0]) if self.text else ""


class Draft:
    """`n` counts the events, `at` is the moment of the last one, in milliseconds from the start of the turn."""

    def __init__(self) -> None:
        self.n = 0
        self.at = 0.0
        self.round = 0
        self.ended: events.TurnEnded | None = None
        self.pieces: dict[str, DraftItem] = {}
        self.clock = ReasoningClock()
        # What was sent for the open round; whoever ends the turn keeps it with the rest.
        self.facts: dict[str, Any] | None = None
        # Why nothing comes at the moment, in words.
        self.waits = ""

    def apply(self, event: events.Event, at: float) -> None:
        self.n += 1
        self.at = max(self.at, at)
        self.clock.observe(event, self.at)
        match event:
            # The case of nearly all events stands first.
            case events.ItemDelta():
                self.pieces[event.key].text.append(event.text)
            case events.Asked():
                self.round, self.waits = event.round, ""
            case events.Retrying():
                self.waits = f"{event.sentence}."
                for key in event.lost:
                    self.pieces.pop(key, None)
            case events.Saving():
                self.waits = f"{event.sentence}."
            case events.Repaired():
                self.waits = event.sentence
            case events.ItemStarted():
                self.waits = ""
                self.pieces[event.key] = DraftItem(
                    event.key, event.kind, self.round, event.name, event.call_id
                )
            case events.ItemDone() | events.ItemAmended():
                self._finish(event.item)
            case events.ItemsStored():
                self.waits = ""
                for key in event.keys:
                    self.pieces.pop(key, None)
            case events.TurnEnded():
                self.ended, self.waits = event, ""
            case events.Usage() | events.Skipped() | events.Withheld() | events.ResponseEnded():
                pass

    def _finish(self, item: Item) -> None:
        piece = self.pieces.setdefault(item.key, DraftItem(item.key, item.kind))
        piece.done, piece.round = item, item.round
        piece.name, piece.call_id, piece.text = (
            item.name or piece.name,
            item.call_id or piece.call_id,
            [item.text],
        )

    def finished(self) -> list[Item]:
        """The finished items that no row holds yet, in the order in which they started."""
        return [piece.done for piece in self.pieces.values() if piece.done is not None]

    def durations(self, keys: list[str], at: float) -> dict[str, int]:
        """Milliseconds of the thoughts among these keys."""
        spans = ((key, self.clock.spans.get(key)) for key in keys)
        return {key: span.ms(at) for key, span in spans if span and span.kind is Kind.REASONING}

    def timings(self, keys: list[str], at: float) -> dict[str, dict[str, Any]]:
        """Start and end of these items."""
        return {key: self.clock.spans[key].as_timing(at) for key in keys if key in self.clock.spans}

    def cut(self) -> list[Item]:
        """What was seen of a round that will not be finished. It has no wire, so it never goes back as it is."""
        pieces = [
            piece for piece in self.pieces.values() if piece.kind in FROM_MODEL and _worth_keeping(piece)
        ]
        return [_as_item(piece, cut=True) for piece in pieces]

    def running_results(self) -> dict[str, str]:
        """The keys of results that tools are still at work on, by call id."""
        pieces = self.pieces.values()
        results = [piece for piece in pieces if piece.kind is Kind.TOOL_RESULT and piece.done is None]
        return {piece.call_id: piece.key for piece in results}

    def open_keys(self) -> list[str]:
        return [key for key, piece in self.pieces.items() if piece.done is None]

    def to_json(self, at: float) -> dict[str, Any]:
        shown = (piece for piece in self.pieces.values() if piece.kind in FROM_MODEL or piece.done is None)
        rows = [self._row(piece) for piece in shown]
        at = max(at, self.at)
        return {"n": self.n, "at": at, "pieces": rows, "facts": self._facts_so_far(), "waits": self.waits}

    def _facts_so_far(self) -> dict[str, Any] | None:
        """Of the open round, with what its end would add: a turn may be cut off here."""
        sign = self.clock.first_sign
        return (
            self.facts if self.facts is None or sign is None else self.facts | {"first_event_ms": round(sign)}
        )

    def _row(self, piece: DraftItem) -> dict[str, Any]:
        span = self.clock.spans.get(piece.key) or Span(piece.kind, self.at)
        row: dict[str, Any] = {"key": piece.key, "kind": piece.kind, "text": piece.said()}
        row |= {
            "start": span.start,
            "end": span.end,
            "inferred": span.inferred,
            "done": piece.done is not None,
        }
        return row | {"name": piece.name, "call_id": piece.call_id, "round": piece.round}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Draft:
        """A draft as it was saved: enough to show it and to cut it, not to go on with it."""
        draft = cls()
        draft.n, draft.at, draft.facts = saved["n"], saved["at"], saved.get("facts")
        draft.waits = saved.get("waits", "")
        for row in saved["pieces"]:
            kind = Kind(row["kind"])
            piece = DraftItem(row["key"], kind, row["round"], row["name"], row["call_id"], [row["text"]])
            if row["done"]:
                piece.done = _as_item(piece, cut=False)
            draft.pieces[piece.key] = piece
            draft.clock.spans[piece.key] = Span(kind, row["start"], row["end"], row["inferred"])
        return draft


def _worth_keeping(piece: DraftItem) -> bool:
    return piece.kind is not Kind.ASSISTANT_MESSAGE or bool(piece.said())


def _as_item(piece: DraftItem, *, cut: bool) -> Item:
    text = piece.said()
    return Item(
        key=piece.key,
        kind=piece.kind,
        text=text,
        name=piece.name,
        call_id=piece.call_id,
        round=piece.round,
        cut=cut,
    )
