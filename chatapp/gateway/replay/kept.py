"""What a model said in one response, as it is kept to go back: in memory, over the database."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any

from ...core.items import Item, Kind

MOST, MOST_BYTES = 2_000, 64 * 2**20
# What an entry takes beside its words.
AROUND = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScope:
    """For which model it holds. `destination`: where that is reached."""

    provider: str
    destination: str
    dialect: str
    model: str

    def __str__(self) -> str:
        return "\n".join((self.provider, self.destination, self.dialect, self.model))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """`keys`: the number under which each item was handed out; `name`: how its program may speak of it.
    `repaired`: what the provider's refusals taught about this model. `expires`: seconds of the epoch. `turn`: the recorded
    answer of which it is a round."""

    secret: str
    owner: int
    scope: ModelScope
    digest: str
    items: tuple[Item, ...]
    keys: dict[str, int]
    expires: float
    repaired: tuple[str, ...] = ()
    name: str = ""
    turn: str = ""
    size: int = field(default=AROUND)

    @property
    def thoughts(self) -> list[Item]:
        return [item for item in self.items if item.kind is Kind.REASONING]

    def saved(self) -> dict[str, Any]:
        """What the row holds beside its columns."""
        return {"items": [asdict(item) for item in self.items], "keys": self.keys, "repaired": self.repaired}


def items_in(saved: dict[str, Any]) -> tuple[Item, ...]:
    return tuple(Item(**row | {"kind": Kind(row["kind"])}) for row in saved["items"])


@dataclass(slots=True)
class Lookups:
    """Of answers that programs told: how many were known here, how many were not, and of how many the thoughts went back."""

    hits: int = 0
    misses: int = 0
    replays: int = 0

    def note(self, *, hits: int = 0, misses: int = 0, replays: int = 0) -> None:
        self.hits += hits
        self.misses += misses
        self.replays += replays


class Memory:
    """Of this process; the oldest goes first. From any thread."""

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[str, KeptAnswer] = OrderedDict()
        self._by_digest: dict[tuple[int, str], str] = {}
        self._lock = Lock()
        self.size, self.lookups = 0, Lookups()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, kept: KeptAnswer) -> None:
        with self._lock:
            self._drop(kept.secret)
            self._kept[kept.secret] = kept
            self._by_digest[kept.owner, kept.digest] = kept.secret
            self.size += kept.size
            while len(self._kept) > self._most or self.size > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def find(
        self, owner: int, secrets: Iterable[str], digests: Iterable[str], now: float
    ) -> Iterator[KeptAnswer]:
        with self._lock:
            known = [self._by_digest.get((owner, digest), "") for digest in digests]
            found = [self._kept[secret] for secret in {*secrets, *known} if secret in self._kept]
        return (kept for kept in found if kept.owner == owner and kept.expires > now)

    def purge(self, now: float) -> None:
        """Lets go of what has expired."""
        with self._lock:
            for secret in [kept.secret for kept in self._kept.values() if kept.expires <= now]:
                self._drop(secret)

    def forget(self, *, owner: int | None = None, provider: str = "", secret: str = "") -> None:
        """Everything, or what fits all that is said."""
        with self._lock:
            gone = [
                kept.secret
                for kept in self._kept.values()
                if owner in (None, kept.owner)
                and provider in ("", kept.scope.provider)
                and secret in ("", kept.secret)
            ]
            for each in gone:
                self._drop(each)

    def _drop(self, secret: str) -> None:
        if kept := self._kept.pop(secret, None):
            self.size -= kept.size
            if self._by_digest.get((kept.owner, kept.digest)) == secret:
                del self._by_digest[kept.owner, kept.digest]
