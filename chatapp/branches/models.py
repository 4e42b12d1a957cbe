"""Where a fork came from."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from ..store.models import Conversation, Message


class Origin(models.Model):
    """Where a fork came from, and what that was called at the time: it may change, and go. `opens_review`: whoever asks may open what
    had been submitted; only the query that was asked so knows it."""

    opens_review = False
    conversation = models.OneToOneField(Conversation, models.CASCADE, primary_key=True, related_name="origin")
    source = models.ForeignKey(Conversation, models.SET_NULL, null=True, blank=True, related_name="taken")
    message = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    owner_name = models.CharField(max_length=150, blank=True, default="")
    title = models.CharField(max_length=200, blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # Where a reviewer took it: what had been submitted to them.
    submission = models.ForeignKey("Submission", models.SET_NULL, null=True, blank=True, related_name="forks")
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"origin of {self.conversation_id}"
