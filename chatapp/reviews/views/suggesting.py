"""Another answer: suggested by a reviewer from their fork, and seen, taken or declined by the owner."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ...core.named import identity
from ...pages.commands import keeps, refused
from ...pages.elements import message_id
from ...pages.in_address import number_in
from ...pages.limiting.wholesale import refuse_too_many
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...store import Refused
from ...turns.engine import engine
from ..access import held_submission, my_suggestion
from ..forms import SuggestForm, see_other, taken
from ..page.suggested import shown_suggestion, suggested_by, suggestible_answers
from ..page.two_answers import load_two_answers
from ..store import suggesting as store


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@keeps("words")
def suggest(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET shows what of one's forks may be suggested, POST suggests one of them."""
    row, catalog, zone = held_submission(request.user, pk), engine().catalog, zone_of(request)
    if request.method != "POST":
        context = {
            "submission": row,
            "owner": row.conversation.owner.get_username(),
            "answers": suggestible_answers(row, request.user, catalog, zone),
            "suggested": suggested_by(request.user, row, catalog, zone),
        }
        return render(request, "reviews/suggesting/suggest.html", context)
    answer = identity(request.POST.get("answer", ""))
    if answer is None:
        raise Refused("Choose an answer.")
    words = taken(SuggestForm(request.POST))["words"]
    store.suggest(row, by=request.user, answer=answer, words=words)
    return see_other("suggest", row.pk)


@require_safe
@login_required
def suggested(request: SignedIn, pk: UUID) -> HttpResponse:
    """The answer that somebody suggests, beside the owner's own."""
    row = my_suggestion(request.user, pk)
    shown = shown_suggestion(row, engine().catalog, zone_of(request))
    page = load_two_answers(request, row, number_in(request, "from") or 0)
    if page is None:
        raise Http404
    return render(request, "reviews/suggesting/suggested.html", {"shown": shown, "page": page})


@require_POST
@login_required
def take_suggested(request: SignedIn, pk: UUID) -> HttpResponse:
    row = my_suggestion(request.user, pk)
    try:
        refuse_too_many(request.user)
        new = store.take(row, by=request.user)
    except Refused as refusal:
        return refused(request, str(refusal))
    return see_other("conversation", row.submission.conversation_id, after=f"?at={new}#{message_id(new)}")


@require_POST
@login_required
def decline_suggested(request: SignedIn, pk: UUID) -> HttpResponse:
    row = my_suggestion(request.user, pk)
    store.decline_suggestion(row)
    return see_other("conversation", row.submission.conversation_id)
