"""Who reviews: a group of people."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet

REVIEWERS = "reviewer"


def is_reviewer(user: User) -> bool:
    return user.groups.filter(name=REVIEWERS).exists()


def reviewers() -> QuerySet[User]:
    """Those who can sign in."""
    return User.objects.filter(is_active=True, groups__name=REVIEWERS).order_by("username")
