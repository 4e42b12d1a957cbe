"""The same protocol over a WebSocket: what a program's message asks, and what goes back."""

from __future__ import annotations

from typing import Any

from ....core import verbatim
from ..body import refuse_too_many
from ..door import Frame, Wrong, invalid
from .errors import on_socket

Json = dict[str, Any]
CREATE = "response.create"


def body_in(message: str | bytes) -> Json:
    """The body of a request, from what a program sent; `stream` is always meant."""
    if isinstance(message, bytes):
        raise invalid("Messages must be text, not binary.")
    refuse_too_many(message)
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
