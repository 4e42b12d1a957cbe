"""The tables as this version needs them, for every command that needs them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.core.management import call_command
from django.db import Error, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

from chatapp.config.environment import Misconfigured
from chatapp.config.places import MANAGE
from chatapp.insight.store import sums as figures

OWNER_ALONE = 0o077
# The name of a lock, for all servers of this product on one database.
MIGRATING = 0x7468_6F75
COUNTING = "Counting the answers that are there, for /insight/. This happens once; 10,000 answers take about two seconds."


def bring_up_to_date(*, apart: bool = False) -> None:
    """And what this process makes from here on, its owner alone may read. `apart`: in a process of its own, for one that lives long and
    would keep the memory that it takes."""
    os.umask(OWNER_ALONE)
    try:
        with _alone():
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                _migrate_apart() if apart else call_command("migrate", interactive=False, verbosity=0)
        if figures.are_missing():
            print(COUNTING, file=sys.stderr, flush=True)
            figures.count_anew()
    except Error as error:
        raise Misconfigured(unusable(error)) from None


def reach() -> None:
    """The database answers; and what this process makes from here on, its owner alone may read."""
    os.umask(OWNER_ALONE)
    with _past_the_pool():
        pass


def unusable(error: Error | OSError) -> str:
    """One sentence, whatever the driver said."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    thing = "database" if isinstance(error, Error) else "disk"
    return f"The {thing} cannot be used: {words[0]}"


@contextmanager
def unhurried() -> Iterator[None]:
    """Tables are changed inside: nobody ends a transaction because nothing was said in it for a while, as for those who hold up others."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
    try:
        yield
    finally:
        with suppress(Error), connection.cursor() as cursor:
            cursor.execute("RESET idle_in_transaction_session_timeout")


def _migrate_apart() -> None:
    command = (sys.executable, MANAGE, "migrate", "--no-input", "--verbosity=0")
    ended = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        words = ended.stderr.strip().splitlines() or ["it says nothing"]
        raise Misconfigured(f"The tables cannot be brought up to date: {words[-1]}")


@contextmanager
def _alone() -> Iterator[None]:
    """Of several processes that start at once on PostgreSQL, one makes the tables and the others wait."""
    with _past_the_pool() as alone:
        if alone.vendor == "postgresql":
            with alone.cursor() as cursor:
                cursor.execute("SET lock_timeout TO 0")
                cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
        yield


@contextmanager
def _past_the_pool() -> Iterator[BaseDatabaseWrapper]:
    """That would try for seconds, and then tell nothing of the cause."""
    alone = connection.copy()
    alone.settings_dict["OPTIONS"].pop("pool", None)
    alone.ensure_connection()
    try:
        yield alone
    finally:
        alone.close()
