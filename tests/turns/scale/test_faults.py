"""A sample of the faults bench: many processes on machines of their own, and a broken build that it catches."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no faults were played.")
pytest.importorskip("psycopg", reason="SKIPPED LOUDLY: psycopg is not installed, so no faults were played.")
pytest.importorskip("redis", reason="SKIPPED LOUDLY: redis is not installed, so no faults were played.")

from bench.faults.databases import find_postgres
from tests.support.shell import ROOT

if not (find_postgres() and shutil.which("redis-server")):
    pytest.skip("SKIPPED LOUDLY: no PostgreSQL or Redis here that a test could end.", allow_module_level=True)

pytestmark = pytest.mark.timeout(400)


def play(journal: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "bench.faults",
        "--seed",
        "7",
        "--people",
        "8",
        "--journal",
        str(journal),
    ]
    return subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, timeout=380)


def test_a_few_faults_lose_double_and_close_nothing_and_a_run_is_taken_up_again(tmp_path):
    journal = tmp_path / "journal.jsonl"
    done = play(journal, "--faults", "4", "--stretch", "4")
    assert (done.returncode, "faults: 4\nbreaches: 0\n" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    again = play(journal, "--faults", "4", "--resume")
    assert "faults: 4\nbreaches: 0\n" in again.stdout, again.stdout + again.stderr


def test_a_build_without_the_fence_is_caught(tmp_path):
    words = ("--faults", "1", "--only", "worker freezes", "--broken", "without-fence")
    done = play(tmp_path / "journal.jsonl", *words)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"BREACH at \S+ work-\d wrote a chatapp_(item|draft) of turn", done.stdout), done.stdout
    assert not re.search("AttributeError|NameError|TypeError", done.stderr), done.stderr
