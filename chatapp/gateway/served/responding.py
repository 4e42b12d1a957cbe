"""What the Responses door has beside asking: responses that were kept, and conversations that are made shorter."""

from __future__ import annotations

import time
from dataclasses import replace

from ...core.items import Kind
from ...store import in_thread
from ...turns.engine import engine
from ..asking.answering import Answering
from ..doors import responses
from ..doors.door import invalid
from ..doors.handed import Handed, place_of
from ..doors.responses import compacting, errors
from ..doors.responses.kept import deleted, listed, shown
from ..models import StoredResponse
from ..store import stored
from .going_on import GoingOn
from .held import held
from .http import DoorConnection, DoorRequest
from .serving import let_in, unheard


async def show_response(request: DoorRequest, connection: DoorConnection) -> None:
    await connection.answer(200, shown((await _found(request)).response, request.query))


async def list_input(request: DoorRequest, connection: DoorConnection) -> None:
    await connection.answer(200, listed((await _found(request)).input, request.query))


async def cancel_response(request: DoorRequest, connection: DoorConnection) -> None:
    await _found(request)
    raise errors.not_cancelled()


async def delete_response(request: DoorRequest, connection: DoorConnection) -> None:
    row = await _found(request)
    await in_thread(stored.delete_response)(row.owner_id, row.secret)
    await connection.answer(200, deleted(request.query["id"]))


async def _found(request: DoorRequest) -> StoredResponse:
    program = await let_in(request)
    place = place_of(request.query["id"])
    row = await in_thread(stored.load_response)(program.key.owner_id, place.secret) if place else None
    if row is None:
        raise errors.unknown_response(request.query["id"][:100])
    return row


async def compact(request: DoorRequest, connection: DoorConnection) -> None:
    program = await let_in(request)
    asked = await request.read(compacting.read_compacting)
    if not asked.model:
        raise invalid("`model` is missing: say who is to sum it up.", "model")
    going_on = GoingOn(program)
    whole = await going_on.whole(replace(asked, store=False))
    answering = Answering(engine(), responses.DOOR, compacting.asked_to_sum_up(whole), program)
    with held(program.key.owner_id, len(request.body) + going_on.length):
        try:
            await answering.prepare()
            await answering.run(unheard)
            if answering.wrong:
                raise answering.wrong
            made = compacting.compaction(
                asked, going_on.way, _summary(answering), answering.usage, Handed(), int(time.time())
            )
            await connection.answer(200, made, answering.headers)
        finally:
            await answering.close()


def _summary(answering: Answering) -> str:
    items = answering.hearing.draft.finished()
    return "\n\n".join(item.text for item in items if item.kind is Kind.ASSISTANT_MESSAGE)
