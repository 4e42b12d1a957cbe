"""A person as administrators see them: when they were last here, what they use of what they may, their keys, and what was done for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Max, Sum
from django.utils import timezone

from ..core.signs.visible import visible
from ..gateway.models import ApiKey
from ..gateway.store.keys import load_keys
from ..insight.models import PersonDay
from ..insight.store.sums import day_of
from ..limits.models import DailyLimit
from ..limits.store import UsedToday, load_limit, load_used
from ..pages.words.amounts import dollars
from ..pages.words.moments import Moment, ago, day_and_time
from ..store.models import Conversation
from .models import SignedUp

DAYS, HIGH, MOST_KEYS, MOST_LINES = 14, 40, 50, 6
NEAR = 0.9


@dataclass(frozen=True, slots=True)
class UseOfDay:
    """What was used today, of what; without a limit there is no bar."""

    name: str
    percent: str
    words: str
    is_near: bool


@dataclass(frozen=True, slots=True)
class TurnsBar:
    x: str
    y: int
    height: int


@dataclass(frozen=True, slots=True)
class KeyOfPerson:
    pk: UUID
    name: str
    kind: str
    begins_with: str
    used: str


@dataclass(frozen=True, slots=True)
class LineOfHistory:
    what: str
    by: str
    at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonPage:
    came: str
    seen: str
    limit: str
    uses: Sequence[UseOfDay]
    bars: Sequence[TurnsBar]
    first_day: str
    today: int
    most: int
    keys: Sequence[KeyOfPerson]
    history: Sequence[LineOfHistory]


def load_person_page(person: User, zone: tzinfo) -> PersonPage:
    now = timezone.now()
    limit, used = load_limit(person), load_used(person, now)
    turns = _turns(person, now)
    return PersonPage(
        came=_came(person, zone),
        seen=_seen(person, now),
        limit=_limit_in_words(limit, person),
        uses=list(_uses(limit, used)),
        bars=list(_bars(turns)),
        first_day=f"{now - timedelta(days=DAYS - 1):%-d %b}",
        today=turns[-1],
        most=max(turns),
        keys=[_key(each.row, now) for each in load_keys(person, now)[:MOST_KEYS]],
        history=_history(person, zone),
    )


def _came(person: User, zone: tzinfo) -> str:
    by_themselves = SignedUp.objects.filter(user=person).exists()
    how = "Signed up by themselves" if by_themselves else "Was let in, or was here first"
    return f"{how}, on {day_and_time(person.date_joined, zone)}."


def _seen(person: User, now: datetime) -> str:
    """By what is kept: signing in, and the last question."""
    asked = Conversation.objects.filter(owner=person, deleted_at=None).aggregate(at=Max("updated_at"))["at"]
    signed_in = f"Last signed in {ago(person.last_login, now)}" if person.last_login else "Never signed in"
    return f"{signed_in}, last asked {ago(asked, now)}." if asked else f"{signed_in}, and has asked nothing."


def _limit_in_words(limit: DailyLimit | None, person: User) -> str:
    if limit is None:
        return "No limit applies."
    if limit.who == DailyLimit.Who.PERSON:
        return f"A limit of {visible(person.get_username())}’s own applies."
    return f"The limit for “{limit.get_who_display().lower()}” applies."


def _uses(limit: DailyLimit | None, used: UsedToday) -> Iterator[UseOfDay]:
    paid = float(dollars(used.cost))
    most = (limit.turns, limit.tokens, limit.cost) if limit else (None, None, None)
    yield _use("Turns", used.turns, most[0], f"{used.turns:,}", "{:,}")
    yield _use("Tokens", used.tokens, most[1], f"{used.tokens:,}", "{:,}")
    yield _use("Cost", paid, most[2], f"$ {paid:,.2f}", "$ {:,.2f}")


def _use(name: str, used: float, most: Any, words: str, of: str) -> UseOfDay:
    if most is None:
        return UseOfDay(name, "", words, is_near=False)
    part = min(1.0, used / float(most)) if most else 1.0
    return UseOfDay(name, f"{100 * part:.1f}", f"{words} of {of.format(most)}", part >= NEAR)


def _turns(person: User, now: datetime) -> list[int]:
    """Of each of the last days, today the last."""
    today = day_of(now)
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    rows = PersonDay.objects.filter(user=person, day__gte=days[0]).order_by().values_list("day")
    asked = dict(rows.annotate(Sum("turns")))
    return [asked.get(day, 0) for day in days]


def _bars(turns: Sequence[int]) -> Iterator[TurnsBar]:
    top = max(turns) or 1
    for n, number in enumerate(turns):
        height = max(2, round(HIGH * number / top)) if number else 0
        yield TurnsBar(f"{100 * n / DAYS:.2f}", HIGH - height, height)


def _key(row: ApiKey, now: datetime) -> KeyOfPerson:
    kind = "recorded as conversations" if row.is_recorded else "not recorded"
    kind += ", may manage" if row.is_management else ""
    used = ago(row.last_used_at, now) if row.last_used_at else "never used"
    return KeyOfPerson(row.pk, visible(row.name), kind, row.begins_with, used)


def _history(person: User, zone: tzinfo) -> list[LineOfHistory]:
    """What administrators did for them, the newest first."""
    kind = ContentType.objects.get_for_model(User)
    rows = LogEntry.objects.filter(content_type=kind, object_id=str(person.pk)).select_related("user")
    return [
        LineOfHistory(
            visible(row.get_change_message()) or "Let in.",
            visible(row.user.get_username()),
            Moment(row.action_time.astimezone(zone)),
        )
        for row in rows.order_by("-action_time", "-pk")[:MOST_LINES]
    ]
