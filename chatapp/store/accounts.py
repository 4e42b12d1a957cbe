"""Writes accounts. The first one becomes the administrator, and there is only one first."""

from __future__ import annotations

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.db import connection, transaction


def is_empty() -> bool:
    """Nobody can sign in yet. The account that a terminal asks with has no password and does not count."""
    return not User.objects.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists()


@transaction.atomic
def start_account(user: User) -> None:
    """Stores an account whose password is already set."""
    if is_empty():
        _one_at_a_time()
        user.is_staff = user.is_superuser = is_empty()
    user.save()


def _one_at_a_time() -> None:
    """SQLite's transactions exclude each other anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {User._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
