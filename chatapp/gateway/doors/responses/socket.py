"""The same protocol over a WebSocket: what a program's message asks, what goes back, and what one connection remembers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from ....core import verbatim
from ..door import Frame, Wrong, invalid
from .errors import on_socket
from .kept import Exchanged

Json = dict[str, Any]
CREATE = "response.create"
# Responses of one connection; a program goes on from the last, or tries once more from the one before.
REMEMBERED = 8


def body_in(message: str | bytes) -> Json:
    """The body of a request, from what a program sent; `stream` is always meant."""
    if isinstance(message, bytes):
        raise invalid("Messages must be text, not binary.")
    try:
        said = verbatim.loads(message)
    except ValueError:
        raise invalid("The message is no JSON.", code="invalid_json") from None
    if not isinstance(said, dict):
        raise invalid("The message must be a JSON object.")
    if said.get("type") != CREATE:
        raise invalid(f"`type` must be `{CREATE}`: that is all that can be asked here.", "type")
    left_out = ("type", "stream", "stream_options")
    return {name: value for name, value in said.items() if name not in left_out} | {"stream": True}


def message_of(frame: Frame) -> str:
    return frame.data if isinstance(frame.data, str) else verbatim.encode(frame.data).decode()


def refusal(wrong: Wrong) -> str:
    return verbatim.encode(on_socket(wrong)).decode()


def too_old(minutes: int) -> Wrong:
    sentence = (
        f"This connection is {minutes} minutes old, which is as long as one lasts. Open a new one to go on."
    )
    return invalid(sentence, code="websocket_connection_limit_reached")


class Remembered:
    """What one connection knows of its own responses, whether they are kept elsewhere or nowhere: of each, the whole way to it."""

    def __init__(self) -> None:
        self._ways: OrderedDict[str, Sequence[Exchanged]] = OrderedDict()

    def way_to(self, response_id: str) -> Sequence[Exchanged] | None:
        return self._ways.get(response_id)

    def keep(self, response_id: str, way: Sequence[Exchanged]) -> None:
        self._ways[response_id] = way
        while len(self._ways) > REMEMBERED:
            self._ways.popitem(last=False)

    def forget(self, response_id: str) -> None:
        """After what went on from it has failed."""
        self._ways.pop(response_id, None)
