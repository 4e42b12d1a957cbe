"""Questions that everybody's question asks. Django words each of them in SQL anew, which takes several times as long as to answer it:
these are worded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import AutoField, Model, QuerySet
from django.db.models.functions import Now
from django.db.models.sql import DeleteQuery, Query, UpdateQuery

Question = tuple[str, tuple[Any, ...]]


class Worded:
    """`ask` makes the rows of values of these kinds. They come without the rows that they refer to. `update`: what is written to them
    before, of the same values; `delete`: they are deleted; and `returning`: the columns that are given then."""

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
        self._questions: dict[str, Question] = {}
        self._readers: dict[str, RowReader] = {}

    def rows(self, *values: Any) -> list[Any]:
        sql, params = self._about(values)
        with connection.cursor() as cursor:
            cursor.execute(sql, params)
            found = cursor.fetchall()
            if not found:
                return []
            if connection.vendor not in self._readers:
                assert self._model
                self._readers[connection.vendor] = RowReader(
                    self._model, [each[0] for each in cursor.description]
                )
        read = self._readers[connection.vendor].row
        return [read(values) for values in found]

    def first(self, *values: Any) -> Any:
        """None where there is none."""
        return next(iter(self.rows(*values)), None)

    def columns(self, *values: Any) -> list[tuple[Any, ...]]:
        """As the database's driver gives them, in the order in which they were asked for."""
        with connection.cursor() as cursor:
            cursor.execute(*self._about(values))
            return list(cursor.fetchall())

    def _about(self, values: tuple[Any, ...]) -> Question:
        """The question with these in the places of the examples."""
        if connection.vendor not in self._questions:
            self._questions[connection.vendor] = self._worded()
        sql, params = self._questions[connection.vendor]
        said = {
            _for_driver(example): _for_driver(value)
            for example, value in zip(self._examples, values, strict=True)
        }
        return sql, tuple(said.get(param, param) for param in params)

    def _worded(self) -> Question:
        rows = self._ask(*self._examples)
        query: Any = rows.query
        self._model, ends = rows.model, ""
        if self._update is not None:
            query, ends = query.chain(UpdateQuery), f" RETURNING {self._returning}"
            query.add_update_values(self._update(*self._examples))
        elif self._delete:
            query, ends = query.chain(DeleteQuery), f" RETURNING {self._returning}"
        sql, params = query.get_compiler(connection=connection).as_sql()
        return sql + ends, tuple(params)


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
        made = [_converted(values[place], converters) for place, converters in self._fields]
        row = self._model.from_db(connection.alias, self._names, made)
        for name, place in self._beside:
            setattr(row, name, values[place])
        return row


class Inserted:
    """Writes new rows of a model, a few at a time, without asking what number each was given."""

    def __init__(self, model: type[Model]) -> None:
        self._model = model
        self._fields: list[Any] = [
            field for field in model._meta.concrete_fields if not isinstance(field, AutoField)
        ]
        self._now: dict[str, str] = {}

    def write(self, rows: Sequence[Model]) -> None:
        named = ", ".join(connection.ops.quote_name(field.column) for field in self._fields)
        params: list[Any] = []
        placed = ", ".join(
            f"({', '.join([self._placed(row, field, params) for field in self._fields])})" for row in rows
        )
        table = connection.ops.quote_name(self._model._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(f"INSERT INTO {table} ({named}) VALUES {placed}", params)
        for row in rows:
            row._state.adding, row._state.db = False, connection.alias

    def _placed(self, row: Model, field: Any, params: list[Any]) -> str:
        """The moment of the database's clock is its own word."""
        value = field.pre_save(row, add=True)
        if isinstance(value, Now):
            return self._now_in_words()
        params.append(field.get_db_prep_save(value, connection))
        return "%s"

    def _now_in_words(self) -> str:
        if connection.vendor not in self._now:
            compiler: Any = Query(self._model).get_compiler(connection=connection)
            self._now[connection.vendor], _ = compiler.compile(Now())
        return self._now[connection.vendor]


Converter = Callable[[Any, Any, Any], Any]


def _converters(field: Any) -> list[tuple[Converter, Any]]:
    column = field.get_col(field.model._meta.db_table)
    found = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
    return [(converter, column) for converter in found]


def _converted(value: Any, converters: list[tuple[Converter, Any]]) -> Any:
    for converter, column in converters:
        value = converter(value, column, connection)
    return value


def _example(kind: type, place: int) -> Any:
    """Nothing that anybody asks for."""
    if kind is UUID:
        return UUID(int=2**128 - 1 - place)
    if kind is datetime:
        return datetime(9999, 12, 31, 23, 59, place, tzinfo=UTC)
    if kind is date:
        return date(9999, 12, 31 - place)
    return f"\x00example {place}" if kind is str else 2**31 - 1 - place


def _for_driver(value: Any) -> Any:
    """As the driver takes it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID):
        return value if connection.features.has_native_uuid_field else value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, date):
        return connection.ops.adapt_datefield_value(value)
    return value
