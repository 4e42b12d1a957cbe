"""Whose links are whose: asked by the loaded row, here and nowhere else."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404

from .models import Share
from .store import load_share


def my_share(user: User, pk: UUID) -> Share:
    """A link to a branch of one's own that is not revoked."""
    found = load_share(user, pk)
    if found is None:
        raise Http404
    return found
