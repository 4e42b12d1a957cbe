"""Empty places to put a backup into, and full ones to take it from: each a folder and a database of its own, of either kind."""

from __future__ import annotations

import atexit
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings

from tests.browser.served import DATABASE, with_tables
from tests.support.patience import PATIENCE
from tests.support.shell import ROOT, Shell

SQLITE, POSTGRESQL = "sqlite", "postgresql"
# The pairs that the database of this run has a part in: without PostgreSQL only SQLite is there.
OWN = POSTGRESQL if settings.DATABASES["default"]["ENGINE"].endswith(POSTGRESQL) else SQLITE
PAIRS = (
    [(SQLITE, POSTGRESQL), (POSTGRESQL, SQLITE), (POSTGRESQL, POSTGRESQL)]
    if OWN == POSTGRESQL
    else [(SQLITE, SQLITE)]
)


class Place(Shell):
    """What is done here from a terminal. `address`: of its database, "" where it is the file in its folder."""

    def __init__(self, folder: Path, address: str = "") -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(folder)
        self.folder, self.address = folder, address
        self.environment |= self.named

    @property
    def named(self) -> dict[str, str]:
        """What a server at this place is started with beside its folder."""
        return {"DATABASE_URL": self.address} if self.address else {}

    @property
    def file(self) -> Path:
        return self.folder / DATABASE

    def does(self, *words: str, **environment: str) -> str:
        """What it prints when it ends well."""
        ended = self.run(*words, **environment)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def begins(self, *words: str) -> subprocess.Popen[bytes]:
        """A command that is fed from here."""
        return subprocess.Popen(
            self.command(*words),
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def sql(self, statement: str) -> list[Any]:
        """Said to the database itself."""
        if self.address:
            import psycopg

            with psycopg.connect(self.address) as connection:
                asked = connection.execute(statement)
                return asked.fetchall() if asked.description else []
        with closing(sqlite3.connect(self.file)) as file, file:
            return file.execute(statement).fetchall()

    @property
    def is_untouched(self) -> bool:
        """Nobody is here, and nothing was said."""
        return not any(self.sql(f"SELECT 1 FROM {table} LIMIT 1") for table in ("auth_user", "chatapp_item"))

    def tells(self, what: str, **arguments: Any) -> Any:
        """What `tests/management/beside.py` does here."""
        work = f"from tests.management.beside import tell; tell({what!r}, {json.dumps(arguments)!r})"
        ended = self.run("shell", "--no-imports", "--command", work, LOG_LEVEL="critical")
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)


@contextmanager
def a_place(kind: str, folder: Path, *, tables: bool = True) -> Iterator[Place]:
    """Nobody has used it; PostgreSQL's goes away. `tables`: whether a server was started there once."""
    folder.mkdir(exist_ok=True)
    with _database(tables) if kind == POSTGRESQL else _file(folder, tables) as address:
        yield Place(folder, address)


@contextmanager
def _file(folder: Path, tables: bool) -> Iterator[str]:
    if tables:
        with_tables(folder)
    yield ""


@contextmanager
def _database(tables: bool) -> Iterator[str]:
    name = _new_name()
    with _admin() as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {_with_tables() if tables else 'template0'}")
        try:
            yield _address(name)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@cache
def _with_tables() -> str:
    """A database to copy: to make the tables takes longer than a test. It goes with this process."""
    name = _new_name()
    with _admin() as admin:
        admin.execute(f"CREATE DATABASE {name}")
    atexit.register(_drop, name)
    environment = Shell(Path(settings.DATA_DIR)).environment | {"DATABASE_URL": _address(name)}
    command = (sys.executable, "manage.py", "migrate", "--no-input", "--verbosity=0")
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
    return name


def _drop(name: str) -> None:
    with _admin() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _admin() -> Any:
    import psycopg

    return psycopg.connect(dbname="postgres", autocommit=True, **_server())


def _server() -> dict[str, Any]:
    given = settings.DATABASES["default"]
    who = {"user": given["USER"], "password": given["PASSWORD"]}
    return who | {"host": given["HOST"], "port": given["PORT"] or 5432}


def _address(name: str) -> str:
    return "postgres://{user}:{password}@{host}:{port}/{name}".format(name=name, **_server())


def _new_name() -> str:
    """As the test runner's own, so that what is left of a run that was cut off goes with those."""
    own = settings.DATABASES["default"]["NAME"].removeprefix("test_")
    return f"test_{own}_{uuid4().hex[:12]}"


def ends_with(process: subprocess.Popen[bytes], content: bytes = b"") -> tuple[int, str]:
    """When it is told this and nothing more: its code, and what it said."""
    said, wrong = process.communicate(content, timeout=PATIENCE)
    return process.returncode, (said + wrong).decode()
