"""A question that waits is edited, saved, left as it was, and removed."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from ..core.items import clean
from ..pages.access import my_message
from ..pages.commands import by_script, keeps, told
from ..pages.signed_in import SignedIn
from ..store.models import Message
from . import store as next_questions
from .news import next_now


@require_POST
@login_required
@keeps("next_text")
def edit(request: SignedIn, pk: UUID) -> HttpResponse:
    answer = my_message(request.user, pk)
    next_questions.begin_edit(request.user, answer)
    return _shown(request, answer)


@require_POST
@login_required
@keeps("next_text")
def save(request: SignedIn, pk: UUID) -> HttpResponse:
    answer = my_message(request.user, pk)
    words = clean(request.POST.get("next_text", "")).replace("\r\n", "\n").replace("\r", "\n")
    next_questions.save_edit(request.user, answer, words)
    return _shown(request, answer)


@require_POST
@login_required
@keeps("next_text")
def leave(request: SignedIn, pk: UUID) -> HttpResponse:
    answer = my_message(request.user, pk)
    next_questions.leave_edit(request.user, answer)
    return _shown(request, answer)


@require_POST
@login_required
@keeps("next_text")
def remove(request: SignedIn, pk: UUID) -> HttpResponse:
    answer = my_message(request.user, pk)
    next_questions.remove(request.user, answer)
    return _shown(request, answer)


def _shown(request: SignedIn, answer: Message) -> HttpResponse:
    if by_script(request):
        return told(next_now(request.user, answer.pk))
    response = redirect("conversation", answer.conversation_id)
    response["Location"] += "#next"
    response.status_code = 303
    return response
