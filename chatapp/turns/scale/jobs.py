"""Jobs as an alarm clock: each says that a turn, seen at this attempt, wants to be claimed. Whether it lives is said by its row alone."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg
import psycopg_pool
from django.db import connection, transaction
from procrastinate import App, PsycopgConnector
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import AlreadyEnqueued, ProcrastinateException
from procrastinate.jobs import Status
from procrastinate.manager import JobManager
from procrastinate.tasks import configure_task

log = logging.getLogger(__name__)

TASK, QUEUE = "turn", "turns"
# So many turns are claimed at a time; then they run by themselves.
CLAIMS = 20
BEAT_SECONDS, DEAD_SECONDS, LOOK_SECONDS, GRACE_SECONDS = 2, 10, 2, 3
# Of the worker's own connections: one listens, the others fetch and finish.
CONNECTIONS = 4
PAUSE, LONGEST_PAUSE = 0.2, 2.0
_AWAY = (ProcrastinateException, psycopg.Error, psycopg_pool.PoolTimeout, OSError)

Take = Callable[[UUID, int], Awaitable[None]]


def enqueue(message: UUID, seen: int) -> None:
    """In the transaction that is open, if any: with what it writes, or not at all. What waits already is not made to wait twice."""
    job = configure_task(
        name=TASK,
        job_manager=JobManager(DjangoConnector()),
        queue=QUEUE,
        queueing_lock=f"{message}:{seen}",
    )
    # A refused job must not spoil what else is written.
    with suppress(AlreadyEnqueued), transaction.atomic():
        job.defer(message=str(message), seen=seen)


class Fetching:
    """Fetches jobs for this process until it is told to end, however often the database goes away meanwhile."""

    def __init__(self, take: Take, name: str) -> None:
        self._take, self._name = take, name
        self._task: asyncio.Task[None] | None = None
        self.works = False

    def begin(self) -> None:
        self._task = asyncio.create_task(self._keep_fetching(), context=contextvars.Context())

    async def end(self) -> None:
        """What is fetched may still be claimed. However often it has to be told."""
        while self._task and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=GRACE_SECONDS + 1)

    async def _keep_fetching(self) -> None:
        pause = PAUSE
        while True:
            try:
                await self._fetch()
                pause = PAUSE
            except _AWAY as error:
                log.warning("no turns can be fetched, and it is tried again: %s", type(error).__name__)
            self.works = False
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _fetch(self) -> None:
        """Returns when the database went away for a moment."""
        app = self._app()
        try:
            await app.open_async()
            await _forget_lost(app.job_manager)
            self.works = True
            await app.run_worker_async(
                queues=[QUEUE],
                name=self._name,
                concurrency=CLAIMS,
                fetch_job_polling_interval=LOOK_SECONDS,
                update_heartbeat_interval=BEAT_SECONDS,
                stalled_worker_timeout=DEAD_SECONDS,
                shutdown_graceful_timeout=GRACE_SECONDS,
                delete_jobs="always",
                install_signal_handlers=False,
            )
        finally:
            # Also where it was told to end while it opened.
            await app.close_async()

    def _app(self) -> App:
        connector = PsycopgConnector(
            kwargs=connector_params(),
            min_size=1,
            max_size=CONNECTIONS,
            timeout=LONGEST_PAUSE,
            pool_factory=_unasking,
        )
        app = App(connector=connector)

        @app.task(name=TASK, queue=QUEUE, retry=False)
        async def turn(message: str, seen: int) -> None:
            await self._take(UUID(message), seen)

        return app


def _unasking(**how: Any) -> psycopg_pool.AsyncConnectionPool:
    """Whoever uses a connection that has died finds that out, and then all are made anew: to ask each time costs as much as to use it."""
    return psycopg_pool.AsyncConnectionPool(**how | {"check": None})


async def _forget_lost(manager: JobManager) -> None:
    """Jobs that were fetched by processes which died before they claimed: whoever looks for abandoned turns finds those."""
    for job in await manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=DEAD_SECONDS):
        if job.id is not None:
            await manager.finish_job_by_id_async(job.id, status=Status.FAILED, delete_job=True)


def count_waiting() -> int:
    """Jobs that nobody has fetched."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'")
        return int(cursor.fetchone()[0])
