"""That administrators looked at conversations of others."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from ..store.models import Conversation


class Look(models.Model):
    """That an administrator looked at somebody's conversation. `name` is what they were called: they may go."""

    class What(models.TextChoices):
        TRANSCRIPT = "transcript", "opened the transcript"
        SEARCH = "search", "found it by its words"
        REVIEWS = "reviews", "took its review as data"
        STOPPED = "stopped", "stopped its answer"

    who = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    name = models.CharField(max_length=150)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="looks")
    what = models.CharField(max_length=16, choices=What.choices)
    at = models.DateTimeField(default=timezone.now, db_index=True)
    address = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["conversation", "-at"], name="looked_at")]

    def __str__(self) -> str:
        return f"{self.name} {self.get_what_display()} {self.conversation_id}"
