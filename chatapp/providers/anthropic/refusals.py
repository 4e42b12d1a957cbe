"""What Anthropic's error bodies and error events mean: whose trouble it is, and whether a changed request would help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...core.contracts import Repair
from ...core.verbatim import loads
from ..base import ProviderError, Trouble
from ..refusals import refusal_by_status, trouble_error

Meaning = TypeVar("Meaning")

TYPES = {
    "authentication_error": Trouble.KEY,
    "permission_error": Trouble.FORBIDDEN,
    "not_found_error": Trouble.NOT_FOUND,
    "rate_limit_error": Trouble.BUSY,
    "overloaded_error": Trouble.BUSY,
    "billing_error": Trouble.CREDIT,
    "request_too_large": Trouble.TOO_LONG,
}
# Looked for in the provider's words without their backticks, in this order.
WORDS = (
    (r"prompt is too long|exceeds? (the )?context (limit|window)", Trouble.TOO_LONG),
    (r"credit balance is too low", Trouble.CREDIT),
)
REPAIRS = (
    (r"block_binding\W+extra inputs are not permitted", Repair.UNBOUND),
    (r"prefix_mismatch_behavior to drop_block", Repair.BOUND),
    (r"invalid (signature|data) in (redacted_)?thinking", Repair.STALE),
    (r"bound to a different conversation", Repair.STALE),
    (r"thinking blocks in the latest assistant message cannot be modified", Repair.STALE),
    (r"expected thinking or redacted_thinking", Repair.STALE),
    (r"cannot contain thinking", Repair.STALE),
    (r"final block in an assistant message cannot be thinking", Repair.STALE),
    (r"thinking(\.type\.\w+)?\W+is not supported", Repair.FORBIDDEN),
    (r"does not support (the )?(effort|\w* ?thinking)", Repair.FORBIDDEN),
)


@dataclass(frozen=True, slots=True)
class _Complaint:
    type: str
    words: str

    def trouble(self) -> Trouble | None:
        return _first_that_fits(WORDS, self.words) or TYPES.get(self.type)

    def repair(self) -> Repair | None:
        return _first_that_fits(REPAIRS, self.words)


def refusal(label: str, status: int, headers: Mapping[str, str], text: str) -> ProviderError:
    """An HTTP answer that is not 200. Only a request that was wrong can be put right."""
    said = _complaint(text)
    repair = said.repair() if status in (400, 422) else None
    return refusal_by_status(label, status, headers, text, trouble=said.trouble(), repair=repair)


def failure(label: str, text: str) -> ProviderError:
    """An error inside a stream that began well."""
    said = _complaint(text)
    wrong = said.type == "invalid_request_error"
    trouble = said.trouble() or (Trouble.REFUSED if wrong else Trouble.BROKEN)
    again = trouble in (Trouble.BUSY, Trouble.BROKEN)
    return trouble_error(trouble, label, text, again=again, repair=said.repair() if wrong else None)


def _complaint(text: str) -> _Complaint:
    try:
        body = loads(text)
    except ValueError:
        return _Complaint("", _without_quotes(text))
    match body:
        case {"error": {"type": str(type_), "message": str(words)}}:
            return _Complaint(type_, _without_quotes(words))
        case {"error": {"type": str(type_)}}:
            return _Complaint(type_, "")
        case _:
            return _Complaint("", _without_quotes(text))


def _without_quotes(words: str) -> str:
    return words.replace("`", "").replace('"', "")


def _first_that_fits(table: Sequence[tuple[str, Meaning]], words: str) -> Meaning | None:
    return next((meaning for pattern, meaning in table if re.search(pattern, words, re.IGNORECASE)), None)
