"""What a person may do only so often, because each time costs more than a page: refused in words, counted for all processes together."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from django.contrib.auth.models import User
from django.utils import timezone

from ...store import Refused
from . import throttle
from .throttle import Limit

HOUR = timedelta(hours=1)
# Forks and submissions: one of them may write twenty thousand rows.
COPIES = Limit("wholesale", 60, HOUR)
LINKS = Limit("links", 120, HOUR)
WISHES = Limit("wishes", 120, HOUR)
KEYS = Limit("keys", 60, HOUR)
EXPORTS = Limit("exports", 240, HOUR)
IMPORTS = Limit("imports", 60, HOUR)


def refuse_too_many(user: User, limit: Limit = COPIES) -> None:
    """Called before one is made; a form that comes twice counts twice."""
    if wait := throttle.take(limit, str(user.pk), timezone.now()):
        raise Refused(too_many(wait))


def too_many(wait: timedelta) -> str:
    return f"Too many of these came from you. Try again {when(wait)}."


def when(wait: timedelta) -> str:
    minutes = ceil(wait / timedelta(minutes=1))
    return "in a minute" if minutes == 1 else f"in {minutes} minutes"
