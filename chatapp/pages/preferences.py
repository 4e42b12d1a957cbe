"""What people chose in their settings, and what they use."""

from __future__ import annotations

from django.contrib.auth.models import User

from ..core.items import clean
from ..store.database.worded import Worded
from ..store.models import Conversation
from .models import Preference

# Of how many of their newest conversations the models count as recent.
RECENT = 50


def load_preference(user: User) -> Preference:
    """What they chose, or what holds for those who chose nothing."""
    return _CHOSEN.first(user.pk) or Preference(user=user)


_CHOSEN = Worded(lambda user: Preference.objects.filter(user=user), int)


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
    return list(dict.fromkeys(model for (model,) in _HEADS.columns(user.pk) if model))


_HEADS = Worded(
    lambda owner: (
        Conversation.objects.filter(owner=owner, deleted_at=None)
        .order_by("-updated_at")
        .values_list("head__model")[:RECENT]
    ),
    int,
)
