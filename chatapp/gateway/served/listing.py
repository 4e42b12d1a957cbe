"""Which models a key may ask, as `/v1/models` tells it in the shape that the program's headers ask for."""

from __future__ import annotations

import time

from ...turns.engine import engine
from ..doors import messages, models
from ..doors.door import NOT_FOUND, Door, Wrong
from ..doors.models import ListedModel
from ..names import known_models, models_listed
from .http import DoorConnection, DoorRequest
from .serving import let_in

STARTED = int(time.time())


def of_anthropic(request: DoorRequest) -> bool:
    return "anthropic-version" in request.headers


async def list_models(request: DoorRequest, connection: DoorConnection) -> None:
    offered = await _offered(request, connection)
    if not of_anthropic(request):
        await connection.answer(200, models.for_openai(offered))
        return
    ends = {"after": request.query.get("after_id", ""), "before": request.query.get("before_id", "")}
    limit = request.query.get("limit", "")
    most = int(limit) if limit.isascii() and limit.isdecimal() and len(limit) < 5 else 1000
    await connection.answer(200, models.for_anthropic(offered, **ends, limit=most))


async def show_model(request: DoorRequest, connection: DoorConnection) -> None:
    offered = await _offered(request, connection)
    wanted = request.query["id"]
    found = next((each for each in offered if each.id == wanted), None)
    if found is None:
        sentence = f"There is no model called “{wanted[:80]}” here. All of them are listed at /v1/models."
        raise Wrong(404, NOT_FOUND, sentence, "model_not_found")
    told = models.one_for_anthropic if of_anthropic(request) else models.one_for_openai
    await connection.answer(200, told(found))


async def _offered(request: DoorRequest, connection: DoorConnection) -> list[ListedModel]:
    if of_anthropic(request):
        connection.door = _messages
    program = await let_in(request)
    catalog = engine().catalog
    listed = models_listed(program.key, catalog, known=await known_models(catalog))
    return [
        ListedModel(each.name, each.spec.label or each.spec.name, STARTED, each.spec.provider)
        for each in listed
    ]


_messages: Door = messages.DOOR
