"""Links with which one person chooses a password, once. An administrator makes one and hands it over; what is kept of it opens nothing."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ..models import WayIn

LASTS = timedelta(days=1)


def make(user: User, *, by: User) -> str:
    """The token of a new link. The one before works no more."""
    token = secrets.token_urlsafe(32)
    row = {"digest": _digest(user, token), "by": by, "made_at": timezone.now(), "used_at": None}
    WayIn.objects.update_or_create(user=user, defaults=row)
    return token


def load(user: User) -> WayIn | None:
    """The last link that was made for them, whatever became of it."""
    return WayIn.objects.select_related("by").filter(user=user).first()


def works_until(way: WayIn) -> datetime | None:
    """None where it works no more."""
    end = way.made_at + LASTS
    return end if way.digest and end > timezone.now() else None


def end(user: User) -> None:
    WayIn.objects.filter(user=user).update(digest="")


def check_token(user: User, token: str | None) -> bool:
    return bool(token) and _way_found(user, token or "") is not None


@transaction.atomic
def choose_password(user: User, token: str, password: str) -> bool:
    """False where the link works no more, of two at once for the second."""
    locked = User.objects.select_for_update().filter(pk=user.pk, is_active=True).first()
    way = _way_found(locked, token) if locked else None
    if locked is None or way is None:
        return False
    locked.set_password(password)
    locked.save(update_fields=["password"])
    WayIn.objects.filter(pk=way.pk).update(digest="", used_at=timezone.now())
    return True


def _way_found(user: User, token: str) -> WayIn | None:
    way = WayIn.objects.filter(user=user, user__is_active=True, digest=_digest(user, token)).first()
    return way if way and works_until(way) else None


def _digest(user: User, token: str) -> str:
    """Of the password too, so that a link ends with the one that it was made for."""
    return salted_hmac("way in", f"{user.pk} {token} {user.password}", algorithm="sha256").hexdigest()
