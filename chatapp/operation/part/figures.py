"""How this process is, in numbers: what it tells the others, and what its metrics tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from ...core.draft import Draft
from ...core.model_name import ModelName
from ...gateway.asking import under_way
from ...pages.door.open_sockets import OPEN
from ...processes.itself import ITSELF
from ...store.database.pool import pool_now
from ...turns.elsewhere.lags import LAGS
from ...turns.engine import engine
from .doing import Does, Doing, doing
from .noticed import NOTICED

# Of the turns that run here so many are told one by one.
TOLD = 12
LATELY_MINUTES = 5


@dataclass(frozen=True, slots=True)
class TurnHere:
    message: str
    ms: int
    doing: Doing
    provider: str


def turns_here() -> list[TurnHere]:
    """Those that have run for longest first."""
    return sorted(_turns_here(), key=lambda turn: -turn.ms)


def _turns_here() -> Iterator[TurnHere]:
    for (message, _), running in engine().live.here():
        elapsed = running.elapsed()
        yield TurnHere(message.hex, round(elapsed), doing(running.draft, elapsed), _provider(running.draft))


def _provider(draft: Draft) -> str:
    return ModelName.of(str((draft.facts or {}).get("model", ""))).provider


def _busy(turns: list[TurnHere]) -> dict[str, list[int]]:
    """By the provider that cannot answer yet: how many turns try again, and for how many milliseconds the oldest of them."""
    waits: dict[str, list[int]] = {}
    for turn in turns:
        if turn.doing.does is Does.RETRIES:
            waits.setdefault(turn.provider, []).append(turn.doing.ms)
    return {provider: [len(each), max(each)] for provider, each in waits.items()}


def figures_now() -> dict[str, Any]:
    """What anybody may read who reads the database: numbers, names of tools, ids."""
    turns = turns_here()
    lately = LAGS.lately(LATELY_MINUTES)
    return {
        "at_work": dict(Counter(turn.doing.does for turn in turns)),
        "turns": [
            [turn.message, turn.ms, turn.doing.does, turn.doing.ms, turn.doing.name] for turn in turns[:TOLD]
        ],
        "busy": _busy(turns),
        "programs": under_way.count(),
        "places": _places(),
        "sockets": OPEN.count_all(),
        "requests": NOTICED.requests_a_minute(),
        "late_ms": round(NOTICED.late(), 1),
        "is_ending": ITSELF.is_ending,
        "fetches": ITSELF.fetches() if ITSELF.fetches else None,
        "pool": _pool(),
        "lag": lately and [round(ms, 1) for ms in lately],
        **(_among_many() if settings.REDIS_URL else {}),
    }


def _places() -> int | None:
    """How many turns may run here at a time."""
    if not ITSELF.fetches:
        return None
    from ...turns.scale.runner import PLACES

    return PLACES


def _pool() -> list[int] | None:
    pool = pool_now()
    return [pool.size - pool.idle, pool.size, pool.most, pool.waiting] if pool else None


def _among_many() -> dict[str, Any]:
    return {
        "hears": bool(getattr(engine().notices, "hears", False)),
        "unsaid_ms": round(1000 * getattr(engine().live, "waiting", float)()),
        "lags": {str(minute): [round(ms, 1) for ms in lag] for minute, lag in LAGS.minutes().items()},
        "waited": {str(quarter): most for quarter, most in NOTICED.waited().items()},
        "redis_away_since": NOTICED.redis_away_since,
        "redis_was_away": NOTICED.redis_was_away,
    }
