"""Keys of other programs, what was used with them, and the requests that are being answered."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ..limits.models import DailyLimit
from ..store.models import Conversation, Message
from ..store.verbatim_field import VerbatimField

Who = DailyLimit.Who
NAME_CAP = 80


class ApiKey(models.Model):
    """A key is kept as its digest alone. `last_program`: who used it last, as it calls itself. `names`: what its program calls models,
    and which these are; `models`: those that it may ask, empty for every one. Its own limits are those of a day (UTC); what is empty has
    none. `is_recorded`: its requests are turns of conversations. `keeps_responses`: for programs that go on from one by its id."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=NAME_CAP)
    digest = models.CharField(max_length=64, unique=True)
    begins_with = models.CharField(max_length=7)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    last_program = models.CharField(max_length=60, blank=True, default="")
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    is_recorded = models.BooleanField(default=False)
    is_management = models.BooleanField(default=False)
    keeps_responses = models.BooleanField(default=False)
    names = VerbatimField(default=dict)
    default_model = models.CharField(max_length=300, blank=True, default="")
    turns = models.PositiveBigIntegerField(null=True, blank=True)
    tokens = models.PositiveBigIntegerField(null=True, blank=True)
    # US dollars.
    cost = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    # Last, since it takes the name of the module.
    models = VerbatimField(default=list)

    class Meta:
        verbose_name = "key"

    def __str__(self) -> str:
        return self.begins_with


class KeyDay(models.Model):
    """What was used of one model with a key on one day (UTC). `cost` in millionths of a dollar; of `unpriced` requests nobody knew the
    price. `failed` requests, and how long models thought for all of them, are told and limit nothing."""

    COUNTS = ("turns", "input", "cached", "output", "reasoning", "cost", "unpriced")
    ALL = (*COUNTS, "failed", "thinking_ms")

    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="days")
    day = models.DateField()
    model = models.CharField(max_length=300)
    turns = models.PositiveBigIntegerField(default=0)
    input = models.PositiveBigIntegerField(default=0)
    cached = models.PositiveBigIntegerField(default=0)
    output = models.PositiveBigIntegerField(default=0)
    reasoning = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(default=0)
    unpriced = models.PositiveBigIntegerField(default=0)
    failed = models.PositiveBigIntegerField(default=0, db_default=0)
    thinking_ms = models.PositiveBigIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "day", "model"], name="one_count_per_key")]

    def __str__(self) -> str:
        return f"{self.key_id} on {self.day}"


