"""Asking: a first question, the next one, the same one in other words, and the same one again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from ...core.attached import role_of
from ...next_questions.news import nothing_next
from ...next_questions.store import move as move_next
from ...next_questions.store import waits_for_it
from ...pages import operations
from ...pages.access import my_conversation, my_message, only_in_theirs
from ...pages.commands import away, by_script, refused, submission, to_conversation, told
from ...pages.elements import message_id
from ...pages.engine_calls import call
from ...pages.preferences import preference_of
from ...pages.signed_in import SignedIn
from ...providers.configured import UnknownModel
from ...store import Refused, Started, count_questions, load_items
from ...store.leaving_out import find_start
from ...store.models import Conversation, Message, Role
from ...thread.page import viewer_of
from ...turns.engine import engine
from ..forms import AskedQuestion, AskForm
from ..news.question import end_of_branch, load_question
from ..page.composer import composer_for, render_refused
from .home import render_home
from .keeping import ask_next, keep_next
from .starting import once, question_of
from .thread import render_conversation

NEITHER = "This can be answered no more: ask again."
# A page says so whose socket brings it everything.
LISTENING = "Listening"


@require_POST
@login_required
def ask_first(request: SignedIn) -> HttpResponse:
    """Opens a conversation."""
    form = AskForm(request.POST, request.user)
    try:
        started = _ask(request, form, None)
    except Refused as error:
        if by_script(request):
            return HttpResponse(render_refused(str(error), ""), status=_status(form))
        return render_home(request, form=form, refused=str(error), status=_status(form))
    return away(request, reverse("conversation", args=[started.conversation]))


@require_POST
@login_required
def ask(request: SignedIn, pk: UUID) -> HttpResponse:
    form = AskForm(request.POST, request.user)
    try:
        if kept := keep_next(request, form, pk):
            return kept
        started = ask_next(request, form, pk) or _ask(request, form, pk)
    except Refused as error:
        # What is not theirs is not there, whatever else is wrong.
        my_conversation(request.user, pk)
        if by_script(request):
            parent = form.cleaned_data.get("parent") or ""
            return HttpResponse(render_refused(str(error), parent), status=_status(form))
        return render_conversation(request, pk, form=form, refused=str(error), status=_status(form))
    if not by_script(request):
        return to_conversation(pk, started.question)
    if LISTENING in request.headers:
        return told([operations.expect(message_id(started.answer))])
    new = load_question(started.question, started.answer, viewer_of(request))
    return told([*nothing_next(), *new.news(engine().catalog, count_questions(pk, started.answer))])


def _status(form: AskForm) -> int:
    return 409 if form.is_valid() else 400


def _ask(request: SignedIn, form: AskForm, pk: UUID | None) -> Started:
    """Refused with the words for the person; the same form twice gives what it gave the first time."""
    question = question_of(form)
    shortened = my_conversation(request.user, pk) if pk and request.POST.get("leave_out") else None
    return once(
        request,
        engine().write_question,
        pk,
        question.text,
        author=request.user,
        model=question.model,
        effort=question.effort,
        parent=question.parent,
        instructions="" if pk else _instructions(request, question),
        tools=question.tools,
        submission=submission(request, question.key),
        sent_from=_sent_from(question.parent, question.model, shortened) if shortened else None,
        may=only_in_theirs(request.user),
    )


def _instructions(request: SignedIn, question: AskedQuestion) -> str:
    """Of a conversation that this question opens."""
    said = question.instructions
    return preference_of(request.user).instructions if said is None else said


def _sent_from(leaf: UUID | None, model: str, mine: Conversation) -> UUID | None:
    """From where on the branch is sent when its oldest turns are left out."""
    return find_start(leaf, engine().catalog.find(model)[1].window, of=mine) if leaf else None


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def edit(request: SignedIn, pk: UUID) -> HttpResponse:
    """A sibling of a question, in other words. The old one stays."""
    message = my_message(request.user, pk)
    if message.role != Role.USER:
        return refused(request, "Only questions can be edited.")
    if request.method != "POST":
        text = "\n\n".join(item.text for item in load_items(pk) if role_of(item.wire) == "user")
        return _editing(request, message, {"text": text})
    form = AskForm(_with_model(request, _newest_answer(message)), request.user)
    try:
        _ask_beside(request, form, message)
    except Refused as error:
        return _editing(request, message, form.data, sentence=str(error), status=_status(form))
    return to_conversation(message.conversation_id)


def _ask_beside(request: SignedIn, form: AskForm, message: Message) -> Started:
    question = question_of(form)
    return once(
        request,
        engine().write_question,
        message.conversation_id,
        question.text,
        author=request.user,
        model=question.model,
        effort=question.effort,
        parent=message.parent_id,
        submission=submission(request, question.key),
    )


def _editing(
    request: SignedIn, message: Message, data: Mapping[str, Any], *, sentence: str = "", status: int = 200
) -> HttpResponse:
    """A script has the form still, and shows the sentence in it."""
    context = {"message": message, "text": data.get("text", ""), "sentence": sentence}
    beside = "conversations/asking/_edit_refused.html" if sentence else "conversations/asking/_edit.html"
    return render(
        request, beside if by_script(request) else "conversations/asking/edit.html", context, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def again(request: SignedIn, pk: UUID) -> HttpResponse:
    """A sibling answer, by the same model or another one."""
    answer = my_message(request.user, pk, has_next=waits_for_it(request.user))
    if request.method != "POST":
        listings = async_to_sync(engine().catalog.models_soon)()
        preference = preference_of(request.user)
        composer = composer_for(request.user, preference, answer.conversation, answer, listings)
        template = (
            "conversations/asking/_again.html" if by_script(request) else "conversations/asking/again.html"
        )
        return render(request, template, {"answer": answer, "composer": composer})
    try:
        _ask_again(request, answer)
    except Refused as error:
        return refused(request, str(error))
    return to_conversation(answer.conversation_id)


def _ask_again(request: SignedIn, answer: Message) -> Started:
    """`answer` may be a question that has none, or whose answers were deleted."""
    before = answer if answer.role == Role.ASSISTANT else _newest_answer(answer)
    question = answer.parent_id if answer.role == Role.ASSISTANT else answer.pk
    form = AskForm(_with_model(request, before) | {"text": "-"}, request.user)
    if not form.is_valid() or question is None:
        raise Refused(form.sentence or NEITHER)
    model = form.question.model
    started = once(
        request,
        engine().write_answer,
        question,
        author=request.user,
        model=model,
        effort=form.question.effort,
        submission=submission(request, form.question.key),
        sent_from=_sent_from(answer.pk, model, answer.conversation)
        if request.POST.get("leave_out")
        else None,
    )
    if vars(answer)["has_next"]:
        move_next(request.user, before=answer.pk, to=started.answer)
    return started


def _with_model(request: SignedIn, before: Message | None) -> dict[str, str]:
    """What was sent; where no model was chosen, the one of the answer before."""
    data = {name: value for name, value in request.POST.items() if isinstance(value, str)}
    if before and not data.get("model"):
        data |= {"model": before.model, "effort": before.effort}
    return data


def _newest_answer(question: Message) -> Message | None:
    return question.children.filter(deletion=None).order_by("-order").first()


@require_POST
@login_required
def stop(request: SignedIn, pk: UUID) -> HttpResponse:
    answer = my_message(request.user, pk)
    if answer.role != Role.ASSISTANT:
        return refused(request, "Only answers can be stopped.")
    call(engine().stop, pk, by=str(request.user.pk))
    if not by_script(request):
        return to_conversation(answer.conversation_id, pk)
    stored = Message.objects.select_related("parent").get(pk=pk)
    stopped, _ = engine().keeper.known(stored, ())
    return told(end_of_branch(stopped, engine().catalog, answer.conversation.program))


@require_POST
@login_required
def go_on(request: SignedIn, pk: UUID) -> HttpResponse:
    """Continue in the same message; Retry too where nothing was kept, else as a sibling."""
    answer = my_message(request.user, pk, has_next=waits_for_it(request.user))
    try:
        engine().catalog.offered(answer.model)
    except UnknownModel as error:
        return refused(request, str(error) if answer.model else NEITHER)
    try:
        if call(engine().go_on, pk):
            return to_conversation(answer.conversation_id, pk)
        if answer.status != "failed" or answer.parent_id is None:
            return refused(request, NEITHER)
        _ask_again(request, answer)
    except Refused as error:
        return refused(request, str(error))
    return to_conversation(answer.conversation_id)
