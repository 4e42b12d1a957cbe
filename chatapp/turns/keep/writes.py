"""What a turn writes, as values: they can be carried out now, again, or by another process that reads them in a journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from ... import store
from ...core import verbatim
from ...core.draft import Draft
from ...core.items import Item, Kind
from ...store import Claim, Fenced, Measured, Seen
from ...store.models import Status

# Nothing is lost of a call that is begun, or of a turn that waits, when that is not written: it is found out again.
NOTED = ("append_round", "hand_over", "append_result", "finish", "give_up", "stop")
ENDS = ("finish", "give_up", "stop")


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """`name`: of the store's function. `whole`: False where a journal had no room for what was said, and only knows that it ended.
    `has_draft`: False where none can be stored when the turn ends."""

    name: str
    claim: Claim
    items: tuple[Item, ...] = ()
    measured: Measured = field(default_factory=Measured)
    seen: Seen | None = None
    status: str = ""
    ended: dict[str, Any] = field(default_factory=dict)
    by: str = ""
    whole: bool = True
    has_draft: bool = True

    @property
    def is_end(self) -> bool:
        return self.name in ENDS

    @property
    def bare(self) -> Write | None:
        """As little as tells that the turn has ended."""
        if not self.is_end:
            return None
        return replace(self, items=(), measured=Measured(), seen=None, ended={}, whole=False)

    def carry_out(self) -> bool:
        """False where a turn was to be stopped that had ended. Fenced where it has changed hands. What stands already is not
        written twice: whoever lost the connection while it was written finds it there."""
        try:
            return self._written()
        except Fenced:
            if self.name in ("finish", "give_up", "park", "hand_over") and store.has_ended(self.claim):
                return True
            raise
        except IntegrityError:
            if self.items and store.has_items(self.claim.message, {item.key for item in self.items}):
                return True
            raise

    def _written(self) -> bool:
        claim = self.claim
        if self.name == "stop":
            return store.stop(claim.message, self.seen, by=self.by, attempt=claim.attempt)
        if not self.whole:
            return store.interrupt(claim.message, attempt=claim.attempt)
        match self.name:
            case "append_round":
                store.append_round(claim, self.items, self.measured)
            case "hand_over":
                store.hand_over(claim, self.items, self.measured)
            case "append_result":
                store.append_result(claim, self.items[0], self.measured)
            case "begin_call":
                store.begin_call(claim, self.items[0])
            case "park":
                store.park(claim, self.items, self.measured)
            case "finish":
                store.finish(claim, self.items, self.measured, has_draft=self.has_draft)
            case "give_up":
                assert self.seen
                ended = Status(self.status), self.seen, self.measured, self.ended
                store.give_up(claim, *ended, has_draft=self.has_draft)
            case _:
                raise ValueError(f"Nothing is written by the name of {self.name}.")
        return True

    def to_text(self) -> str:
        """Pure ASCII."""
        seen = self.seen
        return verbatim.dumps(
            {
                "name": self.name,
                "message": str(self.claim.message),
                "attempt": self.claim.attempt,
                "items": [_item_saved(item) for item in self.items],
                "measured": asdict(self.measured),
                "seen": seen
                and {"attempt": seen.attempt, "at": seen.at, "draft": seen.draft.to_json(seen.at)},
                "status": self.status,
                "ended": self.ended,
                "by": self.by,
                "whole": self.whole,
                "has_draft": self.has_draft,
            }
        )

    @classmethod
    def from_text(cls, text: str) -> Write:
        """ValueError, TypeError or KeyError where it is none."""
        saved = verbatim.loads(text)
        seen = saved.pop("seen")
        claim = Claim(UUID(saved.pop("message")), saved.pop("attempt"))
        items = tuple(map(_item_read, saved.pop("items")))
        return cls(
            claim=claim,
            items=items,
            measured=Measured(**saved.pop("measured")),
            seen=seen and Seen(seen["attempt"], Draft.from_json(seen["draft"]), seen["at"]),
            **saved,
        )


def understood(texts: Iterable[str]) -> Iterator[Write]:
    """Those of the texts that are writes."""
    for text in texts:
        with suppress(ValueError, TypeError, KeyError):
            yield Write.from_text(text)


def _item_saved(item: Item) -> dict[str, Any]:
    """What its provider sent stays text, as it is in its column: it may be nested as deeply as anything that is read."""
    values = {f.name: getattr(item, f.name) for f in fields(item)}
    return values | {"wire": None if item.wire is None else verbatim.dumps(item.wire)}


def _item_read(saved: dict[str, Any]) -> Item:
    wire = saved["wire"]
    return Item(
        **saved | {"kind": Kind(saved["kind"]), "wire": None if wire is None else verbatim.loads(wire)}
    )
