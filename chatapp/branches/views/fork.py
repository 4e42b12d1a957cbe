"""Forking one's own conversation: a copy to go on with, while the source stays as it is."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from ...pages.access import my_message
from ...pages.commands import by_script, refused, submission_named, to_composer
from ...pages.limiting.wholesale import refuse_too_many
from ...pages.signed_in import SignedIn
from ...store import Refused
from ...store.models import LIVE
from ..page.extents import extents_of
from ..store import forking as forks
from ..store.forking import NOTHING_ENDED, Extent


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def fork(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET asks how much goes along, POST copies it."""
    message = my_message(request.user, pk)
    if request.method != "POST":
        context = {"message": message, "extents": extents_of(message)}
        return render(request, "branches/_fork.html" if by_script(request) else "branches/fork.html", context)
    try:
        if message.status in LIVE:
            raise Refused(NOTHING_ENDED)
        extent = Extent(request.POST.get("extent") or Extent.BRANCH)
        refuse_too_many(request.user)
        made = forks.fork(message, by=request.user, extent=extent, submission=submission_named(request))
    except (Refused, ValueError) as refusal:
        return refused(
            request, str(refusal) if isinstance(refusal, Refused) else "Choose how much goes along."
        )
    return to_composer(request, made.conversation.pk)
