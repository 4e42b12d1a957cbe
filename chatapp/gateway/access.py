"""Whose keys are whose: asked by the loaded row, here and nowhere else."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User
from django.http import Http404

from .models import ApiKey
from .store.keys import load_key


def my_key(user: User, pk: UUID) -> ApiKey:
    """A key of one's own that is not revoked."""
    found = load_key(user, pk)
    if found is None:
        raise Http404
    return found
