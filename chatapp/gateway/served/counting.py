"""About how many tokens a request would be."""

from __future__ import annotations

from ..doors import messages
from ..doors.estimate import estimate
from ..doors.responses.reading import read_counted
from .going_on import GoingOn
from .http import DoorConnection, DoorRequest
from .serving import let_in


async def count_tokens(request: DoorRequest, connection: DoorConnection) -> None:
    await let_in(request)
    asked = await request.read(messages.DOOR.read)
    await connection.answer(200, {"input_tokens": estimate(asked)})


async def count_input(request: DoorRequest, connection: DoorConnection) -> None:
    """With the history that it goes on from."""
    program = await let_in(request)
    whole = await GoingOn(program).whole(await request.read(read_counted))
    await connection.answer(200, {"object": "response.input_tokens", "input_tokens": estimate(whole)})
