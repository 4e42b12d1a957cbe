"""Processes say that they are there, and see of which others that is true."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from ..models import IS_LIVE, Message, Status
from ..running_models import Heartbeat

# What has not beaten for so long by the database's clock was a process of days gone by.
FORGOTTEN = timedelta(days=1)


def is_anybody_needed() -> bool:
    """Whether there are turns that somebody should be at work on."""
    return Message.objects.filter(IS_LIVE, status__in=(Status.QUEUED, Status.RUNNING)).exists()


@transaction.atomic
def beat(runner: str) -> dict[str, int]:
    """Says that this process is there. Returns how often each process has said so."""
    mine = Heartbeat.objects.filter(runner=runner)
    if not mine.update(beats=F("beats") + 1, beat_at=Now()):
        Heartbeat.objects.create(runner=runner, beats=1, beat_at=Now())
        Heartbeat.objects.filter(beat_at__lt=Now() - FORGOTTEN).delete()
    return dict(Heartbeat.objects.values_list("runner", "beats"))
