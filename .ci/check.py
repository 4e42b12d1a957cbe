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

import psycopg
from psycopg import sql

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
                test(
                    "tests on PostgreSQL",
                    ("-m", "both", *files_with_both()),
                    environment | {"DATABASE_URL": url},
                )
        if arguments:
            demand_browser_tests(environment)
        skipped = [] if browser else ["--ignore=tests/browser"]
        if not browser:
            print("!! Browser tests were SKIPPED: no Chromium was found.", flush=True)
        test("tests", skipped, environment | {"CHROMIUM": browser, "HEADLESS_SHELL": find_shell()})


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


def files_with_both() -> list[str]:
    """To read all others and leave out all of their tests costs each worker half a minute."""
    return sorted(str(file) for file in Path("tests").rglob("test_*.py") if "mark.both" in file.read_text())


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


def drop_databases(server: str, name: str) -> None:
    """The test runner drops its own; these are what is left when it was interrupted."""
    with psycopg.connect(server, autocommit=True) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"test_{name}%"])
        for (left,) in rows.fetchall():
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(left)))


main(sys.argv[1:])
