"""The first account belongs to whoever runs this server. They prove it with a code that this database has while it has no account."""

from __future__ import annotations

import secrets

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User
from django.utils.crypto import constant_time_compare

from ...catalog.models import Installation
from ...catalog.store import THE_ONE

# Without those that are taken for one another. 20 of them are 100 bits.
LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
GROUPS, GROUP = 4, 5


def is_empty() -> bool:
    """Nobody can sign in yet. The account that a terminal asks with has no password and does not count."""
    return not User.objects.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).exists()


def load_code() -> str:
    """The same until there is an account, and "" from then on."""
    if not is_empty():
        forget_code()
        return ""
    if kept := _kept_code():
        return kept
    Installation.objects.get_or_create(pk=THE_ONE)
    Installation.objects.filter(pk=THE_ONE, first_code="").update(first_code=_new_code())
    return _kept_code()


def is_code(text: str) -> bool:
    """However it is spaced and spelled."""
    said, kept = (_as_typed(each) for each in (text, _kept_code()))
    return bool(kept) and constant_time_compare(said, kept)


def forget_code() -> None:
    """Nothing is written where there is none: a server also starts while somebody else has the database."""
    if _kept_code():
        Installation.objects.exclude(first_code="").update(first_code="")


def _kept_code() -> str:
    return Installation.objects.filter(pk=THE_ONE).values_list("first_code", flat=True).first() or ""


def _new_code() -> str:
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(GROUP)) for _ in range(GROUPS))


def _as_typed(code: str) -> str:
    return "".join(sign for sign in code.upper() if sign.isalnum())
