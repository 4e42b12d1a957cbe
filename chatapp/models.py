"""The rows: a conversation, the messages of its tree, their items, and the draft of a running turn.
Constraints and small questions about one row; every write is in `store`."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone

from .core import verbatim
from .core.items import KEY_CAP, Kind

TOOL_NAME_CAP = 200


class VerbatimField(models.TextField):
    """JSON kept as the text it is: key order, U+0000 and lone surrogates come back as they went in."""

    # For the type checker: any JSON value goes in and comes out.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: object) -> Any:
        return None if value is None else verbatim.loads(value)

    def to_python(self, value: Any) -> Any:
        return verbatim.loads(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else verbatim.dumps(value)

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""


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


class Theme(models.TextChoices):
    SYSTEM = "", "As the system has it"
    LIGHT = "light"
    DARK = "dark"


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
    next_order = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
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
        return self.title or str(self.id)


class Message(models.Model):
    """A node of the tree. `attempt` is the fence: it rises each time the turn changes hands."""

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
    created_at = models.DateTimeField(auto_now_add=True)

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
        ms = self.metadata.get("reasoning_durations_ms", {}).get(key)
        return ms if isinstance(ms, int) else None


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


class ModelProvider(models.Model):
    """A provider of models that staff added; those of the environment have no row. Its name is part of the names of its models.
    `key_variable` names the variable of the environment that holds its key."""

    class Dialect(models.TextChoices):
        CHAT = "chat", "Chat Completions (most servers)"
        RESPONSES = "responses", "OpenAI Responses"
        MESSAGES = "messages", "Anthropic Messages"

    name = models.CharField(max_length=32, unique=True, validators=[RegexValidator(r"\A[a-z][a-z0-9-]*\Z")])
    label = models.CharField(max_length=60, blank=True, default="")
    dialect = models.CharField(max_length=16, choices=Dialect.choices, default=Dialect.CHAT)
    base_url = models.CharField(max_length=500)
    key_variable = models.CharField(max_length=100, blank=True, default="")
    private_network = models.BooleanField(default=False)
    is_on = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "provider"

    def __str__(self) -> str:
        return self.name


class Installation(models.Model):
    """One row: what staff chose for everybody. `revision` rises with every change of providers and models: what processes look at."""

    default_model = models.CharField(max_length=300, blank=True, default="")
    revision = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"installation at {self.revision}"


class KnownModel(models.Model):
    """What staff said of a model, named as everywhere: `openai:gpt-5`. Prices are US dollars for a million tokens."""

    name = models.CharField(max_length=300, unique=True)
    label = models.CharField(max_length=100, blank=True, default="")
    is_hidden = models.BooleanField(default=False)
    effort = models.CharField(max_length=16, blank=True, default="")
    input_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    cached_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    output_price = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)

    class Meta:
        verbose_name = "model"

    def __str__(self) -> str:
        return self.name


class McpServer(models.Model):
    """A server of tools. One with an address was added by staff; one without is a command of MCP_SERVERS_FILE.
    `key_variable` names the variable of the environment that holds its key."""

    name = models.CharField(max_length=32, unique=True, validators=[RegexValidator(r"\A[a-z][a-z0-9-]*\Z")])
    url = models.CharField(max_length=500, blank=True, default="")
    key_variable = models.CharField(max_length=100, blank=True, default="")
    is_on = models.BooleanField(default=True)
    private_network = models.BooleanField(default=False)
    # Rises with every change of the server or its tools: what other processes look at.
    revision = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "MCP server"

    def __str__(self) -> str:
        return self.name


class McpTool(models.Model):
    """A tool as its server described it last. `safe` and `idempotent` are what staff said of the tool that had the fingerprint
    `judged`: of one that changed since, nothing has been said. `hints` is what the server claims of it."""

    server = models.ForeignKey(McpServer, models.CASCADE, related_name="tools")
    name = models.CharField(max_length=TOOL_NAME_CAP)
    description = models.TextField(blank=True, default="")
    schema = VerbatimField(default=dict)
    hints = models.CharField(max_length=200, blank=True, default="")
    fingerprint = models.CharField(max_length=64)
    # Whether the server named it last time: what staff said of it outlasts a server that forgets it for a while.
    is_listed = models.BooleanField(default=True)
    judged = models.CharField(max_length=64, blank=True, default="")
    safe = models.BooleanField(default=False)
    idempotent = models.BooleanField(default=False)
    is_on = models.BooleanField(default=True)
    in_new_conversations = models.BooleanField(default=False)

    class Meta:
        verbose_name = "MCP tool"
        constraints = [models.UniqueConstraint(fields=["server", "name"], name="one_tool_per_name")]

    def __str__(self) -> str:
        return f"{self.server}.{self.name}"


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


class Preference(models.Model):
    """What a person chose in the settings."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="preference"
    )
    theme = models.CharField(max_length=8, blank=True, choices=Theme.choices, default=Theme.SYSTEM)
    default_model = models.CharField(max_length=300, blank=True, default="")
    instructions = models.TextField(blank=True, default="")
    enter_sends = models.BooleanField(default=True)
    thoughts_open = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class Throttle(models.Model):
    """How often something was tried, by whoever it is counted for, since a moment."""

    name = models.CharField(max_length=100, primary_key=True)
    count = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.name}: {self.count}"


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


class Scope(models.TextChoices):
    BRANCH = "branch", "This branch"
    TREE = "tree", "The whole tree"


class Verdict(models.TextChoices):
    APPROVED = "approved", "Approve"
    NEEDS_WORK = "needs work", "Needs work"
    REJECTED = "rejected", "Reject"


class Submission(models.Model):
    """What an owner gave to be reviewed: the messages that `Submitted` names, as they were then. `branches`, `thought_ms` and
    `by_models` are what they summed up to."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="submissions")
    # Where it opens: the message with which it was submitted.
    leaf = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.BRANCH)
    question = models.TextField(blank=True, default="")
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


class SignedUp(models.Model):
    """That somebody made their account themselves, at the open door."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="signed_up"
    )
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"sign-up of {self.user_id}"


class DailyLimit(models.Model):
    """How much may be used in one day (UTC), by one person or by each of a kind; what is empty has no limit."""

    class Who(models.TextChoices):
        """From what says most about somebody to what says least: the first that fits counts."""

        PERSON = "person", "One person"
        ADMINISTRATORS = "administrators", "Administrators"
        REVIEWERS = "reviewers", "Reviewers"
        STRANGERS = "strangers", "Whoever signed up by themselves"
        EVERYBODY = "everybody", "Everybody"

    who = models.CharField(max_length=16, choices=Who.choices, default=Who.EVERYBODY)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="daily_limit"
    )
    turns = models.PositiveBigIntegerField(null=True, blank=True)
    tokens = models.PositiveBigIntegerField(null=True, blank=True)
    # US dollars.
    cost = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    # In force only while the key of a provider is set: before that nothing costs anybody anything.
    with_key_only = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["who"],
                name="one_limit_per_kind",
                condition=~Q(who="person"),
                violation_error_message="There is a limit for them already: change that one.",
            ),
            models.CheckConstraint(
                condition=Q(who="person", user__isnull=False) | (~Q(who="person") & Q(user=None)),
                name="limit_says_whose_it_is",
            ),
        ]

    def __str__(self) -> str:
        return f"daily limit of {self.user_id or self.who}"
