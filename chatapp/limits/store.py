"""Daily limits: who has which, what of it is used, and the refusal of a turn that would go beyond."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import ceil
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Exists, F, Q, Sum
from django.dispatch import receiver
from django.utils import timezone

from ..catalog.models import ModelProvider
from ..catalog.store import load_price
from ..core.counting import counts, newest, portions
from ..core.durations import in_short
from ..core.plural import many
from ..core.recorded import Recorded
from ..insight.models import PersonDay
from ..insight.store.sums import day_of
from ..reviews.store.reviewers import reviewers
from ..store.changes import turn_starts
from ..store.database.worded import Worded
from ..store.models import IS_LIVE, LIVE, Message
from ..store.refusal import BeyondLimit
from .models import DailyLimit

Who = DailyLimit.Who
MOST_TELLING_FIRST = tuple(Who.values)
MILLION = 1_000_000
NOTHING_ALLOWED = "Your daily limit allows nothing. Ask whoever runs this server for more."


class OfADay(Protocol):
    """How much of each in one day; None without a limit. `cost` in dollars."""

    turns: Any
    tokens: Any
    cost: Any


@dataclass(frozen=True, slots=True)
class UsedToday:
    """Today. `cost` in millionths of a dollar, as far as prices are known."""

    turns: int = 0
    tokens: int = 0
    cost: int = 0

    def __add__(self, other: UsedToday) -> UsedToday:
        return UsedToday(self.turns + other.turns, self.tokens + other.tokens, self.cost + other.cost)


# What is under way for somebody since a moment, and is no turn: whoever has such things adds itself here.
ALSO: list[Callable[[User, datetime], UsedToday]] = []


@receiver(turn_starts)
def _turn_starts(owner: User, **_: Any) -> None:
    refuse_beyond(owner)


def refuse_beyond(user: User, now: datetime | None = None) -> None:
    """Called in the transaction that makes a turn, before it is made: of many at once, as many come through as are left."""
    if limit := load_limit(user):
        hold(user)
        refuse_beyond_limit(limit, user, now or timezone.now())


def refuse_beyond_limit(
    limit: DailyLimit, user: User, moment: datetime, beside: UsedToday | None = None
) -> None:
    """Of somebody who is held. `beside`: what is under way and is no turn, where the caller has just read it."""
    # A turn that ends between two reads is seen twice; a second look sees it once.
    if _exceeded(limit, load_used(user, moment, beside)) and (
        said := _exceeded(limit, load_used(user, moment))
    ):
        raise BeyondLimit(refusal(limit, said, moment))


def hold(user: User) -> None:
    """From here to the end of this transaction nobody else starts anything for them. On SQLite nobody else writes meanwhile."""
    if connection.vendor != "sqlite":
        User.objects.select_for_update(no_key=True).filter(pk=user.pk).values("pk").first()


def save_limit(row: DailyLimit) -> None:
    row.save()


_LIMITS_OF = Worded(
    lambda user: DailyLimit.objects.filter(Q(user=None) | Q(user=user)).annotate(
        has_key=Exists(ModelProvider.objects.filter(is_on=True).exclude(key_variable="")),
        is_staff=Exists(User.objects.filter(pk=user, is_staff=True)),
        is_reviewer=Exists(reviewers().filter(pk=user)),
        signed_up=Exists(User.objects.filter(pk=user, signed_up__isnull=False)),
    ),
    int,
)


def load_limit(user: User) -> DailyLimit | None:
    """The one that says most about them, where it limits anything."""
    rows = {row.who: row for row in _LIMITS_OF.rows(user.pk)}
    for who in MOST_TELLING_FIRST:
        if who in rows and _is_in_force(rows[who]) and _is_one_of(who, rows[who]):
            row = rows[who]
            return row if (row.turns, row.tokens, row.cost) != (None, None, None) else None
    return None


_RUNNING = Worded(
    lambda owner, since: Message.objects.filter(
        IS_LIVE, status__in=LIVE, conversation__owner=owner, touched_at__gte=since
    ).only("metadata", "model"),
    int,
    datetime,
)
_ENDED = Worded(
    lambda user, day: (
        PersonDay.objects.filter(user=user, day=day)
        .order_by()
        .values("user")
        .annotate(used=Sum("turns"), tokens=Sum(F("input") + F("output")), paid=Sum("cost"))
        .values_list("used", "tokens", "paid")
    ),
    int,
    date,
)


def load_used(user: User, now: datetime, beside: UsedToday | None = None) -> UsedToday:
    """What has ended today, and what is being answered: a turn that waits since yesterday is none of today's."""
    today = day_of(now)
    began = datetime.combine(today, time(), UTC)
    # What is under way comes first: when it ends, it is added to the sums.
    also = sum((load(user, began) for load in ALSO), UsedToday()) if beside is None else beside
    # A program's are counted by request.
    turns = [row for row in _RUNNING.rows(user.pk, began) if not Recorded(row.metadata).is_by_program]
    running = [_so_far(row.metadata, row.model) for row in turns]
    ended = [UsedToday(*map(int, row)) for row in _ENDED.columns(user.pk, today)]
    return sum(ended, also + sum(running, UsedToday()))


