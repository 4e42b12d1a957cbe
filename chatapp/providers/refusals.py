"""Turns an HTTP error answer into one sentence that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from ..core.history import Repair
from .base import ProviderError, Trouble

RAW_CAP = 20_000
WAIT_CAP = 60.0
BUSY = (408, 409, 425, 429)

SENTENCES = {
    Trouble.KEY: "{label} did not accept the API key. Check the key in the settings of this server.",
    Trouble.FORBIDDEN: "{label} does not allow this key to use this model.",
    Trouble.NOT_FOUND: "{label} does not know this model. Choose another one.",
    Trouble.BUSY: "{label} is busy at the moment. Try again in a little while.",
    Trouble.BROKEN: "{label} had an error of its own. Try again.",
    Trouble.UNREACHABLE: "{label} could not be reached. Check the network and the base URL, then try again.",
    Trouble.SILENT: "{label} stopped answering. Try again.",
    Trouble.GARBAGE: "{label} sent something that could not be read. Try again.",
    Trouble.TOO_LARGE: "{label} sent more than one answer may hold.",
    Trouble.TOO_LONG: "This conversation is too long for the model. Choose a model with a larger window.",
    Trouble.REFUSED: "{label} refused the request.",
    Trouble.FILTERED: "{label} ended the answer because of its content rules.",
    Trouble.EMPTY: "{label} ended its answer without saying anything. Try again.",
    Trouble.CREDIT: "The {label} account has no credit left. Add credit there, then try again.",
}


def trouble_error(trouble: Trouble, label: str, raw: str = "", **more: object) -> ProviderError:
    """A ProviderError with the sentence of its trouble. `more` fills its other fields."""
    sentence = SENTENCES[trouble].format(label=label)
    return ProviderError(trouble, sentence, raw[:RAW_CAP], **more)  # type: ignore[arg-type]


def refusal_by_status(
    label: str,
    status: int,
    headers: Mapping[str, str],
    raw: str,
    *,
    trouble: Trouble | None = None,
    repair: Repair | None = None,
) -> ProviderError:
    """What a status means where the wire knows nothing better."""
    trouble = trouble or trouble_of(status)
    again = trouble in (Trouble.BUSY, Trouble.BROKEN)
    return trouble_error(
        trouble,
        label,
        raw,
        status=status,
        again=again,
        wait=retry_after(headers) if again else None,
        repair=repair,
    )


def trouble_of(status: int) -> Trouble:
    match status:
        case 401:
            return Trouble.KEY
        case 402:
            return Trouble.CREDIT
        case 403:
            return Trouble.FORBIDDEN
        case 404:
            return Trouble.NOT_FOUND
        case 413:
            return Trouble.TOO_LONG
        case 503 | 529:
            return Trouble.BUSY
        case _ if status in BUSY:
            return Trouble.BUSY
        case _:
            return Trouble.BROKEN if status >= 500 else Trouble.REFUSED


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the provider asks us to wait, capped. A date counts from the answer's own date."""
    wait = (
        _seconds(headers.get("retry-after-ms"), 1000)
        or _seconds(headers.get("retry-after"), 1)
        or _seconds_until(headers)
    )
    return None if wait is None else min(max(wait, 0.0), WAIT_CAP)


def _seconds(text: str | None, per_second: float) -> float | None:
    try:
        seconds = float(text or "") / per_second
    except ValueError:
        return None
    return seconds if seconds >= 0 else None


def _seconds_until(headers: Mapping[str, str]) -> float | None:
    try:
        until, now = (parsedate_to_datetime(headers.get(name, "")) for name in ("retry-after", "date"))
        return (until - now).total_seconds()
    except (TypeError, ValueError):
        return None
