"""What the composer does with a question while an answer is being written: it is kept, and sent later, by itself or by a press of Send."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.http import HttpResponse

from ...next_questions import store as next_questions
from ...next_questions.models import NextQuestion
from ...next_questions.news import next_now
from ...pages import operations
from ...pages.access import my_conversation
from ...pages.commands import by_script, submission, to_conversation, told
from ...pages.signed_in import SignedIn
from ...store import Started
from ...store.tree import refuse_to_write
from ...turns.engine import engine
from ..forms import AskForm
from ..page.composer import render_asking
from .starting import once, question_of


def keep_next(request: SignedIn, form: AskForm, pk: UUID) -> HttpResponse | None:
    """Refused in words; None where nothing is to be kept: it is asked then."""
    kept = _keep(request, form, pk) if request.POST.get("keep") else None
    if kept is None:
        return None
    if by_script(request):
        parent = form.question.parent or kept.after_id
        return told([operations.put(render_asking(parent)), *next_now(request.user, kept.after_id)])
    response = to_conversation(pk)
    response["Location"] += "#next"
    return response


def _keep(request: SignedIn, form: AskForm, pk: UUID) -> NextQuestion | None:
    mine = my_conversation(request.user, pk)
    question = question_of(form)
    refuse_to_write(mine)
    if question.parent is None or not question.text.strip():
        return None
    return next_questions.keep(
        request.user,
        mine.pk,
        question.parent,
        question.text,
        model=question.model,
        effort=question.effort,
        key=submission(request, question.key),
        instead=question.instead,
    )


def ask_next(request: SignedIn, form: AskForm, pk: UUID) -> Started | None:
    """What waits, together with what was written since then, or alone; None where the page shows nothing that waits."""
    question = question_of(form)
    if question.next is None:
        return None
    mine = my_conversation(request.user, pk)
    # Without a script nothing would keep what stands in the box.
    alone = request.POST.get("alone") and by_script(request)
    start = partial(
        next_questions.ask_now,
        request.user,
        mine.pk,
        question.next,
        "" if alone else question.text,
        key=submission(request, question.key),
        instead=question.instead,
    )
    return once(
        request,
        engine().write_kept,
        lambda asked: start(asked=asked),
        model=question.model,
        effort=question.effort,
        submission=next_questions.name_of_next(request.user, question.next),
    )
