"""What was last done for the whole of it by hand or by the clock, so that whoever runs it sees that it was: proved, and saved."""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Mapping
from typing import Any

from django.db import Error, transaction
from django.db.models.functions import Now

from ..models import Upkeep

VERIFIED, SAVED = "verified", "saved"


def note_verified(breaches: int) -> bool:
    return _note(VERIFIED, breaches=breaches)


def note_saved(kind: str, size: int | None) -> bool:
    """`kind`: of which database. `size`: of the file, in bytes; None where another program took it."""
    return _note(SAVED, kind=kind, size=size)


def load_upkeep() -> Mapping[str, Upkeep]:
    return {row.what: row for row in Upkeep.objects.all()}


def _note(what: str, **facts: Any) -> bool:
    """False where it cannot be written: what was done is done. The tables may be of an earlier version, or nothing may be written."""
    try:
        with transaction.atomic():
            Upkeep.objects.update_or_create(what=what, defaults={"at": Now(), "by": _who(), **facts})
    except Error:
        return False
    return True


def _who() -> str:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        # A container's user has none.
        name = f"user {os.getuid()}"
    return f"{name} on {platform.node() or 'a machine'}"[:200]