class KeyRequest(models.Model):
    """A request that is being answered, by the process of the name `runner`. `estimate`: the tokens that it has reserved.
    `seen_at`: when that process last said that it is at work on it."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="requests")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    model = models.CharField(max_length=300)
    runner = models.CharField(max_length=120)
    began_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField()
    estimate = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"request {self.id}"


class KeyRule(models.Model):
    """Whether one person, or each of a kind, may have keys. Where nothing is said of somebody, they may."""

    who = models.CharField(max_length=16, choices=Who.choices, default=Who.EVERYBODY)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+"
    )
    may_have_keys = models.BooleanField(default=False)

    class Meta:
        verbose_name = "rule for keys"
        verbose_name_plural = "rules for keys"
        constraints = [
            models.UniqueConstraint(
                fields=["who"],
                name="one_key_rule_per_kind",
                condition=~Q(who="person"),
                violation_error_message="There is a rule for them already: change that one.",
            ),
            models.CheckConstraint(
                condition=Q(who="person", user__isnull=False) | (~Q(who="person") & Q(user=None)),
                name="key_rule_says_whose_it_is",
            ),
        ]

    def __str__(self) -> str:
        return f"keys of {self.user_id or self.who}"


class KeptResponse(models.Model):
    """What a model said in one response, by the secret in the ids that were handed out for it. It goes back to this destination and this
    model alone, for this owner. `name`: the id of its first call, or else its own, as its program knows it. `replays`: how often it has
    gone back. `turn`: the recorded answer of which it is a round."""

    secret = models.CharField(max_length=26, primary_key=True)
    # Two of the indexes below begin with it.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    provider = models.CharField(max_length=64)
    destination = models.CharField(max_length=300)
    dialect = models.CharField(max_length=32)
    model = models.CharField(max_length=300)
    digest = models.CharField(max_length=64)
    name = models.CharField(max_length=48, blank=True, default="")
    saved = VerbatimField()
    thoughts = models.PositiveIntegerField()
    # Characters of its thoughts, and bytes of all.
    characters = models.PositiveBigIntegerField()
    size = models.PositiveBigIntegerField()
    replays = models.PositiveIntegerField(default=0)
    turn = models.ForeignKey(Message, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["owner", "digest"], name="found_by_digest"),
            models.Index(fields=["owner", "created_at"], name="oldest_of_an_owner"),
            # Whoever counts them, and whoever looks for the newest of some, reads these alone: the rows are large.
            models.Index(
                fields=["provider", "model", "expires_at", "created_at", "characters"], name="kept_by_model"
            ),
            models.Index(fields=["created_at", "provider", "model"], name="newest_kept"),
        ]

    def __str__(self) -> str:
        return f"response of {self.model}"


class KeptLook(models.Model):
    """That an administrator was shown the words of thoughts that are kept for somebody's programs: of so many responses. `name` is what
    they were called: they may go."""

    who = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    name = models.CharField(max_length=150)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="kept_looks")
    responses = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now, db_index=True)
    address = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        verbose_name = "look at kept thoughts"
        verbose_name_plural = "looks at kept thoughts"
        indexes = [models.Index(fields=["owner", "-at"], name="looked_at_kept")]

    def __str__(self) -> str:
        return f"{self.name} looked at thoughts of {self.owner_id}"


class KeptCleared(models.Model):
    """What was cleared, for the memory of all processes. Empty is everything: of every owner, of every provider. `is_done`: no row of
    before it is left."""

    owner = models.BigIntegerField(null=True, blank=True)
    provider = models.CharField(max_length=64, blank=True, default="")
    secret = models.CharField(max_length=26, blank=True, default="")
    is_done = models.BooleanField(default=False)
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"cleared at {self.at}"


class ReplayDay(models.Model):
    """How often thoughts of a model were put back on one day (UTC), were missed, and were left out as its contract demands."""

    COUNTS = ("restored", "missed", "dropped")

    day = models.DateField()
    model = models.CharField(max_length=300)
    restored = models.PositiveBigIntegerField(default=0)
    missed = models.PositiveBigIntegerField(default=0)
    dropped = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "model"], name="one_replay_count_per_model")]

    def __str__(self) -> str:
        return f"{self.model} on {self.day}"


class StoredResponse(models.Model):
    """A response that a program may go on from by its id, with what was asked: for as long as thoughts are kept, or until it says so."""

    secret = models.CharField(max_length=26, primary_key=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="+")
    previous = models.CharField(max_length=26, blank=True, default="")
    # The items of the request as they came, and the response as it was given.
    input = VerbatimField(default=list)
    response = VerbatimField(default=dict)
    # Of both, in signs.
    length = models.PositiveBigIntegerField(db_default=0)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"stored response of {self.key_id}"


class RecordedRun(models.Model):
    """A conversation that a program drives, and with which key."""

    conversation = models.OneToOneField(
        Conversation, models.CASCADE, primary_key=True, related_name="recorded_run"
    )
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="runs")

    def __str__(self) -> str:
        return f"run in {self.conversation_id}"


class RecordedPlace(models.Model):
    """Where a history stands that a program told: by the digest of all that was said until then. `round`: of an answer, the last one
    that belongs to it; -1 of a question."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    name = models.CharField(max_length=65)
    message = models.ForeignKey(Message, models.CASCADE, related_name="recorded_places")
    round = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["owner", "name"], name="found_by_name")]

    def __str__(self) -> str:
        return f"place in {self.message_id}"
