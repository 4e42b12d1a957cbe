"""The cache in the shapes of seed 003: its figures, and its entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ..models import KeptResponse
from ..replay.kept import Memory
from ..store.cached import KeptOfModel


@dataclass(slots=True)
class Sum:
    entries: int = 0
    chars: int = 0

    def add(self, of: KeptOfModel) -> None:
        self.entries += of.entries
        self.chars += of.characters

    def told(self) -> dict[str, int]:
        return {"entries": self.entries, "chars": self.chars}


def stats_told(kept: Sequence[KeptOfModel], memory: Memory) -> dict[str, Any]:
    """Entries in memory, hits, misses and replays are those of the process that answers."""
    entries, lookups = sum(each.entries for each in kept), memory.lookups
    asked = lookups.hits + lookups.misses
    return {
        "memoryEntries": len(memory),
        "dbEntries": entries,
        "totalEntries": max(entries, len(memory)),
        "totalChars": sum(each.characters for each in kept),
        "hits": lookups.hits,
        "misses": lookups.misses,
        "replays": lookups.replays,
        "replayRate": f"{100 * lookups.replays / asked if asked else 0:.1f}%",
        "byProvider": _sums(kept, lambda each: each.provider),
        "byModel": _sums(kept, lambda each: each.model),
        "oldestEntry": moment(min((each.oldest for each in kept), default=None)),
        "newestEntry": moment(max((each.newest for each in kept), default=None)),
    }


def _sums(kept: Iterable[KeptOfModel], name: Callable[[KeptOfModel], str]) -> dict[str, dict[str, int]]:
    sums: dict[str, Sum] = {}
    for each in kept:
        sums.setdefault(name(each), Sum()).add(each)
    return {of: made.told() for of, made in sums.items()}


def entry_told(row: KeptResponse, words: Mapping[str, str]) -> dict[str, Any]:
    return {
        "toolCallId": row.name,
        "provider": row.provider,
        "model": row.model,
        "reasoning": words.get(row.secret, ""),
        "charCount": row.characters,
        "createdAt": moment(row.created_at),
        "expiresAt": moment(row.expires_at),
    }


def moment(at: datetime | None) -> str | None:
    """As JavaScript writes it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
