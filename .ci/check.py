"""Runs everything that must hold, and stops at the first thing that does not. Tests come last, so the last line is theirs."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg
from psycopg import sql
from redis import Redis
from redis.exceptions import RedisError

from tests.support.readme import settings_in_readme

BIN = Path(sys.executable).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
MANAGE = (sys.executable, "-W", "error", "manage.py")
STEPS: dict[str, tuple[str | Path, ...]] = {
    "format": (BIN / "ruff", "format", "--check", "--quiet", "."),
    "templates": (BIN / "djangofmt", "--check", "--quiet", "templates"),
    "styles": (sys.executable, ".ci/styles.py", "--check"),
    "lint": (BIN / "ruff", "check", "--quiet", "."),
    "imports": (BIN / "lint-imports",),
    "types": (BIN / "mypy",),
    "migrations": (*MANAGE, "makemigrations", "--check", "--dry-run"),
    "deployment": (*MANAGE, "check", "--deploy", "--fail-level=WARNING"),
}
# A test that hangs is ended, and says where.
PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "--quiet",
    "--numprocesses=3",
    # What the tests of a file share is made once.
    "--dist=loadfile",
    "--no-loadscope-reorder",
    "--timeout=120",
    "--last-failed-no-failures=none",
)
# On a busy machine so many may fail and are tried once more; more than that is no haste.
MAY_FAIL_ONCE = 10
# A server of Redis has so many databases; the one that nobody numbers is left alone.
NUMBERS, TAKEN, HOUR = 16, "taken by a run of the tests", 3600


def main(arguments: list[str]) -> None:
    if unknown := set(arguments) - {"--browser"}:
        sys.exit(f"check does not know {' '.join(sorted(unknown))}; it knows --browser.")
    browser = find_browser()
    if arguments and not browser:
        sys.exit(
            "--browser: no Chromium was found. Install one (Debian: apt-get install chromium), or name it in CHROMIUM."
        )
    with TemporaryDirectory(prefix="thoughtline-check-") as folder:
        environment = clean_environment(folder)
        look_at_all(environment | {"PUBLIC_URL": "https://chat.example.org"})
        with postgresql() as url:
            if url:
                on_postgresql(environment | {"DATABASE_URL": url})
        if arguments:
            demand_browser_tests(environment)
        skipped = [] if browser else ["--ignore=tests/browser"]
        if not browser:
            print("!! Browser tests were SKIPPED: no Chromium was found.", flush=True)
        test("tests", skipped, environment | {"CHROMIUM": browser, "HEADLESS_SHELL": find_shell()})


def on_postgresql(environment: dict[str, str]) -> None:
    """As one process; and as several that only Redis and the database join what these can be asked, which asks the database no less."""
    with redis() as url:
        alone = "both and not across" if url else "both"
        test("tests on PostgreSQL", ("-m", alone, *files_marked("both")), environment)
        if url:
            across = ("-m", "across", *files_marked("across"))
            test("tests across processes", across, environment | {"REDIS_URL": url})


def look_at_all(environment: dict[str, str]) -> None:
    """Two at a time, since each keeps one processor busy; they say in their order how it went."""
    with ThreadPoolExecutor(max_workers=2) as both:
        looks = {name: both.submit(look, command, environment) for name, command in STEPS.items()}
        for name, ended in looks.items():
            wrong = ended.result()
            print(f"== {name}", flush=True)
            if wrong:
                both.shutdown(cancel_futures=True)
                sys.exit(f"{wrong}check: {name} failed.")


def look(command: tuple[str | Path, ...], environment: dict[str, str]) -> str:
    """Everything it said, when all is not well."""
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    return f"{ended.stdout}{ended.stderr}\n" if ended.returncode else ""


def files_marked(*marks: str) -> list[str]:
    """To read all others and leave out all of their tests costs each worker half a minute."""
    texts = {str(file): file.read_text() for file in Path("tests").rglob("test_*.py")}
    return sorted(name for name, text in texts.items() if any(f"mark.{mark}" in text for mark in marks))


def test(name: str, which: Sequence[str], environment: dict[str, str]) -> None:
    """What failed is tried once more, alone, and named in any case."""
    print(f"== {name}", flush=True)
    with TemporaryDirectory() as cache:
        command = (*PYTEST, f"--override-ini=cache_dir={cache}", *which)
        code = subprocess.run(command, env=environment, check=False).returncode
        failed = names_of_failed(Path(cache))
        if code == 1 and 0 < len(failed) <= MAY_FAIL_ONCE:
            print(f"== {name} that failed, once more", *failed, sep="\n!! ", flush=True)
            again = (*command, "--numprocesses=0", "--last-failed")
            code = subprocess.run(again, env=environment, check=False).returncode
    if code:
        sys.exit(code)


def names_of_failed(cache: Path) -> list[str]:
    kept = cache / "v" / "cache" / "lastfailed"
    return list(json.loads(kept.read_text())) if kept.exists() else []


def demand_browser_tests(environment: dict[str, str]) -> None:
    """A browser that no test looks into proves nothing."""
    if importlib.util.find_spec("playwright") is None:
        sys.exit("--browser: playwright is not installed; it is in requirements/dev.txt.")
    command = (sys.executable, "-m", "pytest", "--quiet", "--collect-only", "tests/browser")
    if subprocess.run(command, env=environment, check=False, capture_output=True).returncode:
        sys.exit("--browser: no browser test could be collected from tests/browser.")


def find_browser() -> str:
    named = os.environ.get("CHROMIUM", "")
    found = (shutil.which(name) for name in ([named] if named else BROWSERS))
    return next((path for path in found if path), "")


def find_shell() -> str:
    """Chromium's engine without windows: what most tests look with, since it costs two thirds."""
    return os.environ.get("HEADLESS_SHELL") or shutil.which("chromium-headless-shell") or ""


