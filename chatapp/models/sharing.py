"""When a conversation leaves its owner's hands: links, forks, and looks of administrators."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from .chat import Conversation, Message


class Origin(models.Model):
    """Where a fork came from, and what that was called at the time: it may change, and go."""

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


class Share(models.Model):
    """A link to the branch that ends with `leaf`. Its token stays readable, since whoever made the link is shown it again;
    so it opens this one branch and nothing else, and is not told to anybody but them. `opened`: how often, once per visit."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    token = models.CharField(max_length=64, unique=True)
    leaf = models.ForeignKey(Message, models.CASCADE, related_name="shares")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="shares")
    with_thoughts = models.BooleanField(default=True)
    with_tools = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    opened = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"share of {self.leaf_id}"


class Look(models.Model):
    """That an administrator looked at somebody's conversation. `name` is what they were called: they may go."""

    class What(models.TextChoices):
        TRANSCRIPT = "transcript", "opened the transcript"
        SEARCH = "search", "found it by its words"

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
