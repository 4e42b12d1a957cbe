"""What the many servers that speak Chat Completions mean by their errors: as an answer of its own, or inside a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...core.history import Repair
from ...core.values import rows
from ..base import ProviderError, Trouble
from ..refusals import refusal_by_status

# Words seen in the bodies of DeepSeek, Kimi, GLM, Qwen, Mistral, Gemini, OpenRouter, Groq, vLLM, SGLang, llama.cpp and others.
# "Busy" comes before "credit": Gemini and Groq speak of quotas and billing where a minute's limit is reached.
_TROUBLES: tuple[tuple[Trouble, str], ...] = (
    (
        Trouble.TOO_LONG,
        r"context[_ ](length|size|window)|maximum context|prompt is too long|input is too long|exceeded model token limit"
        r"|exceeds max length|range of input length|input token count|reduce the length|longer than the model",
    ),
    (
        Trouble.BUSY,
        r"rate[_ ]?limit|too many requests|overloaded|over capacity|server is busy|resource[_ ]exhausted",
    ),
    (
        Trouble.CREDIT,
        r"insufficient[_ ](quota|balance|credit|funds)|balance is insufficient|current[_ ]quota|credit[_ ]balance"
        r"|billing details|payment required|arrearage|not enough credit",
    ),
    (
        Trouble.KEY,
        r"(invalid|incorrect|wrong|missing)[_ ]api[_ -]?key|api[_ ]?key[_ ](not valid|invalid)|no auth credentials",
    ),
    (
        Trouble.NOT_FOUND,
        r"model[_ ]not[_ ](found|exist)|unknown model|not a valid model|model \S+ does not exist",
    ),
    (
        Trouble.FILTERED,
        r"content[_ ](filter|policy|exists risk)|data_inspection_failed|considered high risk|sensitive_words",
    ),
)

_STALE = re.compile(
    r"thought[_ ]signature|invalid_encrypted_content|encrypted content|invalid.{0,4}signature.{0,9}thinking"
    r"|bound to a different conversation|reasoning details to be preserved",
    re.IGNORECASE,
)
_REQUIRED = re.compile(
    r"must be passed back|reasoning(_content|_text)?\W{0,3} is missing|missing \W{0,3}reasoning_content",
    re.IGNORECASE,
)
_FIELD = re.compile(r"""\breasoning_(content|details)\b|[`'".]reasoning[`'"\\]""", re.IGNORECASE)
_NOT_TAKEN = re.compile(
    r"unsupported|not supported|extra_forbidden|not permitted|not allowed|unknown|unrecognized|unexpected",
    re.IGNORECASE,
)
_READ = 20_000


def refusal_of(label: str, status: int, headers: Mapping[str, str], text: str) -> ProviderError:
    """An answer that is not 200. Bodies are objects, lists, or no JSON at all: the words count."""
    words = text[:_READ]
    repair = _repair(status, words)
    trouble = None if repair else _trouble(status, words)
    return refusal_by_status(label, status, headers, text, trouble=trouble, repair=repair)


def error_in_stream(label: str, frame: Any, text: str) -> ProviderError:
    """The same inside a 200 answer, where a number in the error may stand for the status."""
    return refusal_of(label, _status_in(frame), {}, text)


def is_error_frame(frame: Any) -> bool:
    """Whether a frame of a stream is an error, in any of the shapes that servers give it."""
    if isinstance(frame, list):
        return any(is_error_frame(row) for row in rows(frame))
    if not isinstance(frame, dict):
        return False
    if frame.get("error") or "error" in (frame.get("object"), frame.get("type")):
        return True
    if "choices" not in frame:
        return "detail" in frame or {"code", "message"} <= frame.keys()
    return any(choice.get("error") for choice in rows(frame["choices"]))


def _repair(status: int, words: str) -> Repair | None:
    if not 400 <= status < 500 or status in (401, 402, 403, 429):
        return None
    if _REQUIRED.search(words):
        return Repair.REQUIRED
    if _FIELD.search(words) and _NOT_TAKEN.search(words):
        return Repair.FORBIDDEN
    return Repair.STALE if _STALE.search(words) else None


def _trouble(status: int, words: str) -> Trouble | None:
    if status == 413:
        return Trouble.TOO_LONG
    for trouble, pattern in _TROUBLES:
        if re.search(pattern, words, re.IGNORECASE):
            return trouble
    return None


def _status_in(frame: Any) -> int:
    """The first number that may be a status, or 500: whoever answers 200 first and fails later has an error of its own."""
    if isinstance(frame, list):
        frame = frame[0] if frame else None
    error = frame.get("error") if isinstance(frame, dict) else None
    for holder in (error, frame):
        for name in ("code", "status", "status_code", "http_code"):
            number = _status_number(holder.get(name)) if isinstance(holder, dict) else None
            if number:
                return number
    return 400 if isinstance(error, dict) and error.get("type") == "invalid_request_error" else 500


def _status_number(value: Any) -> int | None:
    digits = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return int(digits) if re.fullmatch(r"[45]\d\d", digits) else None
