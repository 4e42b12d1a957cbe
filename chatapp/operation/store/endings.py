"""Counts the turns that end in this process."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.dispatch import receiver

from ...processes.counters import ENDED
from ...store.changes import turn_ended
from ...store.models import Message


@receiver(turn_ended)
def _count(row: Message, **_: Any) -> None:
    """When it stands: what is undone is tried again."""
    transaction.on_commit(lambda: ENDED.update((str(row.status),)), robust=True)
