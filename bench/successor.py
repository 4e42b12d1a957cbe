"""Another process that answers in the place of a frozen one, through the store alone."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from uuid import UUID

from django.db import OperationalError, connection

from chatapp import store
from chatapp.core.history import NO_RESULT
from chatapp.core.items import Item, Kind, Outcome
from chatapp.store import Claim, Fenced, Measured
from chatapp.store.models import Message, Status

from .kill_plan import NOTHING_LEFT, plan

NAME = "successor"


@dataclass(frozen=True, slots=True)
class Takeover:
    claim: Claim
    row: Mapping[str, Any]
    found: list[Item]

    def late_words(self) -> str:
        """What somebody else wrote since the take-over, or nothing."""
        row = _row(self.claim.message)
        mine = row["attempt"] == self.claim.attempt
        late = mine and (row != self.row or store.load_items(row["id"]) != self.found)
        return f"Turn {row['id']}: the process that was frozen wrote on after the take-over." if late else ""

    def finish(self) -> None:
        """Says what is left to say, and gives open calls a result. A person may have stopped the turn meanwhile."""
        with suppress(Fenced):
            for n, call in enumerate(store.without_result(self.found)):
                store.append_result(self.claim, _unknown(call, f"late-{len(self.found)}-{n}"), Measured())
            store.finish(self.claim, [self._rest()], Measured())

    def seen_again(self) -> Takeover:
        return Takeover(self.claim, _row(self.claim.message), store.load_items(self.claim.message))

    def _rest(self) -> Item:
        question = Message.objects.get(children=self.claim.message).items.get().text
        said = "".join(item.text for item in self.found if item.kind is Kind.ASSISTANT_MESSAGE)
        rest = plan(question).text.removeprefix(said.rstrip(NOTHING_LEFT)) or NOTHING_LEFT
        number = store.next_round(self.found)
        return Item(key=f"rest-{number}", kind=Kind.ASSISTANT_MESSAGE, text=rest, model=NAME, round=number)


def _unknown(call: Item, key: str) -> Item:
    return replace(call, key=key, kind=Kind.TOOL_RESULT, text=NO_RESULT, wire=None, outcome=Outcome.UNKNOWN)


def be_impatient() -> None:
    """A frozen process may hold what a take-over needs; it is tried again then, a moment later."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET lock_timeout = '200ms'")
        else:
            cursor.execute("PRAGMA busy_timeout = 200")


def take_over(random: Random) -> Takeover | None:
    """One of the running turns, or none where the frozen process stands in the way."""
    rows = list(Message.objects.filter(status=Status.RUNNING))
    if not rows:
        return None
    row = random.choice(rows)
    try:
        claim = store.claim_turn(row.id, runner=NAME, seen=row.attempt)
    except (OperationalError, Fenced):
        return None
    return Takeover(claim, _row(row.id), store.load_items(row.id))


def _row(message: UUID) -> Mapping[str, Any]:
    return Message.objects.filter(pk=message).values().get()
