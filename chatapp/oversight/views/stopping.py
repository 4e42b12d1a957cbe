"""Administrators stop anybody's answer. That they did is written down before it is done, and its owner can see it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from ...pages.engine_calls import call
from ...pages.signed_in import SignedIn
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...store.models import LIVE, Conversation, Message
from ...turns.engine import engine
from ..models import Look
from ..store.looks import append_looks


def stop(request: SignedIn, pk: UUID) -> HttpResponse:
    """All that is being answered in a conversation, or waits for somebody."""
    if not Conversation.objects.filter(pk=pk, deleted_at=None).exists():
        raise Http404
    live = Message.objects.filter(conversation=pk, deletion=None, status__in=LIVE)
    answers = list(live.values_list("pk", flat=True))
    if answers:
        append_looks(request.user, [pk], Look.What.STOPPED, address=visitor_address(request))
    for answer in answers:
        call(engine().stop, answer, by=str(request.user.pk))
    if "today" in request.POST or not may_read():
        return redirect("admin:today")
    return redirect("admin:transcript", pk)
