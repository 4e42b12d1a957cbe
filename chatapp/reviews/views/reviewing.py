"""The queue of reviewers, the page of a review, and what is done there."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import Count, Min, Q
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ...core.named import identity, number
from ...pages.access import only_staff
from ...pages.commands import keeps, refused, submission_named, to_composer
from ...pages.elements import message_id
from ...pages.limiting.wholesale import refuse_too_many
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...pages.words.moments import lasted
from ...store import Refused, if_possible
from ...turns.engine import engine
from ..access import (
    held_submission,
    may_see_the_queue,
    note_on,
    queued_submission,
    readable_submission,
    reviewer_named,
    submission_to_assign,
    submission_to_rate,
    submitted_message,
)
from ..forms import NoteForm, VerdictForm, see_other, taken
from ..models import LabelSet, Submission
from ..news import shown_submissions
from ..page.agreement import agreement_in
from ..page.passages import passage_named
from ..page.rating import said_in
from ..page.review import load_review_page
from ..store import rating
from ..store import reviewing as store
from ..store.reviewers import is_reviewer, reviewers

MOST_LISTED = 200
SHOWS = {"open": "Open", "done": "Done", "all": "All"}


@require_safe
@login_required
def queue(request: SignedIn) -> HttpResponse:
    user = request.user
    if not may_see_the_queue(user):
        raise Http404
    every = store.everything() if user.is_staff else store.queue_of(user)
    # Nobody else comes here.
    reviews = not user.is_staff or is_reviewer(user)
    shows = {
        "open": every.filter(decided_at=None),
        "done": every.filter(decided_at__isnull=False),
        "all": every,
    }
    show = request.GET.get("show", "")
    show = show if show in shows else "open"
    rows, zone = shows[show][:MOST_LISTED], zone_of(request)
    found = shown_submissions(rows, user, engine().catalog, zone, takes=reviews)
    is_open = Q(decided_at=None)
    counts = every.order_by().aggregate(
        all=Count("pk"), open=Count("pk", filter=is_open), oldest=Min("created_at", filter=is_open)
    )
    counts["done"] = counts["all"] - counts["open"]
    context = {
        "rows": found,
        "show": show,
        "shows": [(name, SHOWS[name], counts[name]) for name in shows],
        "more": counts[show] - len(found),
        "oldest": lasted(timezone.now() - counts["oldest"]) if counts["oldest"] else "",
        "agreement": [agreement_in(row) for row in _sets_to_tell(user)],
        "assigned": number(request.GET.get("assigned", "")),
        "reviews": reviews,
        "reviewers": list(reviewers()) if user.is_staff else [],
    }
    return render(request, "reviews/queue.html", context)


def _sets_to_tell(user: User) -> list[LabelSet]:
    """Raters are told of what they have handed in."""
    return list(rating.sets_with_ratings() if user.is_staff else rating.sets_handed_in_by(user))


@require_safe
@login_required
def review(request: SignedIn, pk: UUID) -> HttpResponse:
    """One branch of what was submitted. Looking around in it moves nobody's place."""
    row = readable_submission(request.user, pk)
    # A page that looks by itself what is new may show another branch.
    if request.method == "GET" and "Looking" not in request.headers:
        if_possible(store.open_for, request.user, row)
    reading = store.load_reading(row)
    named = request.GET.get("at", "")
    at = submitted_message(row, named) if named else reading.leaf
    if at is None:
        raise Http404
    start = number(request.GET.get("from", "")) if named or "from" in request.GET else 0
    page = load_review_page(reading, at, request.user, engine().catalog, zone_of(request), start)
    return render(request, "reviews/review.html", {"page": page, "submission": row})


@require_safe
@login_required
def still_there(request: SignedIn, pk: UUID) -> HttpResponse:
    """What an open page asks now and then."""
    readable_submission(request.user, pk)
    return HttpResponse(status=204)


@require_POST
@login_required
def claim(request: SignedIn, pk: UUID) -> HttpResponse:
    row = queued_submission(request.user, pk)
    return _done(request, lambda: store.claim(row, by=request.user)) or see_other("review", pk)


