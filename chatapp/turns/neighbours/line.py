"""A socket of this process in the folder, and the way to those of the others. Only who may open the folder comes to them."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

ENDING = ".sock"
# An entry holds what came while a reader was away: all of a long answer.
LONGEST = 64 * 1024 * 1024
# A neighbour that is frozen keeps nobody waiting for longer.
TOLD_SECONDS = 0.05
_HERE = Path("/proc/self/fd")

Words = list[Any]
# Told what a neighbour says; what it writes is the answer.
Answer = Callable[[Words, asyncio.StreamWriter], Awaitable[None]]


class NeighbourLine:
    """`name`: that of this process. `answers`: who answers a neighbour, by the first word that it says."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name.rpartition("/")[2] + ENDING
        self.answers: dict[str, Answer] = {}
        self._opening: asyncio.Task[None] | None = None
        self._door: int | None = None
        self._server: asyncio.Server | None = None
        # As the folder was when it was last looked at.
        self._looked_at, self._neighbours = 0, list[str]()

    def begin(self) -> None:
        """From now on others reach this process. Calling it again does nothing."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), context=contextvars.Context())

    async def close(self) -> None:
        if self._opening:
            await self._opening
        if self._server:
            self._server.close()
            with suppress(OSError):
                os.unlink(self._path(self._name))
        if self._door is not None:
            os.close(self._door)
        self._server, self._door = None, None

    def tell(self, words: Words) -> None:
        """From any thread."""
        for name in self.neighbours():
            try:
                with socket.socket(socket.AF_UNIX) as line:
                    line.settimeout(TOLD_SECONDS)
                    line.connect(self._path(name))
                    line.sendall(_line_of(words))
            except OSError as error:
                self._note(name, error)

    async def ask(self, name: str, words: Words) -> AsyncGenerator[str, None]:
        """What a neighbour says to this, line by line, until it ends or falls silent for good."""
        try:
            reader, writer = await asyncio.open_unix_connection(self._path(name), limit=LONGEST)
        except OSError as error:
            self._note(name, error)
            return
        try:
            writer.write(_line_of(words))
            while line := await reader.readline():
                yield line.decode()
        except (OSError, ValueError):
            return
        finally:
            writer.close()

    def neighbours(self) -> Sequence[str]:
        """Those who are here, or were when they died."""
        changed = self._folder.stat().st_mtime_ns
        if changed != self._looked_at:
            self._neighbours = [
                entry.name
                for entry in os.scandir(self._folder)
                if entry.name.endswith(ENDING) and entry.name != self._name
            ]
            self._looked_at = changed
        return self._neighbours

    async def _open(self) -> None:
        try:
            self._server = await asyncio.start_unix_server(self._serve, self._path(self._name), limit=LONGEST)
        except OSError as error:
            log.warning("what other processes of this folder do is seen late: %s", error.strerror)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            what, *words = json.loads(await reader.readline())
            await self.answers[what](words, writer)
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.info("a neighbour was not understood: %s", type(error).__name__)
        finally:
            writer.close()

    def _path(self, name: str) -> str:
        """The system takes about a hundred signs, and the folder may lie deeper than that."""
        if not _HERE.is_dir():
            return str(self._folder / name)
        if self._door is None:
            self._door = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        return str(_HERE / str(self._door) / name)

    def _note(self, name: str, error: OSError) -> None:
        """Nobody listens behind the socket of a process that is dead."""
        if isinstance(error, ConnectionRefusedError):
            with suppress(OSError):
                os.unlink(self._path(name))


def _line_of(words: Words) -> bytes:
    return json.dumps(words).encode() + b"\n"
