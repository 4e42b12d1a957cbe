"""Two branches side by side."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ...pages.access import readable_message, readable_messages
from ...pages.in_address import id_in, number_in
from ...pages.signed_in import SignedIn
from ...store.models import Message
from ...thread.page import viewer_of
from ..page.compare import load_compared, own_ways


@require_safe
@login_required
def compare(request: SignedIn) -> HttpResponse:
    a, b = readable_messages(request.user, _named_side(request, "a"), _named_side(request, "b"))
    page = load_compared(viewer_of(request), a, b, number_in(request, "from") or 0, own_ways())
    return render(request, "branches/compare.html", {"page": page})


def named(request: SignedIn, side: str) -> Message:
    """The message that the address names for one side."""
    return readable_message(request.user, _named_side(request, side))


def _named_side(request: SignedIn, side: str) -> UUID:
    pk = id_in(request, side)
    if pk is None:
        raise Http404
    return pk
