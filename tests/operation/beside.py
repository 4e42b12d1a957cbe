"""Processes beside this one, as their rows say that they are there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from chatapp.operation.models import KnownProcess
from chatapp.operation.store import presence
from chatapp.operation.store.presence import Introduced

SAME = {"SECRET_KEY": "same", "OPENAI_API_KEY": ""}


def beside(settings: Any) -> None:
    """Nobody asks Redis where rows say how it is."""
    settings.REDIS_URL = "redis://cache.invalid"


def said_by(
    runner: str,
    *,
    task: str = "web",
    machine: str = "north",
    code: str = "abc1234",
    fingerprints: dict[str, str] | None = None,
    silent_for: float = 0,
    **figures: Any,
) -> KnownProcess:
    usual = {"hears": True, "fetches": task == "work" or None, "redis_ms": 0.4, "redis_memory": 1_000_000}
    presence.say(Introduced(runner, task, machine, code), fingerprints or SAME, usual | figures)
    rows = KnownProcess.objects.filter(runner=runner)
    rows.update(said_at=Now() - timedelta(seconds=silent_for))
    return rows.get()
