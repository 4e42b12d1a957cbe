"""Who shares this folder, and is alive: each process holds a lock on a file of its own, which the system gives back when it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

FOLDER_ID = "folder-id"


class ProcessLock:
    """Held from its making to the end of the process. Its name is that of the folder and a new one for each process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._home = folder_id(folder)
        self._take()
        self._sweep()

    def _take(self) -> None:
        """Another process may sweep the file away before it is locked: then there is another name to take."""
        while True:
            self.name = f"{self._home}/{uuid4().hex}"
            self._file = self._path(self.name).open("w")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            if self._path(self.name).exists():
                return
            self._file.close()

    def is_free(self, name: str) -> bool:
        """Whether a process of this folder had that name, and is gone. Of those elsewhere this knows nothing."""
        home, _, own = name.rpartition("/")
        return bool(own) and home == self._home and _is_free(self._path(name))

    def release(self) -> None:
        self._path(self.name).unlink(missing_ok=True)
        self._file.close()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name.rpartition('/')[2]}.lock"

    def _sweep(self) -> None:
        """Files of dead processes are of no more use: a file that is missing counts as free."""
        for path in self._folder.glob("*.lock"):
            _remove_if_free(path)


def is_anybody_here(folder: Path) -> bool:
    """Whether any process of this folder lives."""
    return not all(_is_free(path) for path in folder.glob(f"{'[0-9a-f]' * len(uuid4().hex)}.lock"))


def folder_id(folder: Path) -> str:
    """Made once. A copy of the folder is another folder, so the id says which file it was written into."""
    path = folder / FOLDER_ID
    with alone_in(folder):
        made = _id_in(path)
        if not made:
            fresh = path.with_suffix(".new")
            fresh.touch(mode=0o600)
            made = uuid4().hex
            fresh.write_text(f"{made} {fresh.stat().st_ino}")
            fresh.replace(path)
    return made


def _id_in(path: Path) -> str:
    if not path.exists():
        return ""
    made, _, place = path.read_text().partition(" ")
    return made if place == str(path.stat().st_ino) else ""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Of those who make something in this folder, one at a time."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _is_free(path: Path) -> bool:
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return True
    except FileNotFoundError:
        return True
    except (BlockingIOError, PermissionError):
        return False


def _remove_if_free(path: Path) -> None:
    with suppress(FileNotFoundError, BlockingIOError, PermissionError), path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Removed while it is held: its maker may have been about to lock it.
        path.unlink(missing_ok=True)
