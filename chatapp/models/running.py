"""Which processes are at work on this database."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """One row for each process that runs turns: its name, and how often it has said that it is there."""

    runner = models.CharField(max_length=120, primary_key=True)
    beats = models.PositiveBigIntegerField(default=0)
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.runner
