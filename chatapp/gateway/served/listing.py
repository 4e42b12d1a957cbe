"""Which models a key may ask, as `/v1/models` tells it in the shape that the program's headers ask for."""

from __future__ import annotations

import time

from ...providers.base import ModelSpec, UnknownModel
from ...turns.engine import engine
from ..asking.answering import Caller
from ..doors import messages, models
from ..doors.door import NOT_FOUND, Door, Wrong
from ..doors.models import ListedModel
from ..names import NoSuchModel, known_models, model_meant, models_listed
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
    """By any name by which it can be asked, and under that name."""
    program = await _program(request, connection)
    catalog, wanted = engine().catalog, request.query["id"]
    try:
        spec = model_meant(wanted, program.key, catalog, known=await known_models(catalog), default="")
    except (NoSuchModel, UnknownModel) as error:
        raise Wrong(404, NOT_FOUND, str(error), "model_not_found") from None
    told = models.one_for_anthropic if of_anthropic(request) else models.one_for_openai
    await connection.answer(200, told(_listed(wanted, spec)))


async def _offered(request: DoorRequest, connection: DoorConnection) -> list[ListedModel]:
    program = await _program(request, connection)
    catalog = engine().catalog
    listed = models_listed(program.key, catalog, known=await known_models(catalog))
    return [_listed(each.name, each.spec) for each in listed]


async def _program(request: DoorRequest, connection: DoorConnection) -> Caller:
    if of_anthropic(request):
        connection.door = _messages
    return await let_in(request)


def _listed(name: str, spec: ModelSpec) -> ListedModel:
    return ListedModel(name, spec.label or spec.name, STARTED, spec.provider)


_messages: Door = messages.DOOR
