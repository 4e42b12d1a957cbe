"""Suggested answers in words: for whoever suggests one, and for whoever it is offered to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo
from uuid import UUID

from django.contrib.auth.models import User

from ...branches.page.map import beginning_in_words
from ...branches.store.beginnings import load_beginnings
from ...core.durations import in_short, together
from ...core.recorded import Recorded
from ...pages.words.moments import Moment
from ...providers.configured import Catalog
from ..models import Submission, Suggestion
from ..news import name_or_somebody
from ..store.suggesting import MayBeSuggested, load_suggestible, suggestions_by


@dataclass(frozen=True, slots=True)
class Suggestible:
    """An answer of a fork: its model and how long it thought, and how it and its question begin."""

    pk: UUID
    model: str
    words: str
    question: str
    at: Moment


@dataclass(frozen=True, slots=True)
class ShownSuggestion:
    row: Suggestion
    by: str
    model: str
    at: Moment

    @property
    def state(self) -> str:
        if self.row.taken_id:
            return "taken as a branch"
        return "not taken" if self.row.settled_at else "offered"


def suggestible_answers(
    submission: Submission, reviewer: User, catalog: Catalog, zone: tzinfo
) -> list[Suggestible]:
    found = load_suggestible(submission, reviewer)
    wanted = dict.fromkeys(pk for each in found for pk in (each.answer.pk, each.question))
    words = {begun.row.pk: beginning_in_words(begun) for begun in load_beginnings(list(wanted))}
    return [_suggestible(each, words, catalog, zone) for each in found]


def _suggestible(each: MayBeSuggested, words: dict[UUID, str], catalog: Catalog, zone: tzinfo) -> Suggestible:
    row = each.answer
    taken = Recorded(row.metadata).thoughts.values()
    thought = f"{in_short(together(list(taken)))} of thought" if taken else ""
    model = ", ".join(filter(None, [catalog.label(row.model) or row.model, thought]))
    at = Moment(row.created_at.astimezone(zone))
    return Suggestible(row.pk, model, words.get(row.pk, ""), words.get(each.question, ""), at)


def shown_suggestions(rows: Iterable[Suggestion], catalog: Catalog, zone: tzinfo) -> list[ShownSuggestion]:
    return [shown_suggestion(row, catalog, zone) for row in rows]


def shown_suggestion(row: Suggestion, catalog: Catalog, zone: tzinfo) -> ShownSuggestion:
    model = catalog.label(row.answer.model) or row.answer.model
    return ShownSuggestion(row, name_or_somebody(row.by), model, Moment(row.created_at.astimezone(zone)))


def suggested_by(
    reviewer: User, submission: Submission, catalog: Catalog, zone: tzinfo
) -> list[ShownSuggestion]:
    return shown_suggestions(suggestions_by(reviewer, submission), catalog, zone)
