"""What is said: a conversation, the messages of its tree, their items, the draft of a running turn, the calls that began,
what is allowed without asking, and where viewers are."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone

from ..core.items import KEY_CAP, Kind
from ..core.recorded import Recorded
from .verbatim_field import VerbatimField


class Role(models.TextChoices):
    USER = "user"
    ASSISTANT = "assistant"


class Status(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETE = "complete"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class TitledBy(models.TextChoices):
    """Who found the title; empty while nobody has."""

    WORDS = "words"
    MODEL = "model"
    PERSON = "person"


LIVE = (Status.QUEUED, Status.RUNNING, Status.WAITING)
# As in the index of live turns, word for word: with parameters SQLite would look through every message.
IS_LIVE = RawSQL(
    "status IN ({})".format(", ".join(f"'{status}'" for status in LIVE)),
    [],
    output_field=models.BooleanField(),
)
ENDED = (Status.COMPLETE, Status.STOPPED, Status.FAILED, Status.INTERRUPTED)
UNFINISHED = (Status.STOPPED, Status.FAILED, Status.INTERRUPTED)
IS_UNFINISHED = RawSQL(
    "status IN ({})".format(", ".join(f"'{status}'" for status in UNFINISHED)),
    [],
    output_field=models.BooleanField(),
)


PROGRAM_CAP = 80


class Conversation(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True, default="")
    titled_by = models.CharField(max_length=8, blank=True, choices=TitledBy.choices, default="")
    head = models.ForeignKey("Message", models.SET_NULL, null=True, blank=True, related_name="+")
    forked_from = models.ForeignKey("Message", models.SET_NULL, null=True, blank=True, related_name="forks")
    instructions = models.TextField(blank=True, default="")
    # What its models are offered, as it was described when it was chosen: {name, description, schema}.
    tools = VerbatimField(default=list)
    # What drives it, where that is a program: nobody else writes into it.
    program = models.CharField(max_length=PROGRAM_CAP, blank=True, default="")
    next_order = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The moment of the last question: what the list is ordered by. Looking around does not move it.
    updated_at = models.DateTimeField(default=timezone.now, db_index=True)
    pinned_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True, db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["owner", "-updated_at"], name="listed", condition=Q(deleted_at=None)),
        ]

    def __str__(self) -> str:
        """Without its title: this stands where nobody asked whether that may be read."""
        return f"conversation {self.id}"


class Message(models.Model):
    """A node of the tree. `attempt` is the fence: it rises each time the turn changes hands. `is_expected`: it is as it will stand,
    and no row says so yet. `owner`, `stands`: whose it is, and whether its conversation is there, where that was read with it."""

    is_expected, stands = False, False
    owner: int | None = None
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="messages")
    # Deleting is the store's: a chain of messages can be longer than Python's stack.
    parent = models.ForeignKey("self", models.DO_NOTHING, null=True, blank=True, related_name="children")
    order = models.PositiveBigIntegerField()
    role = models.CharField(max_length=16, choices=Role.choices)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    model = models.CharField(max_length=300, blank=True, default="")
    effort = models.CharField(max_length=16, blank=True, default="")
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.COMPLETE)
    attempt = models.PositiveIntegerField(default=0)
    tries = models.PositiveIntegerField(default=0)
    next_seq = models.PositiveIntegerField(default=0)
    job_id = models.BigIntegerField(null=True, blank=True)
    runner = models.CharField(max_length=120, blank=True, default="")
    touched_at = models.DateTimeField(null=True, blank=True)
    metadata = VerbatimField(default=dict)
    # The form that made it, so that sending it twice makes one.
    submission = models.UUIDField(null=True, blank=True, unique=True)
    # On an answer: the question from which on the branch is sent, where older turns are left out.
    sent_from = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="+")
    # What was deleted together comes back together.
    deletion = models.UUIDField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "order"], name="one_order_per_message"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="message_role_known"),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="message_status_known"),
            models.CheckConstraint(
                condition=Q(parent=None) | ~Q(parent=F("id")), name="message_not_its_own_parent"
            ),
            models.CheckConstraint(
                condition=Q(role=Role.ASSISTANT) | Q(status=Status.COMPLETE), name="questions_are_complete"
            ),
        ]
        indexes = [
            models.Index(fields=["status"], name="live_turns", condition=Q(status__in=LIVE)),
            models.Index(fields=["deletion"], name="deleted_together", condition=~Q(deletion=None)),
            models.Index(fields=["conversation", "parent"], name="children"),
            models.Index(fields=["conversation", "role", "deletion"], name="counted"),
            models.Index(fields=["model", "deletion", "conversation"], name="by_model"),
            models.Index(
                fields=["status", "conversation"], name="unfinished", condition=Q(status__in=UNFINISHED)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.id}"

    def reasoning_ms(self, key: str) -> int | None:
        """How long this thought took, or None where nobody measured it."""
        return Recorded(self.metadata).thoughts.get(key)


class Item(models.Model):
    """A finished piece of a message, written once and never changed."""

    id = models.BigAutoField(primary_key=True)
    message = models.ForeignKey(Message, models.CASCADE, related_name="items")
    seq = models.PositiveIntegerField()
    key = models.CharField(max_length=KEY_CAP)
    kind = models.CharField(max_length=32, choices=[(kind.value, kind.value) for kind in Kind])
    round = models.PositiveIntegerField(default=0)
    cut = models.BooleanField(default=False)
    text = models.TextField(blank=True, default="")
    wire = VerbatimField(null=True, blank=True)
    provider = models.CharField(max_length=64, blank=True, default="")
    dialect = models.CharField(max_length=32, blank=True, default="")
    model = models.CharField(max_length=300, blank=True, default="")
    call_id = models.TextField(blank=True, default="")
    name = models.TextField(blank=True, default="")
    outcome = models.CharField(max_length=16, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["message_id", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["message", "seq"], name="one_seq_per_item"),
            models.UniqueConstraint(fields=["message", "key"], name="one_key_per_item"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in Kind]), name="item_kind_known"
            ),
            models.CheckConstraint(condition=Q(cut=False) | Q(wire=None), name="cut_items_have_no_wire"),
            models.CheckConstraint(condition=~Q(key=""), name="item_has_a_key"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Draft(models.Model):
    """The answer so far, about once a second: for those who cannot see the live one."""

    message = models.OneToOneField(Message, models.CASCADE, primary_key=True, related_name="draft")
    attempt = models.PositiveIntegerField()
    n = models.PositiveIntegerField()
    saved = VerbatimField()

    def __str__(self) -> str:
        return f"draft of {self.message_id}"


class Place(models.Model):
    """Where a viewer is in a conversation. The owner's head is the conversation's own; `forks` are everybody's:
    for each message with several children (its id as text; "" for the roots) the child where one last was."""

    viewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="places")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="places")
    head = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    forks = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["viewer", "conversation"], name="one_place_per_viewer")
        ]

    def __str__(self) -> str:
        return f"{self.viewer_id} in {self.conversation_id}"


TOOL_NAME_CAP = 200


class ToolRun(models.Model):
    """That a call began, written before it runs: what has begun and has no result may have run. `key` is the call's."""

    message = models.ForeignKey(Message, models.CASCADE, related_name="tool_runs")
    key = models.CharField(max_length=KEY_CAP)
    attempt = models.PositiveIntegerField()
    arguments_hash = models.CharField(max_length=64)
    began_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["message", "key"], name="one_run_per_call")]

    def __str__(self) -> str:
        return f"run of {self.key}"


class Grant(models.Model):
    """A person lets a tool run in a conversation without being asked again, as long as the tool stays what it was."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="grants")
    tool = models.CharField(max_length=TOOL_NAME_CAP)
    fingerprint = models.CharField(max_length=64)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["conversation", "tool"], name="one_grant_per_tool")]

    def __str__(self) -> str:
        return f"{self.tool} in {self.conversation_id}"
