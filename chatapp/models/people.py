"""What is kept of a person beside their account: what they chose, and how much they may do."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

# A name is 150 letters long at most; some come apart into several.
OUTLINE_CAP = 500


class Theme(models.TextChoices):
    SYSTEM = "", "As the system has it"
    LIGHT = "light"
    DARK = "dark"


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


class SignedUp(models.Model):
    """That somebody made their account themselves, at the open door."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="signed_up"
    )
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"sign-up of {self.user_id}"


class NameOutline(models.Model):
    """What somebody's name looks like. None: like that of an account that was there before."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="name_outline"
    )
    outline = models.CharField(max_length=OUTLINE_CAP, unique=True, null=True)  # noqa: DJ001

    def __str__(self) -> str:
        return f"outline of {self.user_id}"


class WayIn(models.Model):
    """A link that an administrator made, with which one person chooses a password, once. Only the token's digest is kept;
    "" when the link works no more."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="way_in"
    )
    digest = models.CharField(max_length=64, blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"way in of {self.user_id}"


class LongWrite(models.Model):
    """That somebody's long write is under way: each person has one at a time. `made` is what nobody sees before its last piece;
    `leaves`: their account goes, with everything in it."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="long_write"
    )
    # Of whoever writes: another who takes over has another one.
    key = models.UUIDField()
    made = models.UUIDField(null=True, blank=True)
    leaves = models.BooleanField(default=False)
    touched_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"long write of {self.person_id}"


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
