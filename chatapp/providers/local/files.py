"""The files by which the model process and the web processes know of each other, in `DATA_DIR/run`.

The kernel says who lives: the model process holds one lock, every process that needs the model shares another."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO, Any


class ProcessState(StrEnum):
    ABSENT = "absent"
    INSTALLING = "installing"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessNote:
    """What the model process says of itself. It answers to its `id` over HTTP, and only to those who know the `key`."""

    state: ProcessState
    sentence: str
    pid: int = 0
    port: int = 0
    version: str = ""
    id: str = ""
    key: str = field(default="", repr=False)


class RunFiles:
    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir.resolve()
        self.folder = self.data_dir / "run"
        self.note = self.folder / "local-model.json"
        self.log = self.folder / "local-model.log"
        self.place = self.folder / "local-model.lock"
        self.users = self.folder / "local-model.users"

    def make(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def read(self) -> ProcessNote | None:
        """The note, or None where there is none that can be read."""
        try:
            return _sound_note(json.loads(self.note.read_bytes()))
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            return None

    def write(self, note: ProcessNote) -> None:
        """Whole or not at all, and readable by nobody else: it holds the key."""
        handle, name = tempfile.mkstemp(dir=self.folder, prefix="local-model.")
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(note), file)
        Path(name).replace(self.note)

    def take_place(self) -> IO[bytes] | None:
        """The place of the one model process of this folder, kept while the file is open. None: it is taken."""
        return _locked_file(self.place, fcntl.LOCK_EX)

    def place_is_taken(self) -> bool:
        held = _locked_file(self.place, fcntl.LOCK_SH)
        if held is None:
            return True
        held.close()
        return False

    def use(self) -> IO[bytes]:
        """Says that this process needs the model, while the file is open."""
        held = self.users.open("ab")
        fcntl.flock(held, fcntl.LOCK_SH)
        return held

    def in_use(self) -> bool:
        held = _locked_file(self.users, fcntl.LOCK_EX)
        if held is None:
            return True
        held.close()
        return False


def is_still_held(held: IO[bytes], path: Path) -> bool:
    """False when the file was removed, or another one stands in its place."""
    try:
        return os.path.samestat(os.fstat(held.fileno()), path.stat())
    except OSError:
        return False


def _locked_file(path: Path, how: int) -> IO[bytes] | None:
    held = path.open("ab")
    try:
        fcntl.flock(held, how | fcntl.LOCK_NB)
    except OSError:
        held.close()
        return None
    return held


def _sound_note(values: dict[str, Any]) -> ProcessNote:
    note = ProcessNote(**(values | {"state": ProcessState(values["state"])}))
    words = (note.sentence, note.version, note.id, note.key)
    if not (all(isinstance(word, str) for word in words) and type(note.pid) is type(note.port) is int):
        raise ValueError("not a note")
    if not 0 <= note.port < 65536:
        raise ValueError("not a port")
    return note
