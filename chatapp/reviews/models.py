"""What was submitted for review, and what was said of it."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ..core.items import KEY_CAP
from ..store.models import Conversation, Message
from ..store.verbatim_field import VerbatimField


class Scope(models.TextChoices):
    BRANCH = "branch", "This branch"
    TREE = "tree", "The whole tree"


class Verdict(models.TextChoices):
    APPROVED = "approved", "Approve"
    NEEDS_WORK = "needs work", "Needs work"
    REJECTED = "rejected", "Reject"


class LabelScale(models.TextChoices):
    YES_NO = "yes no", "Yes or no"
    CHOICE = "choice", "One of several"
    STEPS = "steps", "1 to 5"
    EVEN_STEPS = "even steps", "1 to 5, evenly apart"
    WORDS = "words", "Words"


class LabelOf(models.TextChoices):
    ANSWER = "answer", "Each answer"
    THOUGHT = "thought", "Each thought"


class LabelSet(models.Model):
    """Questions with scales, which so many `raters` answer for one submission, blind to each other. What a submission asks for does
    not change any more."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=80)
    raters = models.PositiveSmallIntegerField(default=2)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    put_away_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name


class Label(models.Model):
    """A question of a set. `choices`: what there is to choose from; `low` and `high`: what the ends of its steps mean."""

    label_set = models.ForeignKey(LabelSet, models.CASCADE, related_name="labels")
    place = models.PositiveSmallIntegerField()
    words = models.CharField(max_length=200)
    of = models.CharField(max_length=8, choices=LabelOf.choices, default=LabelOf.ANSWER)
    scale = models.CharField(max_length=16, choices=LabelScale.choices)
    choices = models.JSONField(default=list)
    low = models.CharField(max_length=60, blank=True, default="")
    high = models.CharField(max_length=60, blank=True, default="")

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["label_set", "place"], name="one_label_at_a_place")]

    def __str__(self) -> str:
        return self.words


class Submission(models.Model):
    """What an owner gave to be reviewed: the messages that `Submitted` names, as they were then. `branches`, `thought_ms` and
    `by_models` are what they summed up to. Where it asks for labels it has seats in place of a `reviewer`, and is decided when all
    who sit there have handed in. `is_held`: nobody else may take it; `seats_taken`: so many sit there; only the queries of the store
    know these."""

    is_held = False
    seats_taken = 0
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="submissions")
    # Where it opens: the message with which it was submitted.
    leaf = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.BRANCH)
    question = models.TextField(blank=True, default="")
    # Whether its owner gave it for evaluation and training too.
    may_leave = models.BooleanField(default=False, db_default=False)
    label_set = models.ForeignKey(LabelSet, models.PROTECT, null=True, blank=True, related_name="submissions")
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
    # Since when its reviewer holds it, and when they were told by mail that it waits.
    held_at = models.DateTimeField(null=True, blank=True)
    reminded_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["-created_at"], name="queued", condition=Q(withdrawn_at=None)),
        ]

    def __str__(self) -> str:
        return f"review of {self.conversation_id}"

    @property
    def is_blind(self) -> bool:
        """What somebody says of it is for themselves alone, until all have handed in."""
        return self.label_set_id is not None and self.decided_at is None


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
    """On a message of a submission, or on a passage of it: `quote` are the words of its item `item_key`, as a page shows them, and
    `begins` after so many signs of these. An answer belongs to the note that began it."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="notes")
    message = models.ForeignKey(Message, models.CASCADE, related_name="+")
    answer_to = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="answers")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    text = models.TextField()
    item_key = models.CharField(max_length=KEY_CAP, blank=True, default="", db_default="")
    quote = models.TextField(blank=True, default="", db_default="")
    begins = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"note on {self.message_id}"


class Seat(models.Model):
    """Of one who rates a submission. `news`: something in it that they have not opened yet."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="seats")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    assigned = models.BooleanField(default=False)
    news = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    reminded_at = models.DateTimeField(null=True, blank=True)
    handed_in_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "reviewer"], name="one_seat_each")]

    def __str__(self) -> str:
        return f"seat of {self.reviewer_id} in {self.submission_id}"


class Rating(models.Model):
    """What one who sits there says by one label: of an answer, or of the thought `item_key` in it."""

    seat = models.ForeignKey(Seat, models.CASCADE, related_name="ratings")
    label = models.ForeignKey(Label, models.PROTECT, related_name="ratings")
    message = models.ForeignKey(Message, models.CASCADE, related_name="+")
    item_key = models.CharField(max_length=KEY_CAP, blank=True, default="")
    value = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["seat", "label", "message", "item_key"], name="rated_once")
        ]

    def __str__(self) -> str:
        return f"{self.label_id} of {self.message_id}"


class Suggestion(models.Model):
    """Another answer to a question that was submitted: a finished message of a fork of its reviewer. It is copied when the owner takes
    it; `settled_at` when they did, or would not."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    submission = models.ForeignKey(Submission, models.CASCADE, related_name="suggestions")
    question = models.ForeignKey(Message, models.CASCADE, related_name="+")
    answer = models.ForeignKey(Message, models.CASCADE, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    words = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True, blank=True)
    taken = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "answer"], name="suggested_once")]

    def __str__(self) -> str:
        return f"{self.answer_id} below {self.question_id}"


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