@require_POST
@login_required
def release(request: SignedIn, pk: UUID) -> HttpResponse:
    row = held_submission(request.user, pk)
    return _done(request, lambda: store.release(row, by=request.user)) or see_other("queue")


@require_POST
@login_required
def assign(request: SignedIn, pk: UUID) -> HttpResponse:
    row = submission_to_assign(request.user, pk)
    to = reviewer_named(request.POST.get("reviewer", ""))
    return _done(request, lambda: store.assign(row, to=to)) or see_other("queue")


@require_POST
@login_required
def assign_some(request: SignedIn) -> HttpResponse:
    """What was chosen in the queue, to one or to all in turn. What is gone meanwhile, or held, is passed over."""
    only_staff(request.user)
    named = request.POST.get("reviewer", "")
    to = [reviewer_named(named)] if named else list(reviewers())
    chosen = filter(None, map(identity, request.POST.getlist("chosen")[:MOST_LISTED]))
    rows = store.to_assign().filter(pk__in=list(chosen)).order_by("created_at", "pk")
    given = store.assign_each(list(rows), to=to) if to else 0
    return see_other("queue", after=f"?assigned={given}")


@require_POST
@login_required
def rate(request: SignedIn, pk: UUID) -> HttpResponse:
    """Labels as far as they were filled in; and that it is all, where the form says so."""
    row = submission_to_rate(request.user, pk)
    said = said_in(request.POST)
    hand_in = "hand_in" in request.POST
    done = _done(request, lambda: rating.rate(row, by=request.user, said=said, hand_in=hand_in))
    return done or _back_to_page(request, row)


@require_POST
@login_required
@keeps("text")
def note(request: SignedIn, pk: UUID) -> HttpResponse:
    """On a message, by its reviewer; or an answer, by either side."""
    row, user = readable_submission(request.user, pk), request.user
    to = note_on(row, user, request.POST["answer_to"]) if "answer_to" in request.POST else None
    if to is None:
        row = held_submission(user, pk)
    about = to.message_id if to else submitted_message(row, request.POST.get("message", ""))
    said = taken(NoteForm(request.POST))
    if to:
        store.append_answer(row, by=user, text=said["text"], to=to)
    else:
        begins = said["begins"] or 0
        passage = passage_named(row, about, said["item"], said["quote"], begins) if said["quote"] else None
        store.append_note(row, by=user, text=said["text"], message=about, passage=passage)
    return _back_to_message(request, row, about)


@require_POST
@login_required
@keeps("reason")
def verdict(request: SignedIn, pk: UUID) -> HttpResponse:
    row = held_submission(request.user, pk)
    store.give_verdict(row, by=request.user, **taken(VerdictForm(request.POST)))
    return see_other("review", pk, after="#verdict")


@require_POST
@login_required
def fork(request: SignedIn, pk: UUID) -> HttpResponse:
    row = held_submission(request.user, pk)
    until = submitted_message(row, request.POST.get("until", ""))
    try:
        refuse_too_many(request.user)
        made = store.fork_submitted(row, by=request.user, until=until, key=submission_named(request))
    except Refused as refusal:
        return refused(request, str(refusal))
    return to_composer(request, made.conversation.pk)


def _back_to_page(request: SignedIn, row: Submission) -> HttpResponse:
    """Where they were in it."""
    at, start = request.POST.get("at", ""), number(request.POST.get("from", ""))
    query = {name: value for name, value in (("at", at), ("from", start)) if value not in ("", None)}
    return see_other("review", row.pk, after=f"?{urlencode(query)}" if query else "")


def _done(request: SignedIn, command: Callable[[], object]) -> HttpResponse | None:
    """None when it worked."""
    try:
        command()
    except Refused as refusal:
        return refused(request, str(refusal))
    return None


def _back_to_message(request: SignedIn, row: Submission, about: UUID) -> HttpResponse:
    """To the message on the branch on which they were."""
    try:
        at = submitted_message(row, request.POST.get("at", ""))
    except Http404:
        at = about
    return see_other("review", row.pk, after=f"?at={at}#n-{message_id(about)}")
