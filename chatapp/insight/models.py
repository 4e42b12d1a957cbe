"""Sums that are kept as turns end."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from ..store.verbatim_field import VerbatimField


class ModelDay(models.Model):
    """What was counted of one model on one day (UTC): numbers by name, with how long things took as counts of steps."""

    day = models.DateField()
    model = models.CharField(max_length=300)
    counts = VerbatimField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "model"], name="one_count_per_model")]

    def __str__(self) -> str:
        return f"{self.model} on {self.day}"


class PersonDay(models.Model):
    """What one person used of one model on one day (UTC). Without a person: of somebody who has left.
    `cost` in millionths of a dollar; of `unpriced` turns nobody knew the price."""

    COUNTS = ("turns", "answers", "input", "cached", "output", "reasoning", "cost", "unpriced")

    day = models.DateField()
    model = models.CharField(max_length=300)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    turns = models.PositiveBigIntegerField(default=0)
    answers = models.PositiveBigIntegerField(default=0)
    input = models.PositiveBigIntegerField(default=0)
    cached = models.PositiveBigIntegerField(default=0)
    output = models.PositiveBigIntegerField(default=0)
    reasoning = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(default=0)
    unpriced = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "model", "user"], name="one_count_per_person")]
        indexes = [models.Index(fields=["user", "day"], name="used_today")]

    def __str__(self) -> str:
        return f"{self.user_id} with {self.model} on {self.day}"
