"""Questions that everybody's question asks. Django words each of them in SQL anew, which takes several times as long as to answer it:
these are worded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any, NamedTuple
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, BooleanField, CharField, Model, QuerySet, TextField
from django.db.models.functions import Now
from django.db.models.query import get_related_populators
from django.db.models.sql import DeleteQuery, Query, UpdateQuery


class _Question(NamedTuple):
    """`places`: for each parameter which of the values it is, None where it is always the same."""

    sql: str
    params: tuple[Any, ...]
    places: tuple[int | None, ...]


class Worded:
    """`ask` makes the rows of values of these kinds. They come without the rows that they refer to, unless these are asked for with them.
    `update`: what is written to them before, of the same values; `delete`: they are deleted; and `returning`: the columns that are given
    then."""

    def __init__(
        self,
        ask: Callable[..., QuerySet[Any, Any]],
        *kinds: type,
        update: Callable[..., Mapping[str, Any]] | None = None,
        delete: bool = False,
        returning: str = "*",
    ) -> None:
        self._update, self._delete, self._returning = update, delete, returning
        self._ask, self._examples = ask, [_example(kind, place) for place, kind in enumerate(kinds)]
        self._model: type[Model] | None = None
        self._questions: dict[str, _Question] = {}
        self._readers: dict[str, RowReader | RelatedReader] = {}

    def rows(self, *values: Any) -> list[Any]:
        here = _connection()
        sql, params = self._about(values, here)
        with here.cursor() as cursor:
            cursor.execute(sql, params)
            found = cursor.fetchall()
            if not found:
                return []
            if here.vendor not in self._readers:
                assert self._model
                columns = [each[0] for each in cursor.description]
                self._readers[here.vendor] = RowReader(self._model, columns)
        read = self._readers[here.vendor].row
        return [read(values) for values in found]

    def first(self, *values: Any) -> Any:
        """None where there is none."""
        return next(iter(self.rows(*values)), None)

    def columns(self, *values: Any) -> list[tuple[Any, ...]]:
        """As the database's driver gives them, in the order in which they were asked for."""
        here = _connection()
        with here.cursor() as cursor:
            cursor.execute(*self._about(values, here))
            return list(cursor.fetchall())

    def _about(self, values: tuple[Any, ...], here: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        """The question with these in the places of the examples."""
        if here.vendor not in self._questions:
            self._questions[here.vendor] = self._worded(here)
        sql, params, places = self._questions[here.vendor]
        assert len(values) == len(self._examples)
        said = [_for_driver(value, here) for value in values]
        asked = zip(params, places, strict=True)
        return sql, [param if place is None else said[place] for param, place in asked]

    def _worded(self, here: BaseDatabaseWrapper) -> _Question:
        rows = self._ask(*self._examples)
        query: Any = rows.query
        self._model, ends = rows.model, ""
        if self._update is not None:
            query, ends = query.chain(UpdateQuery), f" RETURNING {self._returning}"
            query.add_update_values(self._update(*self._examples))
        elif self._delete:
            query, ends = query.chain(DeleteQuery), f" RETURNING {self._returning}"
        compiler = query.get_compiler(connection=here)
        sql, params = compiler.as_sql()
        if query.select_related:
            self._readers[here.vendor] = RelatedReader(compiler)
        place_of = {_for_driver(example, here): place for place, example in enumerate(self._examples)}
        return _Question(sql + ends, tuple(params), tuple(map(place_of.get, params)))


class RowReader:
    """Makes rows of what the driver gives in these columns, as Django would. What is no field of theirs they are given beside."""

    def __init__(self, model: type[Model], columns: Sequence[str]) -> None:
        self._model = model
        beside = {column: place for place, column in enumerate(columns)}
        fields: list[Any] = [field for field in model._meta.concrete_fields if field.column in beside]
        self._names = [field.attname for field in fields]
        self._fields = [(beside.pop(field.column), _converters(field)) for field in fields]
        self._beside = list(beside.items())

    def row(self, values: Sequence[Any]) -> Any:
        here = _connection()
        made = [
            _converted(values[place], converters, here) if converters else values[place]
            for place, converters in self._fields
        ]
        row = self._model.from_db(DEFAULT_DB_ALIAS, self._names, made)
        for name, place in self._beside:
            setattr(row, name, values[place])
        return row


class RelatedReader:
    """Makes rows of what the driver gives to this question, with those that they refer to, as Django would."""

    def __init__(self, compiler: Any) -> None:
        about, select = compiler.klass_info, compiler.select
        first, *_, last = about["select_fields"]
        self._model, self._own = about["model"], slice(first, last + 1)
        self._names = [column.target.attname for column, *_ in select[self._own]]
        populators: Any = get_related_populators
        self._related = populators(about, select, compiler.connection.alias)
        self._beside = compiler.annotation_col_map
        self._converters = compiler.get_converters([column for column, *_ in select])

    def row(self, values: Sequence[Any]) -> Any:
        here, made = _connection(), list(values)
        for place, (converters, column) in self._converters.items():
            for converter in converters:
                made[place] = converter(made[place], column, here)
        row = self._model.from_db(DEFAULT_DB_ALIAS, self._names, made[self._own])
        for related in self._related:
            related.populate(made, row)
        for name, place in self._beside.items():
            setattr(row, name, made[place])
        return row


class Inserted:
    """Writes new rows of a model, a few at a time, without asking what number each was given."""

    def __init__(self, model: type[Model]) -> None:
        self._model = model
        self._fields: list[Any] = [
            field for field in model._meta.concrete_fields if not isinstance(field, AutoField)
        ]
        self._into: dict[str, str] = {}
        self._now: dict[str, str] = {}

    def write(self, rows: Sequence[Model]) -> None:
        here = _connection()
        if here.vendor not in self._into:
            self._into[here.vendor] = self._begins(here)
        params: list[Any] = []
        placed = ", ".join(
            f"({', '.join([self._placed(row, field, params, here) for field in self._fields])})"
            for row in rows
        )
        with here.cursor() as cursor:
            cursor.execute(f"{self._into[here.vendor]} {placed}", params)
        for row in rows:
            row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS

    def _begins(self, here: BaseDatabaseWrapper) -> str:
        named = ", ".join(here.ops.quote_name(field.column) for field in self._fields)
        return f"INSERT INTO {here.ops.quote_name(self._model._meta.db_table)} ({named}) VALUES"

    def _placed(self, row: Model, field: Any, params: list[Any], here: BaseDatabaseWrapper) -> str:
        """The moment of the database's clock is its own word."""
        value = field.pre_save(row, add=True)
        if isinstance(value, Now):
            return self._now_in_words(here)
        as_it_is = type(value) is _AS_THEY_ARE.get(type(field)) or value is None
        params.append(value if as_it_is else field.get_db_prep_save(value, here))
        return "%s"

    def _now_in_words(self, here: BaseDatabaseWrapper) -> str:
        if here.vendor not in self._now:
            compiler: Any = Query(self._model).get_compiler(connection=here)
            self._now[here.vendor], _ = compiler.compile(Now())
        return self._now[here.vendor]


# What every driver takes as it is, of fields that keep it so.
_AS_THEY_ARE: dict[type, type] = {CharField: str, TextField: str, BooleanField: bool}
Converter = Callable[[Any, Any, Any], Any]


def _converters(field: Any) -> list[tuple[Converter, Any]]:
    column, here = field.get_col(field.model._meta.db_table), _connection()
    found = [*here.ops.get_db_converters(column), *field.get_db_converters(here)]
    return [(converter, column) for converter in found]


def _converted(value: Any, converters: list[tuple[Converter, Any]], here: BaseDatabaseWrapper) -> Any:
    for converter, column in converters:
        value = converter(value, column, here)
    return value


def _connection() -> BaseDatabaseWrapper:
    """Of this thread. Django's own name for it looks for it anew whatever it is asked."""
    return connections[DEFAULT_DB_ALIAS]


def _example(kind: type, place: int) -> Any:
    """Nothing that anybody asks for."""
    if kind is UUID:
        return UUID(int=2**128 - 1 - place)
    if kind is datetime:
        return datetime(9999, 12, 31, 23, 59, place, tzinfo=UTC)
    if kind is date:
        return date(9999, 12, 31 - place)
    return f"\x00example {place}" if kind is str else 2**31 - 1 - place


def _for_driver(value: Any, here: BaseDatabaseWrapper) -> Any:
    """As the driver takes it."""
    match value:
        case Enum():
            return value.value
        case UUID():
            return value if here.features.has_native_uuid_field else value.hex
        case datetime():
            return here.ops.adapt_datetimefield_value(value)
        case date():
            return here.ops.adapt_datefield_value(value)
        case _:
            return value
