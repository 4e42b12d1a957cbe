"""A question that waits is edited, saved, left as it was, and removed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from ..core.items import clean
from ..pages.access import my_message
from ..pages.commands import View, by_script, keeps, told
from ..pages.signed_in import SignedIn
from ..store.models import Message
from . import store as next_questions
from .news import next_now


def changing(change: Callable[[SignedIn, Message], None]) -> View:
    """At the answer that the question waits for; told is what waits there after that."""

    @require_POST
    @login_required
    @keeps("next_text")
    @wraps(change)
    def changed(request: SignedIn, pk: UUID) -> HttpResponse:
        answer = my_message(request.user, pk)
        change(request, answer)
        return _waits_now(request, answer)

    return changed


@changing
def edit(request: SignedIn, answer: Message) -> None:
    next_questions.begin_edit(request.user, answer)


@changing
def save(request: SignedIn, answer: Message) -> None:
    words = clean(request.POST.get("next_text", "")).replace("\r\n", "\n").replace("\r", "\n")
    next_questions.save_edit(request.user, answer, words)


@changing
def leave(request: SignedIn, answer: Message) -> None:
    next_questions.leave_edit(request.user, answer)


@changing
def remove(request: SignedIn, answer: Message) -> None:
    next_questions.remove(request.user, answer)


def _waits_now(request: SignedIn, answer: Message) -> HttpResponse:
    if by_script(request):
        return told(next_now(request.user, answer.pk))
    response = redirect("conversation", answer.conversation_id)
    response["Location"] += "#next"
    response.status_code = 303
    return response