def clean_environment(folder: str) -> dict[str, str]:
    """What this machine has set for the product must not change what is checked."""
    # What is compiled is kept for the next process: without that each takes twice as long to come.
    left_out = {*settings_in_readme(), "PYTHONDONTWRITEBYTECODE"}
    return {name: value for name, value in os.environ.items() if name not in left_out} | {"DATA_DIR": folder}


@contextmanager
def postgresql() -> Iterator[str]:
    """The address of a database of this run's own, which is dropped afterwards; empty when no PostgreSQL answers."""
    given = os.environ.get("DATABASE_URL", "")
    server = given if given.startswith("postgres") else "postgresql://postgres@127.0.0.1:5432/postgres"
    name = f"thoughtline_check_{os.getpid()}"
    try:
        with psycopg.connect(server, connect_timeout=3, autocommit=True):
            pass
    except psycopg.Error as error:
        print(
            f"!! PostgreSQL tests were SKIPPED: no server answers ({str(error).splitlines()[0]}).", flush=True
        )
        yield ""
        return
    try:
        yield re.sub(r"://([^/?]*)(/[^?]*)?", rf"://\1/{name}", server, count=1)
    finally:
        drop_databases(server, name)


@contextmanager
def redis() -> Iterator[str]:
    """The address of an empty database that this run has for itself; empty when no Redis answers, or none of its databases is free."""
    server = os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379"
    try:
        number = taken_number(server)
    except RedisError as error:
        print(f"!! Tests across processes were SKIPPED: no Redis answers ({error}).", flush=True)
        yield ""
        return
    if number is None:
        print("!! Tests across processes were SKIPPED: every database of Redis holds something.", flush=True)
        yield ""
        return
    try:
        yield numbered(server, number)
    finally:
        forget_ours(server, number)


def taken_number(server: str) -> int | None:
    """Whoever comes at the same time finds it taken."""
    for number in reversed(range(1, NUMBERS)):
        with Redis.from_url(numbered(server, number), socket_timeout=3, socket_connect_timeout=3) as found:
            if not found.dbsize() and found.set(TAKEN, os.getpid(), nx=True, ex=HOUR):
                return number
    return None


def forget_ours(server: str, number: int) -> None:
    with Redis.from_url(numbered(server, number)) as ours:
        for key in (*ours.scan_iter("turn:*"), TAKEN):
            ours.delete(key)


def numbered(server: str, number: int) -> str:
    return urlsplit(server)._replace(path=f"/{number}").geturl()


def drop_databases(server: str, name: str) -> None:
    """The test runner drops its own; these are what is left when it was interrupted."""
    with psycopg.connect(server, autocommit=True) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"test_{name}%"])
        for (left,) in rows.fetchall():
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(left)))


main(sys.argv[1:])
