"""Moments as the person reads them who looks: in words already, since a template would count them by the server's clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache

from django.utils import dateformat
from django.utils.timesince import timesince


@dataclass(frozen=True, slots=True)
class Moment:
    """In the zone of whoever looks."""

    at: datetime

    @property
    def exact(self) -> str:
        return self.at.isoformat()

    @property
    def day(self) -> str:
        return f"{self.date}, {self.clock}"

    @property
    def date(self) -> str:
        return _date(self.at.date())

    @property
    def clock(self) -> str:
        return f"{self.at:%H:%M}"


@lru_cache
def _date(day: date) -> str:
    return dateformat.format(day, "j F Y")


def ago(at: datetime, now: datetime) -> str:
    """`2 hours ago`; what began just now is not counted."""
    words = timesince(at, now, depth=1).replace("\xa0", " ")
    return "just now" if words.startswith("0 ") else f"{words} ago"


def day_and_time(at: datetime | None, zone: tzinfo) -> str:
    """As short as a cell wants it; nothing where there was none."""
    return dateformat.format(at.astimezone(zone), "j M Y, H:i") if at else ""


_STEPS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def lasted(age: timedelta) -> str:
    """In its largest unit."""
    seconds = max(1, int(age.total_seconds()))
    step, unit = next((step, unit) for step, unit in _STEPS if seconds >= step)
    return f"{seconds // step} {unit}{'' if seconds // step == 1 else 's'}"
