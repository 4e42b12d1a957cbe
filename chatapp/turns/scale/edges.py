"""The edges of the engine, for many processes on PostgreSQL and Redis."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from ..edges import Edges
from ..heartbeat import HeartbeatThread
from ..locks import ProcessLock
from ..loop import World
from .live import RedisLive
from .notices import PostgresNotices
from .runner import JobRunner


def edges(folder: Path, name: str) -> Edges:
    live, notices = RedisLive(settings.REDIS_URL), PostgresNotices()

    def runner(world: World, lock: ProcessLock, heartbeat: HeartbeatThread) -> JobRunner:
        made = JobRunner(world, lock, heartbeat, live)
        notices.heard_stop.append(made.hear_stop)
        return made

    return Edges(live, notices, runner)
