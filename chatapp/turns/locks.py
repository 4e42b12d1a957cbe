"""Who is alive: each process holds a lock on a file of its own, which the system gives back when it dies."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from uuid import uuid4

from django.utils import timezone

# A process of another machine cannot be asked for its lock; it saves its drafts once a second.
FAR_SILENCE = timedelta(seconds=60)


class ProcessLock:
    """Held from its making to the end of the process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._host = socket.gethostname()[:40]
        self._take()
        self._sweep()

    def _take(self) -> None:
        """Another process may sweep the file away before it is locked: then there is another name to take."""
        while True:
            self.name = f"{self._host}/{os.getpid()}-{uuid4().hex[:8]}"
            self._file = self._path(self.name).open("w")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            if self._path(self.name).exists():
                return
            self._file.close()

    def is_free(self, name: str, *, touched_at: datetime | None) -> bool:
        """True when the process of that name is gone."""
        host, _, own = name.rpartition("/")
        if not own or (host and host != self._host):
            return touched_at is None or timezone.now() - touched_at > FAR_SILENCE
        return _is_free(self._path(name))

    def release(self) -> None:
        self._path(self.name).unlink(missing_ok=True)
        self._file.close()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name.rpartition('/')[2]}.lock"

    def _sweep(self) -> None:
        """Files of dead processes are of no more use: a file that is missing counts as free."""
        for path in self._folder.glob("*-????????.lock"):
            _remove_if_free(path)


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
