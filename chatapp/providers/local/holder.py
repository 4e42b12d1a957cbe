"""What a new model process does about the one that already has the place: keep it when it is good, else end it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO

from .files import ProcessNote, ProcessState, RunFiles

ANSWER_WITHIN = 5.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Seconds: how long it may take to load, and to end when asked to."""

    files: RunFiles
    version: str
    load_within: float = 30.0
    end_within: float = 5.0

    def replaced(self) -> IO[bytes] | None:
        """The place, once it is free; None when the process that has it is good or cannot be ended."""
        began = time.monotonic()
        while (place := self.files.take_place()) is None:
            waited = time.monotonic() - began
            note = self.files.read()
            if note and self._is_good(note):
                return None
            if note and (note.state is ProcessState.READY or waited > self.load_within):
                return self._ended(note.pid)
            if waited > self.load_within + self.end_within:
                return None
            time.sleep(0.1)
        return place

    def _is_good(self, note: ProcessNote) -> bool:
        """An installation is never broken off, whichever version began it."""
        if note.state is ProcessState.INSTALLING:
            return True
        return note.state is ProcessState.READY and note.version == self.version and answers(note)

    def _ended(self, pid: int) -> IO[bytes] | None:
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                if is_ours(pid, self.files.data_dir):
                    os.kill(pid, how)
            began = time.monotonic()
            while time.monotonic() - began < self.end_within:
                if place := self.files.take_place():
                    return place
                time.sleep(0.05)
        return None


def answers(note: ProcessNote) -> bool:
    """True when that process itself answers at its port, and not a stranger who has the port now."""
    connection = HTTPConnection("127.0.0.1", note.port, timeout=ANSWER_WITHIN)
    try:
        connection.request("GET", "/v1/models", headers={"Authorization": f"Bearer {note.key}"})
        models = json.loads(connection.getresponse().read(1_000_000))
        return bool(note.id) and note.id in models["data"][0]["tags"]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return False
    finally:
        connection.close()


def is_ours(pid: int, data_dir: Path) -> bool:
    """True when this process was started as the model process of this folder; numbers of processes are used again."""
    return pid > 1 and _command_line(pid)[-2:] == ["--data-dir", str(data_dir)]


def _command_line(pid: int) -> list[str]:
    if Path("/proc/self").exists():
        try:
            return Path(f"/proc/{pid}/cmdline").read_text(errors="surrogateescape").split("\0")[:-1]
        except OSError:
            return []
    shown = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True)
    return shown.stdout.strip().rsplit(" ", 2)[1:]
