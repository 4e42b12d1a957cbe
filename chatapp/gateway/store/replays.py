"""How often kept thoughts went back: for each model and day, and for each response that they are of."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from threading import Lock

from django.db import Error, transaction
from django.db.models import F

from ...store.database import long_writes
from ...store.database.worded import Worded
from ..models import KeptResponse, ReplayDay

log = logging.getLogger(__name__)
# Rows that are written at a time.
BATCH = 200


@dataclass(frozen=True, slots=True)
class Replayed:
    """Of one request: thoughts that were put back, answers that nothing was known of, and thoughts that its model does not take."""

    restored: int = 0
    missed: int = 0
    dropped: int = 0

    def __add__(self, other: Replayed) -> Replayed:
        return Replayed(
            self.restored + other.restored, self.missed + other.missed, self.dropped + other.dropped
        )


NOTHING_REPLAYED = Replayed()
_ADDED = Worded(
    lambda day, model, *_: ReplayDay.objects.filter(day=day, model=model),
    date,
    str,
    *(int for _ in ReplayDay.COUNTS),
    update=lambda day, model, *made: {
        name: F(name) + number for name, number in zip(ReplayDay.COUNTS, made, strict=True)
    },
    returning="id",
)


def count_replayed(day: date, model: str, replayed: Replayed) -> None:
    """Inside the transaction in which requests are counted, which does not fail with it."""
    made = [getattr(replayed, name) for name in ReplayDay.COUNTS]
    if any(made):
        try:
            with transaction.atomic():
                _add(day, model, made)
        except Error as error:
            log.warning("thoughts that went back were not counted: %s", type(error).__name__)


def _add(day: date, model: str, made: list[int]) -> None:
    if not _ADDED.columns(day, model, *made):
        ReplayDay.objects.bulk_create([ReplayDay(day=day, model=model)], ignore_conflicts=True)
        _ADDED.columns(day, model, *made)


class ReplaysToWrite:
    """Of each response, for as long as nobody has written it down: a long history names hundreds of them again and again."""

    def __init__(self) -> None:
        self._counted: Counter[str] = Counter()
        self._lock = Lock()

    def note(self, secrets: Collection[str]) -> None:
        with self._lock:
            self._counted.update(set(secrets))

    def write(self) -> None:
        """What cannot be written now is written the next time."""
        with self._lock:
            counted, self._counted = self._counted, Counter()
        by_number: dict[int, list[str]] = {}
        for secret, number in counted.items():
            by_number.setdefault(number, []).append(secret)
        for number, secrets in by_number.items():
            for at in range(0, len(secrets), BATCH):
                self._add(number, secrets[at : at + BATCH])

    def _add(self, number: int, secrets: list[str]) -> None:
        try:
            with long_writes.giving_way():
                KeptResponse.objects.filter(secret__in=secrets).update(replays=F("replays") + number)
        except Error:
            with self._lock:
                self._counted.update(dict.fromkeys(secrets, number))
            raise


to_write = ReplaysToWrite()
