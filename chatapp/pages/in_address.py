"""Places that stand in an address."""

from __future__ import annotations

from django.core.exceptions import BadRequest
from django.http import HttpRequest

from ..core import named

LONGEST = 9


def number_in(request: HttpRequest, name: str) -> int | None:
    """None where the address says nothing."""
    text = request.GET.get(name, "")
    found = named.number(text, digits=LONGEST)
    if text and found is None:
        raise BadRequest(f"What stands at {name} is no number.")
    return found
