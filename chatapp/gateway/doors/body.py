"""The JSON of a request. A value takes time however short it is, and whoever is answered beside waits meanwhile: so many are taken."""

from __future__ import annotations

import re
from typing import Any

from ...core import verbatim
from .door import TOO_LARGE, Wrong, invalid

# Ten times as many as the longest runs of agents have.
MOST_VALUES = 200_000
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def json_in(body: bytes) -> Any:
    try:
        text = body.decode()
        refuse_too_many(text)
        return verbatim.loads(text)
    except ValueError:
        raise invalid("The body is not JSON, or is nested too deeply.", code="invalid_json") from None


def refuse_too_many(text: str) -> None:
    if _marks(text) > MOST_VALUES and _marks(_STRING.sub("", text)) > MOST_VALUES:
        sentence = f"That is too much at once: a request has at most {MOST_VALUES:,} values."
        raise Wrong(413, TOO_LARGE, sentence, "request_too_large")


def _marks(text: str) -> int:
    """What stands before or behind values."""
    return text.count(",") + text.count("[") + text.count("{")
