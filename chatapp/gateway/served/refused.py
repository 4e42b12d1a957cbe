"""What is refused before anybody has read what is asked, as the doors tell it: keys that open nothing, bodies, and trouble of ours."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.signs.visible import visible
from ...pages.door.reception import HEADER, SENTENCES, STATUS, Refusal
from ..asking.troubles import WRONG_KEY
from ..doors.door import INVALID, LIMITED, OVERLOADED, TOO_LARGE, UNKNOWN_KEY, Wrong

# A history with pictures in it.
LONGEST_BODY = 32 * 2**20
NO_KEY = Wrong(
    401,
    UNKNOWN_KEY,
    "This needs a key of Thoughtline's: make one at /settings/keys/, and send it as `Authorization: Bearer …` or `x-api-key`.",
    "invalid_api_key",
)
NO_DATABASE = Wrong(
    503,
    OVERLOADED,
    "The database cannot be asked at the moment. Try again in a moment.",
    "server_error",
    wait=2,
)
_TOO_LARGE = f"That is too much at once: at most {LONGEST_BODY // 2**20} MB can be sent here."
_KINDS = {429: LIMITED, 503: OVERLOADED}
_CODES = {408: "request_timeout", 429: "rate_limit_exceeded", 503: "server_error"}
_TELL = {
    Refusal.MANY: "Two long requests of yours are on their way already. Send this one when they have arrived."
}
SECONDS = 5


def too_often(wait: int) -> Wrong:
    sentence = "Too many requests came in so short a time. Try again in a few seconds."
    return Wrong(429, LIMITED, sentence, "rate_limit_exceeded", wait=wait)


def compressed(coding: str) -> Wrong:
    sentence = f"The body is compressed ({visible(coding[:20])}). Send it as it is."
    return Wrong(415, INVALID, sentence, "unsupported_content_encoding")


def refused_at_the_door(headers: Mapping[str, str], *, has_key: bool) -> Wrong | None:
    """What the door of the house refused, where it did."""
    try:
        refusal = Refusal(headers.get(HEADER.lower(), ""))
    except ValueError:
        return None
    return wrong_for(refusal, has_key=has_key)


def wrong_for(refusal: Refusal, *, has_key: bool) -> Wrong:
    if refusal is Refusal.SIGNED_OUT:
        return WRONG_KEY if has_key else NO_KEY
    if refusal is Refusal.LARGE:
        return Wrong(413, TOO_LARGE, _TOO_LARGE, "request_too_large")
    status = STATUS[refusal]
    sentence = _TELL.get(refusal, SENTENCES[refusal])
    return Wrong(status, _KINDS.get(status, INVALID), sentence, _CODES[status], wait=SECONDS)
