"""A server of its own, and a real browser that looks at it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.readme import settings_in_readme

ROOT = Path(__file__).resolve().parents[2]
LISTENS = "Thoughtline is at "


@pytest.fixture
def server(tmp_path) -> Iterator[str]:
    """The address of a fresh installation."""
    kept = {name: value for name, value in os.environ.items() if name not in settings_in_readme()}
    ours = {"DATA_DIR": str(tmp_path), "LOCAL_MODEL": "0", "DJANGO_SETTINGS_MODULE": "chatapp.settings"}
    command = [sys.executable, "manage.py", "serve", "--port", str(_free_port())]
    with subprocess.Popen(command, cwd=ROOT, env=kept | ours, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = process.stdout.readline()
        assert first.startswith(LISTENS), first
        yield first.removeprefix(LISTENS).strip()
        process.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Closed with its module: while it is open, nothing else in this process can run a loop."""
    api = pytest.importorskip("playwright.sync_api")
    program = os.environ.get("CHROMIUM")
    if not program:
        pytest.skip("CHROMIUM names no browser; ./check sets it")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
