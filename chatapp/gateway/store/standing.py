"""What stands with a key and its owner before a request: how many are under way, what was used today, and whether there is room."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from ...insight.store.sums import day_of
from ...limits import store as limits
from ...limits.store import ALSO, UsedToday
from ...store.database.worded import Worded
from ...store.refusal import BeyondLimit, Refused
from ..models import ApiKey, KeyDay, KeyRequest
from .keys import opening

# Requests at once, of one key and of all keys of a person.
MOST_OF_KEY = 128
MOST_OF_PERSON = 256


class DeadKey(Refused):
    """It opened something before."""


class TooMany(Refused):
    """Too many at once. When one of them has ended there is room again."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How many requests are under way, and what was used with the key today, with what these have reserved."""

    of_key: int
    of_person: int
    key_today: UsedToday
    person_running: UsedToday

    def with_one_more(self, estimate: int) -> Standing:
        one = UsedToday(1, estimate)
        return Standing(self.of_key + 1, self.of_person + 1, self.key_today + one, self.person_running + one)


def running_of(user: User, since: datetime) -> UsedToday:
    """What somebody's keys are at, and have reserved. One that runs since yesterday is none of today's."""
    rows = KeyRequest.objects.filter(owner=user, began_at__gte=since)
    found = rows.aggregate(turns=Count("pk"), tokens=Coalesce(Sum("estimate"), 0))
    return UsedToday(found["turns"], found["tokens"])


ALSO.append(running_of)

_TODAY = ("turns", "input", "output", "cost")
_STANDING = Worded(
    # One statement, so that what ends meanwhile is seen either under way or as used, and never neither.
    lambda key, now, since, day: (
        opening(now)
        .filter(pk=key)
        .annotate(
            **{
                name: Subquery(
                    KeyRequest.objects.filter(owner=OuterRef("owner"))
                    .order_by()
                    .values("owner")
                    .annotate(it=it)
                    .values("it")
                )
                for name, it in {
                    "of_key": Count("pk", filter=Q(key=key)),
                    "of_person": Count("pk"),
                    "key_turns": Count("pk", filter=Q(key=key, began_at__gte=since)),
                    "key_tokens": Sum("estimate", filter=Q(key=key, began_at__gte=since)),
                    "running": Count("pk", filter=Q(began_at__gte=since)),
                    "reserved": Sum("estimate", filter=Q(began_at__gte=since)),
                }.items()
            },
            **{
                f"day_{name}": Subquery(
                    KeyDay.objects.filter(key=key, day=day)
                    .order_by()
                    .values("key")
                    .annotate(it=Sum(name))
                    .values("it")
                )
                for name in _TODAY
            },
        )
        .values_list(
            *("of_key", "of_person", "key_turns", "key_tokens", "running", "reserved"),
            *(f"day_{name}" for name in _TODAY),
        )
    ),
    UUID,
    datetime,
    datetime,
    date,
)


def load_standing(key: ApiKey, now: datetime) -> Standing:
    day = day_of(now)
    found = _STANDING.columns(key.pk, now, datetime.combine(day, time(), UTC), day)
    if not found:
        raise DeadKey("This key opens nothing any more.")
    numbers = [int(number or 0) for number in found[0]]
    of_key, of_person, key_turns, key_tokens, running, reserved, turns, read, written, cost = numbers
    return Standing(
        of_key,
        of_person,
        UsedToday(turns + key_turns, read + written + key_tokens, cost),
        UsedToday(running, reserved),
    )


def refuse_too_many_at_once(stands: Standing) -> None:
    if stands.of_key >= MOST_OF_KEY:
        raise TooMany(
            f"{MOST_OF_KEY} requests of this key are being answered. Wait until one of them has ended."
        )
    if stands.of_person >= MOST_OF_PERSON:
        raise TooMany(
            f"{MOST_OF_PERSON} requests of your keys are being answered. Wait until one of them has ended."
        )


def refuse_beyond_own(key: ApiKey, used: UsedToday, now: datetime) -> None:
    if said := limits.exceeded(key, used, "This key has used its"):
        raise BeyondLimit(limits.refusal(key, said, now))
