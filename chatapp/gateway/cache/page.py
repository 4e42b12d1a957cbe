"""What the page of kept thoughts shows: sums, a row for each model, the newest entries, and what can be cleared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property

from django.utils import dateformat

from ...core.model_name import ModelName
from ...core.signs.visible import visible
from ...pages.words.amounts import in_bytes, share_in_percent
from ...pages.words.moments import Moment, lasted
from ...providers.configured import Catalog
from ..models import KeptResponse
from ..replay.kept import MOST_BYTES, Memory
from ..store.cached import KeptOfModel, ReplaysOfDays
from ..store.expiry import hours_kept
from ..store.replays import NOTHING_REPLAYED, Replayed

DAYS = 7
MOST_SHOWN = 50
MIB = 2**20


@dataclass(frozen=True, slots=True)
class ReplayRate:
    """How many of the thoughts that were wanted were here."""

    restored: int
    missed: int

    @property
    def words(self) -> str:
        return share_in_percent(self.restored, self.wanted)

    @property
    def ends(self) -> str:
        """Where the part that was put back ends in a bar, and the part that was missed begins."""
        return self._percent(self.restored)

    @property
    def rest(self) -> str:
        return self._percent(self.missed)

    @property
    def wanted(self) -> int:
        return self.restored + self.missed

    def _percent(self, part: int) -> str:
        return f"{100 * part / self.wanted:.1f}%" if self.wanted else "0%"


@dataclass(frozen=True, slots=True)
class ModelRow:
    name: str
    provider: str
    kept: str
    replayed: Replayed

    @property
    def rate(self) -> ReplayRate:
        return ReplayRate(self.replayed.restored, self.replayed.missed)

    @property
    def restored(self) -> str:
        return f"{self.replayed.restored:,}"

    @property
    def missed(self) -> str:
        return f"{self.replayed.missed:,}"

    @property
    def left_out(self) -> str:
        return f"{self.replayed.dropped:,}"


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One that is kept. `name`: how its program may speak of it."""

    secret: str
    name: str
    thoughts: int
    owner: str
    model: str
    size: str
    replays: str
    at: Moment
    age: str
    expires: str

    @property
    def short(self) -> str:
        """As much of it as a row has room for."""
        prefix, _, rest = self.name.partition("_" if "_" in self.name else "-")
        return f"{self.name[: len(prefix) + 9]}…" if rest else self.name


@dataclass(frozen=True, slots=True)
class Clearable:
    """`provider` is "" for everything."""

    provider: str
    words: str


class CachePage:
    def __init__(
        self,
        catalog: Catalog,
        kept: Sequence[KeptOfModel],
        replays: ReplaysOfDays,
        memory: Memory,
    ) -> None:
        self._catalog, self._kept, self._replays, self._memory = catalog, kept, replays, memory

    @cached_property
    def rate(self) -> ReplayRate:
        sums = self._replays.all
        return ReplayRate(sums.restored, sums.missed)

    @property
    def put_back(self) -> str:
        return f"{self.rate.restored:,}"

    @property
    def missed(self) -> str:
        return f"{self.rate.missed:,}"

    @property
    def in_memory(self) -> str:
        return f"{len(self._memory):,}"

    @property
    def memory_used(self) -> str:
        return f"{self._memory.size / MIB:.0f} of {MOST_BYTES // MIB} MiB"

    @cached_property
    def number(self) -> int:
        return sum(each.entries for each in self._kept)

    @property
    def in_database(self) -> str:
        return f"{self.number:,}"

    @property
    def hours(self) -> int:
        return hours_kept()

    @cached_property
    def models(self) -> list[ModelRow]:
        """With those of which thoughts were wanted in these days and none are left."""
        entries = {each.name: each.entries for each in self._kept}
        names = [*entries, *sorted(name for name in self._replays.of if name not in entries)]
        return [self._row(name, entries.get(name, 0)) for name in names]

    def _row(self, name: str, entries: int) -> ModelRow:
        return ModelRow(
            name=visible(self._catalog.label(name)),
            provider=self.provider_in_words(ModelName.of(name).provider),
            kept=f"{entries:,}",
            replayed=self._replays.of.get(name, NOTHING_REPLAYED),
        )

    @property
    def providers(self) -> list[tuple[str, str]]:
        """Their names, and what people call them."""
        return [
            (name, self.provider_in_words(name))
            for name in dict.fromkeys(each.provider for each in self._kept)
        ]

    @property
    def model_names(self) -> list[tuple[str, str]]:
        """Their own names, and how they are shown."""
        return [(name, visible(name)) for name in sorted({each.model for each in self._kept})]

    @property
    def clearable(self) -> list[Clearable]:
        sums = {
            name: sum(each.entries for each in self._kept if each.provider == name)
            for name, _ in self.providers
        }
        of_each = [
            Clearable(name, f"Everything of {words}, {entries(sums[name])}") for name, words in self.providers
        ]
        return [*of_each, Clearable("", f"Everything, {entries(self.number)}")]

    def provider_in_words(self, name: str) -> str:
        try:
            return visible(self._catalog.provider(name).endpoint.label or name)
        except KeyError:
            return visible(name)


def entries(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def entry_rows(rows: Iterable[KeptResponse], now: datetime, zone: tzinfo) -> list[EntryRow]:
    return [_entry(row, now, zone) for row in rows]


def _entry(row: KeptResponse, now: datetime, zone: tzinfo) -> EntryRow:
    return EntryRow(
        secret=row.secret,
        name=row.name or row.secret,
        thoughts=row.thoughts,
        owner=visible(row.owner.get_username()),
        model=visible(row.model),
        size=in_bytes(row.size),
        replays=f"{row.replays:,} ×" if row.replays else "never",
        at=Moment(row.created_at.astimezone(zone)),
        age=lasted(now - row.created_at),
        expires=dateformat.format(row.expires_at.astimezone(zone), "j F"),
    )
