"""Sends this database to another one: a restore of its own, in a process that has that one's settings, reads what is saved here."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db.models.functions import Now

from chatapp.config.databases import database
from chatapp.config.environment import Misconfigured
from chatapp.config.places import MANAGE
from chatapp.store.running_models import Heartbeat
from chatapp.turns.heartbeat import BEAT_SECONDS, DEAD_AFTER
from chatapp.turns.keep.keeper import Keeper
from chatapp.turns.locks import folder_id, is_anybody_here

from .failed import BackupFailed
from .files import STREAM
from .progress import Progress
from .restoring import IN_USE
from .saving import folder, saved

IN_USE_ELSEWHERE = (
    "A server with another DATA_DIR is at work on this database. Stop it, and try again ten seconds later."
)


def refuse_bad_address(address: str) -> None:
    try:
        database(address, data_dir=Path(settings.DATA_DIR))
    except Misconfigured as error:
        raise BackupFailed(str(error).replace("DATABASE_URL", "--to")) from None


def refuse_while_in_use() -> None:
    """What would be said meanwhile would be said to a database that nobody reads any more."""
    folder().mkdir(parents=True, exist_ok=True)
    if is_anybody_here(folder()):
        raise BackupFailed(IN_USE)
    alive = Heartbeat.objects.filter(beat_at__gt=Now() - timedelta(seconds=BEAT_SECONDS * DEAD_AFTER))
    if alive.exclude(runner__startswith=f"{folder_id(folder())}/").exists():
        raise BackupFailed(IN_USE_ELSEWHERE)


def write_what_was_left() -> None:
    """As a server does at its start: then it is moved with the rest."""

    async def settle() -> None:
        keeper = Keeper(folder())
        try:
            await keeper.settle()
        finally:
            await keeper.close()

    asyncio.run(settle())


def move(address: str, progress: Progress) -> int:
    """The other side tells what it restored, and how it ended. Until then nobody writes here."""
    with saved(progress.count, to_move=True) as lines:
        restoring = subprocess.Popen(
            (sys.executable, MANAGE, "restore", STREAM),
            env=os.environ | {"DATABASE_URL": address},
            stdin=subprocess.PIPE,
        )
        try:
            _send(lines, restoring)
        finally:
            code = _ended(restoring)
    return code


def _send(lines: Iterable[bytes], restoring: subprocess.Popen[bytes]) -> None:
    """As much as it takes: where it refuses, it says why."""
    assert restoring.stdin
    with suppress(BrokenPipeError):
        for line in lines:
            restoring.stdin.write(line)


def _ended(restoring: subprocess.Popen[bytes]) -> int:
    """Where nothing more comes without an end, it writes nothing."""
    assert restoring.stdin
    with suppress(BrokenPipeError):
        restoring.stdin.close()
    return restoring.wait()
