"""What a person chose in the settings."""

from __future__ import annotations

from django.conf import settings
from django.db import models


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
