"""Which tables there are after some migrations, and what their columns hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from django.db import connection, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from ..tables import unhurried
from .failed import BackupFailed

# Where many processes run turns, these wake them up. What a turn is waiting for is said by its row alone: whoever looks makes new ones.
JOBS = "procrastinate"
# Made anew from the log wherever that is, for those who search.
MADE_ANEW = {"chatapp_foldeditem", "chatapp_foldingmark", "chatapp_gramsegment", "chatapp_grambits"}
# Bytes of files while they come in, and those of archives: whoever brings one is told that it is not whole; an archive is made again.
ON_THE_WAY = {"chatapp_importpiece", "chatapp_archive", "chatapp_archivepiece"}


class Holds(Enum):
    WHOLE = auto()
    FLAG = auto()
    TEXT = auto()
    UUID = auto()
    MOMENT = auto()
    DAY = auto()
    DECIMAL = auto()
    JSON = auto()


_KINDS: dict[type[models.Field[Any, Any]], Holds] = {
    models.IntegerField: Holds.WHOLE,
    models.BooleanField: Holds.FLAG,
    models.CharField: Holds.TEXT,
    models.TextField: Holds.TEXT,
    models.UUIDField: Holds.UUID,
    models.DateTimeField: Holds.MOMENT,
    models.DateField: Holds.DAY,
    models.DecimalField: Holds.DECIMAL,
    models.JSONField: Holds.JSON,
}


@dataclass(frozen=True, slots=True)
class Column:
    """`longest`: in letters, where that is bounded; `range`: of a whole number; `places`: of a decimal."""

    name: str
    holds: Holds
    longest: int | None = None
    range: tuple[int, int] | None = None
    places: int = 0


@dataclass(frozen=True, slots=True)
class TableShape:
    """`counted`: the column whose numbers the database gives, if any."""

    name: str
    columns: tuple[Column, ...]
    key: str
    counted: str = ""

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


def applied_migrations() -> frozenset[str]:
    """Of this database, as it is now: none where it has no tables yet."""
    return _names(MigrationRecorder(connection).applied_migrations())


def known_migrations() -> frozenset[str]:
    """Of this version."""
    return _names(MigrationLoader(None).graph.nodes)


def _names(keys: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(f"{app}.{name}" for app, name in keys if app != JOBS)


def tables_after(migrations: Iterable[str]) -> list[TableShape]:
    """In an order that is always the same."""
    state = MigrationLoader(None).project_state(keys_of(migrations))
    kinds = (
        kind
        for kind in state.apps.get_models(include_auto_created=True)
        if kind._meta.db_table not in MADE_ANEW | ON_THE_WAY
    )
    return sorted(map(_table, kinds), key=lambda table: table.name)


def bring_to(migrations: Iterable[str]) -> None:
    """From fewer of them, or none."""
    if applied_migrations() == frozenset(migrations):
        return
    executor, wanted = MigrationExecutor(connection), keys_of(migrations)
    # The last ones of each app: to name one that others follow is to go back to it.
    followed = {
        parent.key
        for key in wanted
        for parent in executor.loader.graph.node_map[key].parents
        if parent.key[0] == key[0]
    }
    with unhurried():
        executor.migrate([key for key in wanted if key not in followed])


def keys_of(migrations: Iterable[str]) -> list[tuple[str, str]]:
    keys = (name.partition(".") for name in sorted(migrations))
    return [(app, name) for app, _, name in keys]


def _table(model: type[models.Model]) -> TableShape:
    meta = model._meta
    assert meta.pk and meta.pk.column
    columns = tuple(_column(field) for field in meta.concrete_fields)
    counted = meta.pk.column if isinstance(meta.pk, models.AutoField) else ""
    return TableShape(meta.db_table, columns, key=meta.pk.column, counted=counted)


def _column(field: Any) -> Column:
    kept = field
    while kept.remote_field:
        kept = kept.target_field
    holds = next((_KINDS[kind] for kind in type(kept).__mro__ if kind in _KINDS), None)
    if holds is None:
        raise BackupFailed(f"{field.model.__name__}.{field.name} is of a kind that no backup knows.")
    return Column(
        field.column,
        holds,
        longest=kept.max_length if holds is Holds.TEXT and isinstance(kept, models.CharField) else None,
        range=connection.ops.integer_field_range(kept.get_internal_type()) if holds is Holds.WHOLE else None,
        places=kept.decimal_places if holds is Holds.DECIMAL else 0,
    )
