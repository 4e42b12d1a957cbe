"""What is at work on this database: processes, long writes, and tries that are counted."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Heartbeat(models.Model):
    """One row for each process that runs turns: its name, and how often it has said that it is there."""

    runner = models.CharField(max_length=120, primary_key=True)
    beats = models.PositiveBigIntegerField(default=0)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.runner


class LongWrite(models.Model):
    """That somebody's long write is under way: each person has one at a time. `made` is what nobody sees before its last piece;
    `leaves`: their account goes, with everything in it."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="long_write"
    )
    # Of whoever writes: another who takes over has another one.
    key = models.UUIDField()
    made = models.UUIDField(null=True, blank=True)
    leaves = models.BooleanField(default=False)
    touched_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"long write of {self.person_id}"


class Throttle(models.Model):
    """How often something was tried, by whoever it is counted for, since a moment."""

    name = models.CharField(max_length=100, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.name}: {self.count}"
