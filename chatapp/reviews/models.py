"""What was submitted for review, and what was said of it."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ..store.models import Conversation, Message
from ..store.verbatim_field import VerbatimField


class Scope(models.TextChoices):
    BRANCH = "branch", "This branch"
    TREE = "tree", "The whole tree"


class Verdict(models.TextChoices):
    APPROVED = "approved", "Approve"
    NEEDS_WORK = "needs work", "Needs work"
    REJECTED = "rejected", "Reject"


class Submission(models.Model):
    """What an owner gave to be reviewed: the messages that `Submitted` names, as they were then. `branches`, `thought_ms` and
    `by_models` are what they summed up to. `is_held`: its reviewer still reviews; only the queries of the store know it."""

    is_held = False
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="submissions")
    # Where it opens: the message with which it was submitted.
    leaf = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.BRANCH)
    question = models.TextField(blank=True, default="")
    # Whether its owner gave it for evaluation and training too.
    may_leave = models.BooleanField(default=False, db_default=False)
    branches = models.PositiveIntegerField(default=1)
    thought_ms = models.PositiveBigIntegerField(null=True, blank=True)
    by_models = models.JSONField(default=list)
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    assigned = models.BooleanField(default=False)
    verdict = models.CharField(max_length=16, blank=True, choices=Verdict.choices, default="")
    reason = models.TextField(blank=True, default="")
    # Something that this side has not opened yet.
    news_for_owner = models.BooleanField(default=False)
    news_for_reviewer = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["-created_at"], name="queued", condition=Q(withdrawn_at=None)),
        ]

    def __str__(self) -> str:
        return f"review of {self.conversation_id}"


class Submitted(models.Model):
    """A message of a submission, with so many of its items. Of an answer that may still be continued `status` and `facts` tell
    how it stood; others stay as they are."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="messages")
    message = models.ForeignKey(Message, models.CASCADE, related_name="+")
    items = models.PositiveIntegerField()
    status = models.CharField(max_length=16, blank=True, default="")
    facts = VerbatimField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "message"], name="submitted_once")]

    def __str__(self) -> str:
        return f"{self.message_id} in {self.submission_id}"


class Note(models.Model):
    """On a message of a submission. An answer belongs to the note that began it."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="notes")
    message = models.ForeignKey(Message, models.CASCADE, related_name="+")
    answer_to = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="answers")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"note on {self.message_id}"


class Wish(models.Model):
    """That an administrator asked an owner to submit a conversation; `answered_at` when they did, or would not now."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="wishes")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    words = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "wishes"
        indexes = [models.Index(fields=["conversation"], name="unanswered", condition=Q(answered_at=None))]

    def __str__(self) -> str:
        return f"wish for {self.conversation_id}"
