"""Processes that are started here: what they get, how long they may take, and with what they end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import contextmanager

import pytest

from chatapp.processes.children import Helper, Overdue
from chatapp.processes.strangers import end_stranger, start_stranger

ANSWER = "import json, os; os.write(1, {}); os._exit({})"
SLEEP = "import time; time.sleep(60)"
# It has a child of its own, tells its number, and both stay.
TWO = """import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
sys.stdout.write(str(child.pid).zfill(9)); sys.stdout.flush(); time.sleep(60)"""


@contextmanager
def at_work(code):
    helper = Helper("timeit", "-n1", "-r1", code)
    try:
        yield helper
    finally:
        helper.end()


def lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def soon_gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while lives(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not lives(pid)


def test_a_helper_gets_nothing_of_our_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with at_work(ANSWER.format("json.dumps(dict(os.environ)).encode()", 0)) as helper:
        got = json.loads(helper.last_answer(b"", within=30))
    assert got.keys() <= {"PYTHONPATH", "LC_CTYPE"}


@pytest.mark.parametrize("code", [SLEEP, ANSWER.format("b'half'", 1)], ids=["silent", "failed"])
def test_who_does_not_answer_well_in_time_is_given_up(code):
    with at_work(code) as helper, pytest.raises(Overdue):
        helper.last_answer(b"", within=0.2 if code == SLEEP else 30)
    assert not lives(helper.process.pid)


@pytest.mark.parametrize("code", [SLEEP, ANSWER.format("b'half'", 0)], ids=["silent", "too little"])
def test_what_does_not_come_in_time_is_not_waited_for(code):
    with at_work(code) as helper, pytest.raises(Overdue):
        helper.read(9, until=time.monotonic() + (0.2 if code == SLEEP else 30))


def test_what_a_helper_started_ends_with_it():
    with at_work(TWO) as helper:
        child = int(helper.read(9, until=time.monotonic() + 30))
        assert lives(child)
    assert soon_gone(child)


def test_what_a_stranger_started_ends_with_it():
    async def ended() -> tuple[int, int]:
        stranger = await start_stranger([sys.executable, "-c", TWO], os.environ, longest_line=99)
        assert stranger.stdout
        child = int(await stranger.stdout.readexactly(9))
        await end_stranger(stranger)
        return stranger.pid, child

    assert all(map(soon_gone, asyncio.run(ended())))


@pytest.mark.skipif(sys.platform != "linux", reason="Elsewhere memory is not limited.")
@pytest.mark.parametrize("limit", ["cpu(0.1)", "memory(100_000_000)"])
def test_the_kernel_keeps_a_process_within_its_limits(limit):
    wastes = (
        f"from chatapp.processes.limits import *; limit_{limit}; x = bytearray(200_000_000)\nwhile True: pass"
    )
    with at_work(wastes) as helper, pytest.raises(Overdue):
        helper.last_answer(b"", within=30)
    assert helper.process.returncode
