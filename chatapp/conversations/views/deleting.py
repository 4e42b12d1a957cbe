"""Deleting a message with everything below it, and taking that back."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from ...pages import commands
from ...pages.access import my_message
from ...pages.engine_calls import call
from ...pages.signed_in import SignedIn
from ...store import Refused, deleting
from ...store.models import Message, Role
from ...turns.engine import engine

# A turn may begin between the stop and the deletion, but not for ever.
TRIES = 3


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def delete_messages(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET says how much goes with it, POST does it."""
    mine = my_message(request.user, pk)
    if request.method != "POST":
        template = (
            "conversations/_delete.html" if commands.by_script(request) else "conversations/delete.html"
        )
        what = "question" if mine.role == Role.USER else "answer"
        return render(request, template, {"message": mine, "what": what, "count": deleting.count_below(mine)})
    try:
        gone = _delete(mine, by=str(request.user.pk))
    except Refused as refusal:
        return commands.refused(request, str(refusal))
    response = commands.to_conversation(gone.conversation)
    response["Location"] += f"?deleted={gone.id}"
    return response


@require_POST
@login_required
def undo(request: SignedIn, deletion: UUID) -> HttpResponse:
    try:
        back = deleting.undo(deletion, request.user)
    except Refused as refusal:
        return commands.refused(request, str(refusal))
    if back is None:
        raise Http404
    return commands.to_conversation(back.conversation)


def _delete(message: Message, *, by: str) -> deleting.Deletion:
    for _ in range(TRIES):
        for answer in deleting.load_live_below(message):
            call(engine().stop, answer, by=by)
        try:
            return deleting.delete_below(message)
        except deleting.StillAnswering as refusal:
            refused = refusal
    raise refused
