"""What the list of conversations can be narrowed to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from ...core.model_name import ModelName
from ...core.named import number
from ...core.signs.visible import visible
from ...pages.staff.bounded import ChoiceFilter
from ...reviews.store.reviewing import judged, to_assign
from ...store.models import Conversation, Status
from ..store import browsing

PEOPLE = 20
_STATES = {
    "answering": ("Answering now", (Status.QUEUED, Status.RUNNING)),
    "waits": ("Waits for its person or program", (Status.WAITING,)),
    "failed": ("Has a failed answer", (Status.FAILED,)),
    "stopped": ("Has a stopped answer", (Status.STOPPED,)),
    "interrupted": ("Has an interrupted answer", (Status.INTERRUPTED,)),
}
_DAYS = {"1": "Last 24 hours", "7": "Last 7 days", "30": "Last 30 days", "365": "Last year"}
_SECOND, _MINUTE = 1000, 60_000
_THINKING: dict[str, tuple[str, int, int | None]] = {
    "0": ("Below 10 seconds", 0, 10 * _SECOND),
    "10": ("10 seconds to a minute", 10 * _SECOND, _MINUTE),
    "60": ("1 to 10 minutes", _MINUTE, 10 * _MINUTE),
    "600": ("10 minutes and more", 10 * _MINUTE, None),
}


class OwnerFilter(ChoiceFilter):
    """Those who came last, then those who never did; anybody else by the list of people."""

    title, parameter_name = "user", "owner"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        people = list(User.objects.order_by(F("last_login").desc(nulls_last=True), "pk")[:PEOPLE])
        chosen = number(request.GET.get("owner", ""))
        if chosen is not None:
            known = {person.pk for person in people}
            people += User.objects.filter(pk=chosen).exclude(pk__in=known)
        return [(person.pk, visible(person.get_username())) for person in people]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        return queryset.filter(owner=int(self.value() or 0)) if self.value() else queryset


class ModelFilter(ChoiceFilter):
    title, parameter_name = "model", "model"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [(name, visible(name)) for name in _models_browsed(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        name = self.value()
        return browsing.of_models(queryset, [name]) if name else queryset


class ProviderFilter(ChoiceFilter):
    title, parameter_name = "provider", "provider"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        names = sorted({ModelName.of(name).provider for name in _models_browsed(request)} - {""})
        return [(name, visible(name)) for name in names]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        if not self.value():
            return queryset
        theirs = [name for name in _models_browsed(request) if ModelName.of(name).provider == self.value()]
        return browsing.of_models(queryset, theirs)


class StateFilter(ChoiceFilter):
    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [(name, words) for name, (words, _) in _STATES.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        name = self.value()
        return browsing.in_state(queryset, *_STATES[name][1]) if name else queryset


class ReviewFilter(ChoiceFilter):
    """Submissions that were taken back, or whose messages are gone, do not count."""

    title, parameter_name = "review", "review"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [("open", "Under review"), ("judged", "Has a verdict")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        if not self.value():
            return queryset
        found = to_assign() if self.value() == "open" else judged()
        return queryset.filter(pk__in=found.values("conversation"))


class DateFilter(ChoiceFilter):
    title, parameter_name = "last question", "days"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [*_DAYS.items(), ("older", "Older")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        match self.value():
            case None:
                return queryset
            case "older":
                return queryset.filter(updated_at__lt=timezone.now() - timedelta(days=365))
            case days:
                return queryset.filter(updated_at__gte=timezone.now() - timedelta(days=int(days)))


class ThinkingFilter(ChoiceFilter):
    """It looks at what all the others and the search have left, so the list asks `narrow` when it has that."""

    title = f"thinking time (of the newest {browsing.NEWEST_TIMED:,} that fit)"
    parameter_name = "thinking"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [(name, words) for name, (words, _, _) in _THINKING.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Conversation]) -> QuerySet[Conversation]:
        return queryset


def narrow_by_thinking(request: HttpRequest, rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    found = _THINKING.get(request.GET.get("thinking", ""))
    return browsing.with_thinking(rows, found[1], found[2]) if found else rows


def _models_browsed(request: HttpRequest) -> list[str]:
    """Asked once for both filters of a page."""
    known: list[str] | None = getattr(request, "models_browsed", None)
    if known is None:
        known = browsing.load_models()
        request.models_browsed = known  # type: ignore[attr-defined]
    return known


FILTERS: tuple[type[ChoiceFilter], ...] = (
    OwnerFilter,
    ModelFilter,
    ProviderFilter,
    StateFilter,
    ReviewFilter,
    DateFilter,
    ThinkingFilter,
)
