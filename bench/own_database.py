"""A PostgreSQL database of a run's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_database(server: str, name: str) -> Iterator[str]:
    """Its address, or none where no server is named: SQLite's file goes with the folder."""
    if not server:
        yield ""
        return
    import psycopg

    name = f"thoughtline_{name}_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield server.rpartition("/")[0] + f"/{name}"
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
