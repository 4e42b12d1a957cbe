"""How much somebody may use in a day."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


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
