"""What waits to be asked."""

from __future__ import annotations

from uuid import uuid4

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from ..store.models import Message
from ..store.verbatim_field import VerbatimField


class NextQuestion(models.Model):
    """`after`: the answer that is to be complete first. `keys`: of the forms that it was made of. `is_edited`: it is not sent meanwhile.
    `why_not`: what kept it from being sent when it could have been. `asked_as`: the answer to it; then nothing waits, and its words stand
    there alone."""

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    after = models.ForeignKey(Message, models.CASCADE, related_name="+")
    asked_as = models.ForeignKey(Message, models.CASCADE, null=True, blank=True, related_name="+")
    text = models.TextField(blank=True, default="")
    model = models.CharField(max_length=300, blank=True, default="")
    effort = models.CharField(max_length=16, blank=True, default="")
    keys = VerbatimField(default=list)
    is_edited = models.BooleanField(default=False)
    why_not = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["after", "person"], condition=Q(asked_as=None), name="one_next_question"
            ),
        ]
        indexes = [models.Index(fields=["person"], condition=Q(asked_as=None), name="next_of_a_person")]

    def __str__(self) -> str:
        return f"next question {self.id}"
