"""Links to one's branches: made, listed, and taken back."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ...pages.access import my_message
from ...pages.commands import by_script, refused, submission_named
from ...pages.limiting.wholesale import LINKS, refuse_too_many
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...pages.words.moments import Moment
from ...store import Refused
from ...store.models import Message
from .. import store
from ..access import my_share
from ..forms import ShareForm
from ..page.links import shown_links
from ..store import load_shares

# Older ones are found where they were made.
MOST_LISTED = 200


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def share(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET asks how, POST makes the link; it is shown where it is listed."""
    message = my_message(request.user, pk)
    form = ShareForm(request.POST)
    if request.method != "POST":
        return _share_form(request, message)
    try:
        refuse_too_many(request.user, LINKS)
        made = store.share(message, by=request.user, key=submission_named(request), **form.choices())
    except Refused as refusal:
        return refused(request, str(refusal))
    response = redirect("share", pk)
    response["Location"] += f"?made={made.pk}"
    response.status_code = 303
    return response


@require_safe
@login_required
def shares(request: SignedIn) -> HttpResponse:
    rows = load_shares(request.user)
    context = {"links": shown_links(request, rows[:MOST_LISTED]), "more": len(rows[MOST_LISTED:])}
    return render(request, "sharing/shares.html", context)


@require_POST
@login_required
def revoke(request: SignedIn, pk: UUID) -> HttpResponse:
    link = my_share(request.user, pk)
    store.revoke(link.token, by=request.user)
    if by_script(request):
        return render(request, "sharing/_revoked.html")
    response = redirect("share", link.leaf_id) if "here" in request.POST else redirect("shares")
    response.status_code = 303
    return response


def _share_form(request: SignedIn, message: Message) -> HttpResponse:
    found = shown_links(request, load_shares(request.user, message.conversation_id))
    context = {
        "message": message,
        "form": ShareForm(),
        "until": Moment(message.created_at.astimezone(zone_of(request))),
        "links": found,
        "made": next((link for link in found if str(link.row.pk) == request.GET.get("made")), None),
    }
    return render(request, "sharing/_share.html" if by_script(request) else "sharing/share.html", context)
