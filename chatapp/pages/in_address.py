"""Places and rows that stand in an address."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest

from ..core import named

LONGEST = 9


def number_in(request: HttpRequest, name: str) -> int | None:
    """None where the address says nothing."""
    text = request.GET.get(name, "")
    found = named.number(text, digits=LONGEST)
    if text and found is None:
        raise BadRequest(f"What stands at {name} is no number.")
    return found


def id_in(request: HttpRequest, name: str) -> UUID | None:
    """None where the address says nothing; what is no id of anything does not exist."""
    if name not in request.GET:
        return None
    found = named.identity(request.GET[name])
    if found is None:
        raise Http404
    return found
