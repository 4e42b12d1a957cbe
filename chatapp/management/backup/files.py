"""The file that a backup lies in: it has its name when it is whole, only its owner may read it, and it is compressed."""

from __future__ import annotations

import fcntl
import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, cast

from .failed import BackupFailed
from .lines import CUT, DAMAGED

STREAM = "-"
# Most of what it holds is text that repeats itself: what a higher level saves is not worth its time.
LEVEL = 1
BEGINS_COMPRESSED = b"\x1f\x8b"
# Far above the largest row: a question or an item of an answer, with everything escaped.
LONGEST_LINE = 256 * 1024 * 1024


def write_compressed(name: str, lines: Iterable[bytes]) -> int:
    """Gives the size. Of what cannot be written to its end nothing stays."""
    with _written_in_full(name) as file:
        with gzip.GzipFile("", "wb", LEVEL, file, mtime=0) as compressed:
            for line in lines:
                compressed.write(line)
        return file.tell() if name != STREAM else 0


@contextmanager
def _written_in_full(name: str) -> Iterator[BinaryIO]:
    if name == STREAM:
        if sys.stdout.isatty():
            raise BackupFailed(
                "A backup is nothing to read on a terminal: name a file, or a program after a |."
            )
        # Through a file of its own: what could not be written does not wait to be tried again at the very end.
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as file:
            yield file
        return
    path = Path(name)
    if path.exists():
        raise BackupFailed(f"{name} is there already. Name a file that is not.")
    unfinished = path.with_name(f"{path.name}.part")
    with _held_alone(unfinished) as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            unfinished.replace(path)
            _sync(path.parent)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise


def _sync(folder: Path) -> None:
    """The name, too, outlives the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _held_alone(path: Path) -> Iterator[BinaryIO]:
    """What an earlier one left that was killed is begun anew."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(handle, "wb") as file:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupFailed(f"Another backup is being written to {path.name} just now.") from None
        os.fchmod(handle, 0o600)
        file.truncate(0)
        yield file


@contextmanager
def opened(name: str) -> Iterator[Iterator[bytes]]:
    """Its lines."""
    if name == STREAM:
        yield _lines(cast(BufferedReader, sys.stdin.buffer))
        return
    with Path(name).open("rb") as file:
        yield _lines(file)


def _lines(file: BufferedReader) -> Iterator[bytes]:
    compressed = file.peek(2).startswith(BEGINS_COMPRESSED)
    source = gzip.GzipFile(fileobj=file) if compressed else file
    try:
        while line := source.readline(LONGEST_LINE):
            yield line
    except EOFError:
        raise BackupFailed(CUT) from None
    except (zlib.error, gzip.BadGzipFile):
        raise BackupFailed(DAMAGED.format("it cannot be unpacked")) from None
