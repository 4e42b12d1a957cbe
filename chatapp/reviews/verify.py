"""Proves reviews: says in words where a submission, its messages and the notes on them contradict each other."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, TextField
from django.db.models.functions import Cast

from ..core import verbatim
from ..store.verify import ALSO, SOME
from .models import Note, Rating, Submission, Submitted


def review_breaches() -> Iterator[str]:
    """Every breach, one sentence each."""
    yield from _leaves()
    yield from _submitted()
    yield from _notes()
    yield from _ratings()


def _leaves() -> Iterator[str]:
    rows = Submission.objects.exclude(leaf=None).exclude(leaf__conversation=F("conversation"))
    for submission, leaf in rows.values_list("pk", "leaf").iterator(SOME):
        yield f"Submission {submission}: it opens at message {leaf}, which is not in its conversation."


def _submitted() -> Iterator[str]:
    every = Submitted.objects.order_by("pk")
    elsewhere = every.exclude(message__conversation=F("submission__conversation"))
    for submission, message in elsewhere.values_list("submission", "message").iterator(SOME):
        yield f"Submission {submission}: its message {message} is not in its conversation."
    more = every.filter(items__gt=F("message__next_seq"))
    rows = more.values_list("submission", "message", "items", "message__next_seq")
    for submission, message, items, there in rows.iterator(SOME):
        yield f"Submission {submission}: of message {message} it holds {items} items, and there are {there}."
    told = every.exclude(facts=None).annotate(told=Cast("facts", TextField()))
    for submission, message, text in told.values_list("submission", "message", "told").iterator(SOME):
        if not _is_map(text):
            yield f"Submission {submission}: its record of message {message} is not a map."


def _is_map(text: str) -> bool:
    try:
        return isinstance(verbatim.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _notes() -> Iterator[str]:
    here = Submitted.objects.filter(submission=OuterRef("submission"), message=OuterRef("message"))
    for note, submission in Note.objects.exclude(Exists(here)).values_list("pk", "submission").iterator(SOME):
        yield f"Submission {submission}: its note {note} stands on what was not submitted."
    answers = Note.objects.exclude(answer_to=None)
    same = {"answer_to__submission": F("submission"), "answer_to__message": F("message")}
    for note, submission in (
        answers.exclude(**same, answer_to__answer_to=None).values_list("pk", "submission").iterator(SOME)
    ):
        yield f"Submission {submission}: its answer {note} belongs to no note that began there."


def _ratings() -> Iterator[str]:
    here = Submitted.objects.filter(submission=OuterRef("seat__submission"), message=OuterRef("message"))
    rows = Rating.objects.annotate(is_here=Exists(here))
    wrong = rows.exclude(is_here=True, label__label_set=F("seat__submission__label_set"))
    for rating, submission in wrong.values_list("pk", "seat__submission").iterator(SOME):
        yield f"Submission {submission}: its rating {rating} is of what it does not ask for."


ALSO.append(review_breaches)
