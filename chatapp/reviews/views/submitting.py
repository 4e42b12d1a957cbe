"""The owner's side of reviews: submit, see what became of it, take it back; and what administrators ask for."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ...pages.access import my_message
from ...pages.commands import away, by_script, keeps, submission_named, to_conversation
from ...pages.limiting.wholesale import WISHES, refuse_too_many
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...pages.words.moments import Moment
from ...turns.engine import engine
from ..access import conversation_to_ask_for, my_submission, my_wish
from ..forms import SubmitForm, WishForm, see_other, taken
from ..models import Scope
from ..news import shown_submissions, shown_wishes
from ..page.agreement import labels_in_words
from ..store import submitting as store
from ..store.labels import sets_at_hand

# The newest; older ones are found in their conversations.
MOST_LISTED = 200


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@keeps("question")
def submit(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET asks how much and what for, POST submits it."""
    message = my_message(request.user, pk)
    if request.method != "POST":
        until = Moment(message.created_at.astimezone(zone_of(request)))
        sets = [(row.pk, row.name, labels_in_words(row, number)) for row, number in sets_at_hand()]
        context = {"message": message, "until": until, "scopes": Scope.choices, "sets": sets}
        return render(
            request, "reviews/_submit.html" if by_script(request) else "reviews/submit.html", context
        )
    chosen = taken(SubmitForm(request.POST))
    refuse_too_many(request.user)
    made = store.submit(message, by=request.user, key=submission_named(request), **chosen)
    return away(request, reverse("review", args=[made.pk]))


@require_safe
@login_required
def reviews(request: SignedIn) -> HttpResponse:
    """One's own submissions, and what administrators asked for."""
    zone, found = zone_of(request), store.submissions_of(request.user)
    context = {
        "rows": shown_submissions(found[:MOST_LISTED], request.user, engine().catalog, zone),
        "more": max(0, found.count() - MOST_LISTED),
        "wishes": shown_wishes(store.wishes_of(request.user), zone),
    }
    return render(request, "reviews/reviews.html", context)


@require_POST
@login_required
def withdraw(request: SignedIn, pk: UUID) -> HttpResponse:
    store.withdraw(my_submission(request.user, pk))
    return see_other("reviews")


@require_POST
@login_required
def decline(request: SignedIn, pk: UUID) -> HttpResponse:
    """Not now."""
    wish = my_wish(request.user, pk)
    store.decline(wish)
    return see_other("reviews") if "list" in request.POST else to_conversation(wish.conversation_id)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@keeps("words")
def ask_to_submit(request: SignedIn, pk: UUID) -> HttpResponse:
    """An administrator asks the owner of a conversation to submit it. Nothing of it is shown here."""
    conversation = conversation_to_ask_for(request.user, pk)
    if request.method != "POST":
        return render(request, "reviews/review_ask.html", {"conversation": conversation})
    chosen = taken(WishForm(request.POST))
    refuse_too_many(request.user, WISHES)
    store.ask_to_submit(conversation, by=request.user, **chosen)
    return render(request, "reviews/review_ask.html", {"conversation": conversation, "asked": True})
