"""Days as the person counts them who looks: in the zone of their browser, where it told us."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.utils import timezone

ZONE_COOKIE = "zone"
# Whoever looks for a zone goes a step deeper with each of its dots.
LONGEST_NAME = 100


def zone_of(request: HttpRequest) -> tzinfo:
    return zone_named(request.COOKIES.get(ZONE_COOKIE, ""))


def zone_named(name: str) -> tzinfo:
    """The server's own zone where the name says nothing."""
    if not 0 < len(name) <= LONGEST_NAME:
        return timezone.get_default_timezone()
    try:
        return ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        return timezone.get_default_timezone()


_BESIDE = {-1: "yesterday", 0: "today", 1: "tomorrow"}


def near(moment: datetime, today: date) -> str:
    """`today at 9:14`. `moment` counts in its own zone."""
    day = _BESIDE.get((moment.date() - today).days) or f"on {moment.day} {moment:%B}"
    return f"{day} at {moment:%H:%M}"


def day_in_words(moment: datetime, today: date) -> str:
    """As a heading for everything of that time. `moment` counts in its own zone."""
    day = moment.date()
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day >= today - timedelta(days=today.weekday()):
        return "Earlier this week"
    return f"{day:%B}" if day.year == today.year else f"{day:%B} {day.year}"
