"""Forks and submissions: one of them may write twenty thousand rows, so each person makes only so many in an hour."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from ..store import Refused, throttle
from ..store.throttle import Limit

MOST = Limit("wholesale", 60, timedelta(hours=1))
TOO_MANY = "Too many of these came from you. Try again in a while."


def refuse_too_many(user: Any) -> None:
    """Called before one is made; a form that comes twice counts twice."""
    if throttle.take(MOST, str(user.pk), timezone.now()):
        raise Refused(TOO_MANY)
