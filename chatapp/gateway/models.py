"""Keys of other programs, what was used with them, and the requests that are being answered."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ..limits.models import DailyLimit
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
    price. `counted_by_log`: they were turns, and are in the figures as such."""

    COUNTS = ("turns", "input", "cached", "output", "reasoning", "cost", "unpriced")

    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="days")
    day = models.DateField()
    model = models.CharField(max_length=300)
    counted_by_log = models.BooleanField(default=False)
    turns = models.PositiveBigIntegerField(default=0)
    input = models.PositiveBigIntegerField(default=0)
    cached = models.PositiveBigIntegerField(default=0)
    output = models.PositiveBigIntegerField(default=0)
    reasoning = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(default=0)
    unpriced = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key", "day", "model", "counted_by_log"], name="one_count_per_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key_id} on {self.day}"


class KeyRequest(models.Model):
    """A request that is being answered, by the process of the name `runner`. `estimate`: the tokens that it has reserved.
    `seen_at`: when that process last said that it is at work on it. `counted_by_log`: it is a turn, which is counted as such."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="requests")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    model = models.CharField(max_length=300)
    runner = models.CharField(max_length=120)
    began_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField()
    estimate = models.PositiveBigIntegerField(default=0)
    counted_by_log = models.BooleanField(default=False)

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
