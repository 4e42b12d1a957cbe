"""Links to branches."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from ..store.models import Message


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