def used_in_words(limit: OfADay, used: UsedToday) -> Iterator[str]:
    """For whoever has it: what is used of what."""
    if limit.turns is not None:
        yield f"{used.turns:,} of {many(limit.turns, 'turn')}"
    if limit.tokens is not None:
        yield f"{used.tokens:,} of {limit.tokens:,} tokens"
    if limit.cost is not None:
        yield f"$ {_dollars(used.cost):,.2f} of $ {limit.cost:,.2f}"


def free_again(now: datetime) -> str:
    """How long until the day is over."""
    tomorrow = datetime.combine(day_of(now) + timedelta(days=1), time(), UTC)
    minutes = max(1, ceil((tomorrow - now) / timedelta(minutes=1)))
    return in_short(minutes * 60_000) if minutes > 1 else "a minute"


def _is_in_force(row: Any) -> bool:
    return not row.with_key_only or row.has_key or any(endpoint.key for endpoint in settings.PROVIDERS)


def _is_one_of(who: str, row: Any) -> bool:
    match Who(who):
        case Who.PERSON | Who.EVERYBODY:
            return True
        case Who.ADMINISTRATORS:
            return bool(row.is_staff)
        case Who.REVIEWERS:
            return bool(row.is_reviewer)
        case Who.STRANGERS:
            return bool(row.signed_up) and not row.is_staff


def _so_far(metadata: Any, model: str) -> UsedToday:
    """The rounds that are over, of a turn that is not."""
    price = load_price(model)
    before = portions(metadata)
    portion = newest(metadata, day="", ended="", cost=price.cost if price else None)
    made = counts(metadata, portion, before[-1] if before else None)
    return UsedToday(1, made["input"] + made["output"], made["cost"])


def _exceeded(limit: DailyLimit, used: UsedToday) -> str:
    return NOTHING_ALLOWED if _is_closed(limit) else exceeded(limit, used, "You have used your")


def exceeded(limit: OfADay, used: UsedToday, begins: str) -> str:
    """The first limit that leaves no room for another turn, in a sentence that `begins` so; "" where there is room."""
    if limit.turns is not None and used.turns >= limit.turns:
        return f"{begins} {many(limit.turns, 'turn')} of today."
    if limit.tokens is not None and used.tokens >= limit.tokens:
        return f"{begins} {limit.tokens:,} tokens of today ({used.tokens:,})."
    if limit.cost is not None and _dollars(used.cost) >= limit.cost:
        return f"{begins} $ {limit.cost:,.2f} of today ($ {_dollars(used.cost):,.2f})."
    return ""


def refusal(limit: OfADay, said: str, now: datetime) -> str:
    return said if _is_closed(limit) else f"{said} {_free_again_in_words(now)}"


def _is_closed(limit: OfADay) -> bool:
    """No other day brings more."""
    return 0 in (limit.turns, limit.tokens, limit.cost)


def _free_again_in_words(now: datetime) -> str:
    return f"You can ask again in {free_again(now)}, when the new day begins (0:00 UTC)."


def _dollars(millionths: int) -> Decimal:
    return Decimal(millionths) / MILLION
