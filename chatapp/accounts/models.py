"""What is kept of a person beside their account."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

# A name is 150 letters long at most; some come apart into several.
OUTLINE_CAP = 500


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
