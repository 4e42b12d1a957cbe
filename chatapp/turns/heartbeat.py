"""Who is alive elsewhere: each process beats in the database, and counts by its own beats how long the others are silent."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from threading import Event, Lock, Thread
from uuid import UUID

from django.db import Error, connection

from ..store import LiveTurn
from ..store.database import heartbeats

log = logging.getLogger(__name__)

BEAT_SECONDS = 2.0
# Who is not heard of while this process beats so many times is dead.
DEAD_AFTER = 5
# So many beats everybody has left when one failed: whoever lives beats again by then, and who died before is not waited for anew.
AFTER_TROUBLE = 3


class HeartbeatThread:
    """On a thread of its own: a loop that is busy is alive. It beats while anybody's turns are under way, and only then.

    No two clocks are compared. While the database takes nothing, nobody's own beats count up, so nobody grows more silent; and
    after that everybody has time to come back."""

    def __init__(self, name: str, *, every: float = BEAT_SECONDS) -> None:
        self._name, self._every = name, every
        self._thread: Thread | None = None
        self._ended = Event()
        self._lock = Lock()
        self._mine = 0
        self._heard: dict[str, int] = {}
        # At which of its own beats this process last heard of another, and first saw an attempt at a turn.
        self._heard_at: dict[str, int] = {}
        self._seen_at: dict[tuple[UUID, int], int] = {}

    def begin(self) -> None:
        """Calling it again does nothing."""
        with self._lock:
            if self._thread is None and not self._ended.is_set():
                self._thread = Thread(target=self._keep_beating, name="heartbeat", daemon=True)
                self._thread.start()

    def end(self) -> None:
        self._ended.set()
        thread = self._thread
        if thread:
            # It may wait for a database that takes nothing.
            thread.join(self._every)

    def silent(self, turns: Iterable[LiveTurn]) -> set[UUID]:
        """Those of the turns whose processes are dead, as far as this one can know."""
        with self._lock:
            mine = self._mine
            known = {(turn.id, turn.attempt): turn.runner for turn in turns}
            self._seen_at = {which: self._seen_at.get(which, mine) for which in known}
            last = {
                which: max(self._seen_at[which], self._heard_at.get(runner, 0))
                for which, runner in known.items()
            }
        return {turn for (turn, _), at in last.items() if mine - at >= DEAD_AFTER}

    def _keep_beating(self) -> None:
        while self._is_needed():
            self._beat()
            self._ended.wait(self._every)

    def _is_needed(self) -> bool:
        """When it is not, the thread ends; whoever begins the next turn begins another."""
        needed = True
        try:
            needed = heartbeats.is_anybody_needed()
        except Error as error:
            self._fail(error)
        finally:
            connection.close()
        with self._lock:
            if self._ended.is_set() or not needed:
                self._thread = None
                return False
        return True

    def _beat(self) -> None:
        try:
            self._hear(heartbeats.beat(self._name))
        except Error as error:
            self._fail(error)
        finally:
            connection.close()

    def _hear(self, beats: dict[str, int]) -> None:
        with self._lock:
            self._mine += 1
            for name, count in beats.items():
                if self._heard.get(name) != count:
                    self._heard_at[name] = self._mine
            self._heard = beats
            self._heard_at = {name: at for name, at in self._heard_at.items() if name in beats}

    def _fail(self, error: Error) -> None:
        log.info("no beat could be written: %s", type(error).__name__)
        with self._lock:
            at_least = self._mine - (DEAD_AFTER - AFTER_TROUBLE)
            self._seen_at = {which: max(at, at_least) for which, at in self._seen_at.items()}
