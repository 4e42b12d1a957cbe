"""What people chose in their settings, and what they use."""

from __future__ import annotations

from django.contrib.auth.models import User

from ..core.items import clean
from ..store.models import Conversation
from .models import Preference

# Of how many of their newest conversations the models count as recent.
RECENT = 50


def load_preference(user: User) -> Preference:
    """What they chose, or what holds for those who chose nothing."""
    return Preference.objects.filter(user=user).first() or Preference(user=user)


def preference_of(user: User) -> Preference:
    """The same for somebody whose row lives no longer than a request: it is asked for once."""
    found: Preference | None = getattr(user, "preference", None)
    return found or Preference(user=user)


def save_preference(user: User, **chosen: str | bool) -> None:
    """Only what is named changes."""
    kept = {name: clean(value) if isinstance(value, str) else value for name, value in chosen.items()}
    Preference.objects.update_or_create(user=user, defaults=kept)


def recent_models(user: User) -> list[str]:
    """The models at the heads of their newest conversations, the newest first."""
    rows = Conversation.objects.filter(owner=user, deleted_at=None).order_by("-updated_at")
    models = rows.values_list("head__model", flat=True)[:RECENT]
    return list(dict.fromkeys(filter(None, models)))
