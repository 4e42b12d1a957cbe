"""The public compliance suite of Open Responses, run as it is: all of it holds, whichever wire answers. It is no part of this house."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

from .scripts import WIRES, model

ALL = 17
HOW = "OPEN_RESPONSES names no clone of the suite in which somebody has said: npm install bun zod@3"


@pytest.fixture
def suite() -> Path:
    folder = Path(os.environ.get("OPEN_RESPONSES") or "/nowhere")
    if not (folder / "bin/compliance-test.ts").exists():
        pytest.skip(HOW)
    return folder


@pytest.mark.parametrize("wire", [*WIRES, "demo"])
def test_every_test_of_it_passes(suite, served, key, up, wire):
    asked = "demo:thinker" if wire == "demo" else model(up, wire, "obliging")
    command = ["node_modules/.bin/bun", "run", "bin/compliance-test.ts", "--json"]
    command += ["-u", f"{served.url}v1", "-k", key(), "-m", asked]
    done = subprocess.run(command, cwd=suite, capture_output=True, text=True, timeout=2 * PATIENCE)
    told = json.loads(done.stdout[done.stdout.index("{") :])
    failed = [(test["id"], test.get("errors")) for test in told["results"] if test["status"] != "passed"]
    assert (failed, told["summary"]["passed"]) == ([], ALL)
