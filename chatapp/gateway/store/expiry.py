"""For how long thoughts and responses are kept, as the settings say: with 0 hours none of them are, in no place."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

# A century: later moments fit into no column.
MOST_HOURS = 24 * 36_525


def keeps_any() -> bool:
    return hours_kept() > 0


def hours_kept() -> int:
    return min(int(settings.REASONING_CACHE_HOURS), MOST_HOURS)


def expiry() -> datetime:
    """Of what is kept now."""
    return timezone.now() + timedelta(hours=hours_kept())
