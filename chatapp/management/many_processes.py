"""What many processes need of PostgreSQL, of Redis and of each other, asked for by `manage.py check`, and told in words."""

from __future__ import annotations

import asyncio
import platform
import time
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.db import DatabaseError, connection
from django.db import Error as Refusal
from django.db.migrations.executor import MigrationExecutor

from chatapp.core.plural import many
from chatapp.operation.store import presence
from chatapp.operation.store.fingerprints import differences, fingerprints, load_salt
from chatapp.store.database.pool import ask_database
from chatapp.turns.locks import folder_id
from chatapp.turns.scale.health import RedisFound, ask_redis
from chatapp.turns.scale.notices import UNLIKE_DJANGO
from chatapp.turns.scale.redis import connected, place_of

OLDEST_POSTGRESQL, OLDEST_REDIS = 14, (6, 2)
# Skew that is worth a word, in seconds.
AHEAD = 2.0
HEARD_WITHIN = 2.0
JOBS = "procrastinate"
THIS = "This machine"


def postgresql(**_: Any) -> list[CheckMessage]:
    trouble = _why_no_database()
    if trouble:
        return [Error(f"PostgreSQL cannot be used: {trouble}", id="chatapp.E010")]
    number = connection.pg_version // 10_000  # type: ignore[attr-defined]
    if number < OLDEST_POSTGRESQL:
        words = f"This is PostgreSQL {number}; at least {OLDEST_POSTGRESQL} is needed."
        return [Error(words, id="chatapp.E011")]
    return [*_tables(), *_own_clock()]


@cache
def _why_no_database() -> str:
    """Once, past the pool, which would try for seconds and tell nothing of the cause."""
    alone = connection.copy()
    alone.settings_dict["OPTIONS"].pop("pool", None)
    try:
        with closing(alone):
            alone.ensure_connection()
    except Refusal as error:
        return (str(error).strip().splitlines() or [type(error).__name__])[0]
    return ""


def _tables() -> list[CheckMessage]:
    executor = MigrationExecutor(connection)
    missing = {each.app_label for each, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())}
    if not missing:
        return []
    whose = "those of jobs" if missing == {JOBS} else "those of this version"
    hint = "./start makes them, and so does manage.py migrate."
    return [Error(f"Tables are missing: {whose}.", hint=hint, id="chatapp.E012")]


def _own_clock() -> list[CheckMessage]:
    ahead = time.time() - ask_database().now.timestamp()
    return _clock("the database’s", ahead)


def _clock(whose: str, ahead: float) -> list[CheckMessage]:
    if abs(ahead) < AHEAD:
        return []
    how = "ahead of" if ahead > 0 else "behind"
    words = f"This machine’s clock is {many(round(abs(ahead)), 'second')} {how} {whose}. Nothing here minds; its logs do."
    return [Warning(words, id="chatapp.W010")]


def notices(**_: Any) -> list[CheckMessage]:
    """What is told over one connection must be heard over another: through a pooler that hands out connections for each transaction it
    is not."""
    if _why_no_database():
        return []
    try:
        heard = _is_heard()
    except psycopg.Error as error:
        heard, why = False, f" ({type(error).__name__})"
    else:
        why = ""
    if heard:
        return []
    words = f"What one process tells the others does not arrive{why}."
    hint = "Is a pooler between, in transaction mode? LISTEN needs PostgreSQL itself, or a pooler in session mode."
    return [Error(words, hint=hint, id="chatapp.E013")]


def _is_heard() -> bool:
    how = {
        name: value for name, value in connection.get_connection_params().items() if name not in UNLIKE_DJANGO
    }
    word = uuid4().hex
    with psycopg.connect(**how, autocommit=True) as hears, psycopg.connect(**how, autocommit=True) as tells:
        hears.execute("LISTEN thoughtline_check")
        tells.execute("SELECT pg_notify('thoughtline_check', %s)", [word])
        return any(each.payload == word for each in hears.notifies(timeout=HEARD_WITHIN, stop_after=1))


def redis(**_: Any) -> list[CheckMessage]:
    found = asyncio.run(_redis())
    if found is None:
        words = f"Redis does not answer at {place_of(settings.REDIS_URL)}: pages pause until it does."
        return [Error(words, id="chatapp.E014")]
    if found.version < OLDEST_REDIS:
        version = ".".join(map(str, found.version))
        return [
            Error(f"This is Redis {version}; at least 6.2 is needed, for its streams.", id="chatapp.E015")
        ]
    told = _clock("that of Redis", -found.ahead)
    if not found.keeps_all:
        words = "Redis forgets keys when it is full: words of answers that are being written would come late."
        told.append(Warning(words, hint="Set maxmemory-policy noeviction.", id="chatapp.W011"))
    return told


async def _redis() -> RedisFound | None:
    client = connected(settings.REDIS_URL)
    try:
        return await ask_redis(client)
    finally:
        await client.aclose()


def machines(**_: Any) -> list[CheckMessage]:
    """Those that are there, held against each other and against this one."""
    if _why_no_database():
        return []
    try:
        there = [each for each in presence.load_present(ask_database().now) if each.silent_since is None]
        mine = fingerprints(load_salt(), [each.fingerprints for each in there])
    except DatabaseError:
        # Their tables are not there yet, which is told above.
        return []
    return [*_different(there, mine), *_shared_folders(there)]


def _different(there: list[presence.There], mine: dict[str, str]) -> list[CheckMessage]:
    known = {f"{each.name} on {each.machine}": each.fingerprints for each in there}
    return [
        Error(each.sentence, hint="All machines need the same.", id="chatapp.E016")
        for each in differences(known | {THIS: mine})
    ]


def _shared_folders(there: list[presence.There]) -> list[CheckMessage]:
    here = folder_id(_made(Path(settings.DATA_DIR) / "run"))
    known = [(each.runner, each.machine) for each in there] + [(here, platform.node())]
    return [
        Error(
            f"DATA_DIR is one folder for {' and '.join(names)}: each machine needs one of its own.",
            hint="In a folder that machines share nobody can tell who is alive.",
            id="chatapp.E017",
        )
        for names in presence.shared_folders(known)
    ]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


CHECKS = (postgresql, notices, redis, machines)
