"""The tables as this version needs them, for every command that needs them."""

from __future__ import annotations

import os
import sys

from django.core.management import call_command
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor

from chatapp.environment import Misconfigured
from chatapp.store import figures

OWNER_ALONE = 0o077
COUNTING = "Counting the answers that are there, for /insight/. This happens once; 10,000 answers take about two seconds."


def bring_up_to_date() -> None:
    """What this process makes from here on, its owner alone may read."""
    os.umask(OWNER_ALONE)
    try:
        _connect_once()
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
        if figures.are_missing():
            print(COUNTING, file=sys.stderr, flush=True)
            figures.count_anew()
    except Error as error:
        raise Misconfigured(unusable(error)) from None


def unusable(error: Error | OSError) -> str:
    """One sentence, whatever the driver said."""
    words = str(error).strip().splitlines() or [type(error).__name__]
    thing = "database" if isinstance(error, Error) else "disk"
    return f"The {thing} cannot be used: {words[0]}"


def _connect_once() -> None:
    """Past the pool, which would try for seconds and then tell nothing of the cause."""
    alone = connection.copy()
    alone.settings_dict["OPTIONS"].pop("pool", None)
    alone.ensure_connection()
    alone.close()
