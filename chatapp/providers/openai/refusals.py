"""What OpenAI's errors mean: whose trouble it is, and whether a changed request would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core import verbatim
from ...core.contracts import Repair
from ..base import ProviderError, Trouble
from ..refusals import refusal_by_status, retry_after, trouble_error

# Looked for in the whole text, in this order: some servers send the sentence without code, or without JSON.
REPAIRS = {
    "invalid_encrypted_content": Repair.STALE,
    "could not be verified": Repair.STALE,
    "was not issued to this caller": Repair.STALE,
    "items are not persisted": Repair.STALE,
    "without its required": Repair.STALE,
    "duplicate item found": Repair.STALE,
    "expected an id that begins with": Repair.STALE,
    "encrypted content is not supported with this model": Repair.FORBIDDEN,
    "encrypted content is not supported": Repair.STALE,
    "reasoning.summary": Repair.NO_SUMMARY,
    "generate reasoning summaries": Repair.NO_SUMMARY,
    "'reasoning.effort' is not supported": Repair.FORBIDDEN,
}
TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "exceeds the context window",
)
CODES = {
    "invalid_api_key": Trouble.KEY,
    "model_not_found": Trouble.NOT_FOUND,
    "insufficient_quota": Trouble.CREDIT,
    "credit_balance_exhausted": Trouble.CREDIT,
    "billing_hard_limit_reached": Trouble.CREDIT,
    "billing_not_active": Trouble.CREDIT,
    "server_is_overloaded": Trouble.BUSY,
    "slow_down": Trouble.BUSY,
    "rate_limit_exceeded": Trouble.BUSY,
    "too_many_requests": Trouble.BUSY,
    "server_error": Trouble.BROKEN,
    "invalid_prompt": Trouble.FILTERED,
    "content_filter": Trouble.FILTERED,
    "content_policy_violation": Trouble.FILTERED,
}


def refusal(label: str, status: int, headers: Mapping[str, str], text: str) -> ProviderError:
    """An HTTP answer that is not 200."""
    trouble, repair = _meaning(_error(text), text)
    return refusal_by_status(label, status, headers, text, trouble=trouble, repair=repair)


def failure(label: str, error: Any) -> ProviderError:
    """An error inside a stream that began well."""
    raw = verbatim.dumps(error)
    error = error if isinstance(error, dict) else {}
    trouble, repair = _meaning(error, raw)
    trouble = trouble or (Trouble.REFUSED if error.get("type") == "invalid_request_error" else Trouble.BROKEN)
    again = trouble in (Trouble.BUSY, Trouble.BROKEN)
    return trouble_error(
        trouble, label, raw, again=again, wait=_wait(error) if again else None, repair=repair
    )


def _meaning(error: Mapping[str, Any], text: str) -> tuple[Trouble | None, Repair | None]:
    text = text.lower()
    repair = next((repair for words, repair in REPAIRS.items() if words in text), None)
    if repair:
        return Trouble.REFUSED, repair
    if any(words in text for words in TOO_LONG):
        return Trouble.TOO_LONG, None
    code = next(
        (word for word in (error.get("code"), error.get("type")) if isinstance(word, str) and word in CODES),
        "",
    )
    return CODES.get(code), None


def _error(text: str) -> dict[str, Any]:
    """The object that names the error; some gateways put it into a list."""
    try:
        body = verbatim.loads(text)
    except ValueError:
        return {}
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {}


def _wait(error: Mapping[str, Any]) -> float | None:
    headers = error.get("headers")
    rows = headers.items() if isinstance(headers, dict) else ()
    return retry_after({name.lower(): value for name, value in rows if isinstance(value, str)})
