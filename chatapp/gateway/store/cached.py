"""What staff see of the thoughts that are kept for programs, and clear. Each read is bounded, however many there are."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from math import inf
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Max, Min, QuerySet, Sum
from django.utils import timezone

from ...core.items import Kind
from ..models import KeptCleared, KeptLook, KeptResponse, ReplayDay
from ..replay.kept import Lookups, items_in
from . import kept, purging
from .replays import Replayed

# Words that are read at a time, in bytes of what is kept with them.
MOST_WORDS = 16 * 2**20
# That an owner is told of.
MOST_LOOKS = 50


@dataclass(frozen=True, slots=True)
class KeptOfModel:
    """What is kept of one model of a provider. `model` is its own name."""

    provider: str
    model: str
    entries: int
    characters: int
    oldest: datetime
    newest: datetime

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"


@dataclass(frozen=True, slots=True)
class WantedEntries:
    """Which entries: of this provider, of this model, or one alone."""

    provider: str = ""
    model: str = ""
    secret: str = ""

    @property
    def can_be(self) -> bool:
        """Whether any row can have such names."""
        columns: dict[str, Any] = {each.name: each for each in KeptResponse._meta.concrete_fields}
        return all(len(getattr(self, each.name)) <= columns[each.name].max_length for each in fields(self))


EVERYTHING = WantedEntries()


def load_kept_by_model() -> list[KeptOfModel]:
    """The most first."""
    groups = _kept().order_by().values_list("provider", "model")
    found = groups.annotate(Count("expires_at"), Sum("characters"), Min("created_at"), Max("created_at"))
    return sorted((KeptOfModel(*row) for row in found), key=lambda each: (-each.entries, each.name))


def load_entries(wanted: WantedEntries, most: int) -> list[KeptResponse]:
    """The newest first, without what they hold."""
    rows = _of(wanted).select_related("owner").defer("saved").order_by("-created_at")
    return list(rows[:most])


def load_words(rows: Iterable[KeptResponse], who: User, *, address: str) -> dict[str, str]:
    """By their secrets, and written down before anybody sees them. Where it is too much at once, the last ones are left out."""
    secrets, looked, room = list[str](), Counter[int](), MOST_WORDS
    for row in rows:
        room -= row.size
        if room < 0 and secrets:
            break
        secrets.append(row.secret)
        looked[row.owner_id] += 1
    _append_looks(looked, who, address)
    held = KeptResponse.objects.filter(secret__in=secrets).values_list("secret", "saved")
    return {secret: _words_in(saved) for secret, saved in held}


def _words_in(saved: dict[str, object]) -> str:
    thoughts = [item.text for item in items_in(saved) if item.kind is Kind.REASONING]
    return "\n\n".join(filter(None, thoughts))


def _append_looks(looked: Counter[int], who: User, address: str) -> None:
    """One row for each owner. One's own leave none."""
    name = who.get_username()
    KeptLook.objects.bulk_create(
        KeptLook(who=who, name=name, owner_id=owner, responses=number, address=address)
        for owner, number in looked.items()
        if owner != who.pk
    )


def looks_at_kept(owner: User) -> list[KeptLook]:
    """What is kept for somebody, the newest first."""
    return list(KeptLook.objects.filter(owner=owner).order_by("-at", "-pk")[:MOST_LOOKS])


def clear(wanted: WantedEntries) -> int:
    """In memory and in the database; the other processes hear of it within seconds. Says how many go. What cannot be erased at once
    is erased by whoever goes on with it."""
    if not wanted.can_be:
        return 0
    mark = KeptCleared.objects.create(provider=wanted.provider, secret=wanted.secret)
    heard_cleared.own.add(mark.pk)
    if wanted == EVERYTHING:
        kept.memory.lookups = Lookups()
    kept.memory.forget(provider=wanted.provider, secret=wanted.secret)
    number = _before(mark).count()
    _erase(mark, until=time.monotonic() + purging.SECONDS)
    return number


def go_on_clearing() -> None:
    for mark in list(KeptCleared.objects.filter(is_done=False)):
        _erase(mark)


def _erase(mark: KeptCleared, until: float = inf) -> None:
    purging.erase(_before(mark), until=until)
    if not _before(mark).exists():
        KeptCleared.objects.filter(pk=mark.pk).update(is_done=True)


def _before(mark: KeptCleared) -> QuerySet[KeptResponse]:
    said = {"owner": mark.owner, "provider": mark.provider, "secret": mark.secret}
    wanted = {name: value for name, value in said.items() if value}
    return KeptResponse.objects.filter(created_at__lte=mark.at, **wanted)


@dataclass(slots=True)
class ReplaysOfDays:
    """Since a day: of each model by its whole name, and of all."""

    of: dict[str, Replayed] = field(default_factory=dict)

    @property
    def all(self) -> Replayed:
        sums = (sum(getattr(each, name) for each in self.of.values()) for name in ReplayDay.COUNTS)
        return Replayed(*sums)


def load_replays(since: date) -> ReplaysOfDays:
    rows = ReplayDay.objects.filter(day__gte=since).order_by().values_list("model")
    return ReplaysOfDays(
        {model: Replayed(*made) for model, *made in rows.annotate(*map(Sum, ReplayDay.COUNTS))}
    )


class HeardCleared:
    """What others cleared, as this process learns of it."""

    def __init__(self) -> None:
        self._last: int | None = None
        # These this process has cleared itself.
        self.own: set[int] = set()

    def take_in(self) -> None:
        rows = KeptCleared.objects.order_by("pk")
        if self._last is None:
            self._last = rows.values_list("pk", flat=True).last() or 0
        for row in rows.filter(pk__gt=self._last):
            self._last = row.pk
            if row.pk not in self.own:
                kept.memory.forget(owner=row.owner, provider=row.provider, secret=row.secret)
        self.own.clear()


heard_cleared = HeardCleared()


def _kept() -> QuerySet[KeptResponse]:
    return KeptResponse.objects.filter(expires_at__gt=timezone.now())


def _of(wanted: WantedEntries) -> QuerySet[KeptResponse]:
    said = {"provider": wanted.provider, "model": wanted.model, "secret": wanted.secret}
    return _kept().filter(**{name: value for name, value in said.items() if value})
