"""Requests that go on from a response by its id, over HTTP and over a socket, and the responses that are kept for that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from ...core.verbatim import encode
from ...store import in_thread
from ..asking.answering import Caller
from ..doors.asked import ProgramRequest
from ..doors.handed import place_of
from ..doors.responses.errors import unknown_previous
from ..doors.responses.kept import Exchanged, input_kept, input_place, joined, referenced
from ..doors.responses.together import length_together, too_much
from ..models import StoredResponse
from ..store import stored
from ..store.expiry import keeps_any
from .refused import LONGEST_BODY
from .remembered import Remembered

log = logging.getLogger(__name__)

T = TypeVar("T")
# Rows hold more signs than what was sent: each that is not of ASCII is written as several.
MOST_LOADED = 2 * LONGEST_BODY


@dataclass(slots=True)
class GoingOn:
    """What one request goes on from, and what is kept of it for the next. `remembered`: what its connection knows. `sent`: how
    much it tells itself, and `length`: of what is found for it here, in bytes."""

    program: Caller
    remembered: Remembered | None = None
    sent: int = 0
    way: Sequence[Exchanged] = ()
    found: Mapping[str, Any] = field(default_factory=dict)
    asked: ProgramRequest | None = None
    length: int = 0

    async def whole(self, asked: ProgramRequest) -> ProgramRequest:
        """The request with all of its history. Wrong where what it goes on from is not here."""
        # What nobody keeps is not said to be kept.
        self.asked = asked = replace(asked, store=asked.store and self._keeps())
        if asked.previous:
            self.way = await self._way_to(asked.previous)
        names = referenced(asked)
        if names:
            self.found = await _stored(_items_of, self.program.key.owner_id, names)
        return await asyncio.to_thread(self._joined, asked, names) if self.way or names else asked

    def _joined(self, asked: ProgramRequest, names: Sequence[str]) -> ProgramRequest:
        self.length = length_together(self.way, names, self.found, longest=LONGEST_BODY)
        return joined(self.way, asked, self.found)

    def _keeps(self) -> bool:
        return self.program.key.keeps_responses and keeps_any()

    async def _way_to(self, previous: str) -> Sequence[Exchanged]:
        if self.remembered and (way := self.remembered.way_to(previous)):
            return way
        place = place_of(previous)
        rows = (
            await _stored(stored.load_way, self.program.key.owner_id, place.secret, MOST_LOADED)
            if place
            else []
        )
        if not rows:
            raise unknown_previous(previous)
        return [Exchanged(row.input, row.response["output"]) for row in rows]

    def keep(self, secret: str, response: Mapping[str, Any]) -> Callable[[], None] | None:
        """For as long as the connection lasts; what is to be written where it is kept for longer."""
        assert self.asked
        input = input_kept(self.asked, secret, self.found)
        if self.remembered is not None:
            way = [*self.way, Exchanged(input, response["output"])]
            length = self.length + self.sent + len(encode(response["output"]))
            self.remembered.keep(response["id"], way, length)
        if not self.asked.store:
            return None
        key, previous = self.program.key, place_of(self.asked.previous)
        return partial(
            stored.store_response,
            secret,
            owner=key.owner_id,
            key=key.pk,
            previous=previous.secret if previous else "",
            input=list(input),
            response=dict(response),
        )

    def forget(self) -> None:
        """What was asked of it has failed."""
        if self.remembered is not None and self.asked and self.asked.previous:
            self.remembered.forget(self.asked.previous)


async def _stored(load: Callable[..., T], *of: Any) -> T:
    try:
        return await in_thread(load)(*of)
    except stored.TooMuchStored:
        raise too_much() from None


def _items_of(owner: int, names: Sequence[str]) -> dict[str, Any]:
    places = [place.secret for name in names if (place := input_place(name) or place_of(name))]
    rows: list[StoredResponse] = stored.load_responses(owner, places, MOST_LOADED)
    items = [item for row in rows for item in (*row.input, *row.response["output"])]
    return {item["id"]: item for item in items if item.get("id") in names}
