"""What went wrong behind a door, as the door tells it."""

from __future__ import annotations

from math import ceil

from ...core import verbatim
from ...core.values import fields, word
from ...providers.base import ProviderError, Trouble
from ..doors.door import INVALID, LIMITED, NOT_FOUND, OURS, OVERLOADED, PROVIDER, UNKNOWN_KEY, Wrong

BROKEN = Wrong(500, OURS, "Something broke inside Thoughtline.", "server_error")
WRONG_KEY = Wrong(
    401,
    UNKNOWN_KEY,
    "This key opens nothing here: it is wrong, was revoked, or has expired.",
    "invalid_api_key",
)
MOST_WORDS = 600
# Where the provider does not say when it helps to ask again.
SECONDS = 5
_BY_TROUBLE = {
    Trouble.KEY: (502, PROVIDER, "provider_key"),
    Trouble.FORBIDDEN: (502, PROVIDER, "provider_forbids"),
    Trouble.CREDIT: (502, PROVIDER, "provider_credit"),
    Trouble.NOT_FOUND: (404, NOT_FOUND, "model_not_found"),
    Trouble.BUSY: (429, LIMITED, "rate_limit_exceeded"),
    Trouble.BROKEN: (502, PROVIDER, "server_error"),
    Trouble.UNREACHABLE: (503, OVERLOADED, "server_error"),
    Trouble.SILENT: (504, PROVIDER, "server_error"),
    Trouble.GARBAGE: (502, PROVIDER, "server_error"),
    Trouble.TOO_LARGE: (502, PROVIDER, "server_error"),
    Trouble.TOO_LONG: (400, INVALID, "context_length_exceeded"),
    Trouble.REFUSED: (400, INVALID, "invalid_request"),
    Trouble.FILTERED: (400, INVALID, "content_filter"),
    Trouble.EMPTY: (502, PROVIDER, "server_error"),
}


def wrong_of(error: ProviderError) -> Wrong:
    status, kind, code = _BY_TROUBLE[error.trouble]
    own = _own_words(error.raw) if kind == INVALID else ""
    sentence = f"{error.sentence} It said: {own}" if own else error.sentence
    return Wrong(status, kind, sentence, code, wait=_wait(error, status))


def _wait(error: ProviderError, status: int) -> int | None:
    if error.wait is not None:
        return max(1, ceil(error.wait))
    return SECONDS if status in (429, 503) else None


def _own_words(raw: str) -> str:
    """What the provider says to whoever programs: its message, where it has one."""
    try:
        said = fields(verbatim.loads(raw))
    except ValueError:
        said = {}
    inner = fields(said.get("error"))
    words = word(inner.get("message")) or word(said.get("message")) or word(said.get("error")) or raw
    return words[:MOST_WORDS]
