"""About how many tokens a request would be."""

from __future__ import annotations

from ..doors import messages
from ..doors.estimate import estimate
from .http import DoorConnection, DoorRequest
from .serving import let_in


async def count_tokens(request: DoorRequest, connection: DoorConnection) -> None:
    await let_in(request)
    asked = messages.DOOR.read(request.json(), request.headers)
    await connection.answer(200, {"input_tokens": estimate(asked)})
