"""Numbers that stand in an address."""

from __future__ import annotations

from django.core.exceptions import BadRequest
from django.http import HttpRequest

LONGEST = 9


def number_in(request: HttpRequest, name: str) -> int | None:
    """None where the address says nothing."""
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST):
        raise BadRequest(f"What stands at {name} is no number.")
    return int(text)
