"""Questions that everybody's question asks. Django words each of them in SQL anew, which takes several times as long as to answer it:
these are worded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.sql import UpdateQuery

Question = tuple[str, tuple[Any, ...]]


class Worded:
    """`ask` makes the rows of values of these kinds. They come without the rows that they refer to. `update`: what is written to them
    before, and `returning`: the columns that are given then."""

    def __init__(
        self,
        ask: Callable[..., QuerySet[Any, Any]],
        *kinds: type,
        update: Mapping[str, Any] | None = None,
        returning: str = "*",
    ) -> None:
        self._update, self._returning = update, returning
        self._ask, self._examples = ask, [_example(kind, place) for place, kind in enumerate(kinds)]
        self._model: type[Model] | None = None
        self._questions: dict[str, Question] = {}

    def rows(self, *values: Any) -> list[Any]:
        sql, params = self._about(values)
        assert self._model
        return list(self._model._base_manager.raw(sql, params))

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
        said = {_said(example): _said(value) for example, value in zip(self._examples, values, strict=True)}
        return sql, tuple(said.get(param, param) for param in params)

    def _worded(self) -> Question:
        rows = self._ask(*self._examples)
        query: Any = rows.query
        self._model, ends = rows.model, ""
        if self._update is not None:
            query, ends = query.chain(UpdateQuery), f" RETURNING {self._returning}"
            query.add_update_values(self._update)
        sql, params = query.get_compiler(connection=connection).as_sql()
        return sql + ends, tuple(params)


def _example(kind: type, place: int) -> Any:
    """Nothing that anybody asks for."""
    if kind is UUID:
        return UUID(int=2**128 - 1 - place)
    if kind is datetime:
        return datetime(9999, 12, 31, 23, 59, place, tzinfo=UTC)
    return f"\x00example {place}" if kind is str else 2**31 - 1 - place


def _said(value: Any) -> Any:
    """As the driver takes it."""
    if isinstance(value, UUID):
        return value if connection.features.has_native_uuid_field else value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value
