"""What this process has noticed of late: how late its loop comes, how many requests it answered, how many turns waited for somebody to take
them, and since when Redis does not answer."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ...processes.counters import REQUESTS

QUARTER = 900
# The picture shows six hours.
QUARTERS = 24
MINUTE = 60.0
# Of the last so many seconds the most counts.
LATELY = 15


class Noticed:
    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._made: deque[tuple[float, int]] = deque(maxlen=120)
        # The most that waited, by the number of the quarter of an hour.
        self._waited: dict[int, int] = {}
        self._late: deque[tuple[float, float]] = deque(maxlen=LATELY)
        self.redis_away_since: float | None = None
        # When it was last away, and for how long.
        self.redis_was_away: tuple[float, float] | None = None

    def note_late(self, seconds: float) -> None:
        self._late.append((self._now(), max(0.0, seconds)))

    def late(self) -> float:
        """In milliseconds, the most of late."""
        since = self._now() - LATELY
        return max((late for at, late in tuple(self._late) if at > since), default=0.0) * 1000

    def note_requests(self) -> None:
        self._made.append((self._now(), sum(REQUESTS.values())))

    def requests_a_minute(self) -> int:
        """In the last one."""
        self.note_requests()
        since = self._now() - MINUTE
        before = next((made for at, made in tuple(self._made) if at >= since), 0)
        return sum(REQUESTS.values()) - before

    def note_waiting(self, number: int) -> None:
        quarter = int(self._now() // QUARTER)
        kept = {n: most for n, most in self._waited.items() if n > quarter - QUARTERS}
        self._waited = kept | {quarter: max(number, kept.get(quarter, 0))}

    def waited(self) -> dict[int, int]:
        return self._waited

    def note_redis(self, answers: bool) -> None:
        now = self._now()
        if not answers:
            self.redis_away_since = self.redis_away_since or now
        elif self.redis_away_since is not None:
            self.redis_was_away = (self.redis_away_since, now - self.redis_away_since)
            self.redis_away_since = None


NOTICED = Noticed()
