"""A connection to PostgreSQL that does not wait for ever for a server that has frozen or is behind a network that swallows."""

from __future__ import annotations

import select
import time
from typing import Any

import psycopg
from psycopg.errors import _WaitTimeout
from psycopg_pool import ConnectionPool

from .patience import is_counted

# Of one answer that a request waits for. What works behind the pages may work for long.
LONGEST = 8.0
# Of the pool's own question whether the server still answers, before a connection is given to anybody.
PING = 1.0
# Of one over which it has just answered, and has said no goodbye since, that is not asked: it would be every third question.
JUST = 0.05


class Silent(psycopg.OperationalError):
    """The server has taken a question, and says nothing."""


class Connection(psycopg.Connection):
    _patience: float | None = None
    # By the monotonic clock.
    _answered_at = 0.0

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        mine = self._patience or (LONGEST if is_counted() else None)
        try:
            answer = super().wait(gen, interval, timeout or mine)
            self._answered_at = time.monotonic()
            return answer
        except _WaitTimeout:
            if timeout:
                raise
            # Nobody knows what it will say next, and whom it will take for the one who asked.
            self.pgconn.finish()
            raise Silent("the server does not answer") from None

    def execute(self, *args: Any, **how: Any) -> Any:
        """Only the pool asks in this way: Django has cursors of its own."""
        if time.monotonic() - self._answered_at < JUST and self._is_silent():
            return self.cursor()
        self._patience = PING
        try:
            return super().execute(*args, **how)
        except Silent:
            raise
        except psycopg.OperationalError:
            self._let_others_go()
            raise
        finally:
            self._patience = None

    def _is_silent(self) -> bool:
        """A server that ends says so, or its end is what there is to read."""
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        return not poll.poll(0)

    def _let_others_go(self) -> None:
        """What cut this one while nobody used it has cut those beside it: to try one after the other, as the pool does with a longer
        pause each time, takes longer than anybody waits."""
        if isinstance(self._pool, ConnectionPool):
            self._pool.drain()
