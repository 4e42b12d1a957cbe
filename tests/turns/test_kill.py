"""A sample of the kill bench: a serving process dies a few times, and the broken build is caught."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

ROOT = Path(__file__).resolve().parents[2]


def kill(rounds: int, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench.kill", "--rounds", str(rounds), "--seed", "7", *more]
    if connection.vendor == "postgresql":
        command += ["--database", _server()]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def _server() -> str:
    """Where the tests' database is, by the name of the one that is always there."""
    at = connection.settings_dict
    return f"postgres://{at['USER']}:{at['PASSWORD']}@{at['HOST']}:{at['PORT']}/postgres"


@pytest.mark.one_process("its processes are told nothing of Redis.")
@pytest.mark.both
def test_a_process_that_is_killed_again_and_again_loses_and_doubles_nothing():
    done = kill(6)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "breaches: 0" in done.stdout
    phases = re.findall(r"^ +\d+ (in|between|before|at) .*$", done.stdout, re.MULTILINE)
    assert len(phases) >= 3, done.stdout


def caught(way: str, breach: str) -> None:
    """In a few rounds, since it is killed where it is broken; and it is broken in nothing else."""
    done = kill(12, way)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(breach, done.stdout), done.stdout + done.stderr
    assert not re.search("AttributeError|NameError|TypeError", done.stderr), done.stderr


@pytest.mark.one_process("its processes are told nothing of Redis.")
@pytest.mark.both
def test_a_build_without_the_fence_is_caught():
    caught("--without-fence", "\nbreaches: [1-9]")


@pytest.mark.one_process("its processes are told nothing of Redis.")
def test_a_build_that_runs_calls_without_a_word_before_is_caught():
    caught("--without-start-records", r"the call \S+ ran 2 times")


@pytest.mark.one_process("its processes are told nothing of Redis.")
@pytest.mark.both
def test_a_build_that_notes_nothing_before_it_writes_is_caught():
    caught("--without-journal", "stopped, and it is|is asked again")
