"""The backend's name is a folder with this file, as Django looks for one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from django.db.backends.sqlite3.base import FORMAT_QMARK_REGEX, SQLiteCursorWrapper
from django.db.backends.sqlite3.base import DatabaseWrapper as Plain

from ..patience import left, waiting

# Statements that are asked again and again. Longer ones are made for one question, with as many places as it has values.
KEPT, LONGEST = 512, 8_000
line = Lock()
# Of what Django does beneath its commands nothing is typed.
_Plain: Any = Plain


class _Cursor(SQLiteCursorWrapper):
    """Django finds the places of the values in each statement anew, which for some takes as long as SQLite takes to answer it."""

    def convert_query(self, query: str, *, param_names: Collection[str] | None = None) -> str:
        if param_names is None and len(query) <= LONGEST:
            return _with_question_marks(query)
        converted: str = super().convert_query(query, param_names=param_names)
        return converted


@lru_cache(KEPT)
def _with_question_marks(query: str) -> str:
    return FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class DatabaseWrapper(_Plain):  # type: ignore[misc]
    """Threads that write stand in line. SQLite has none: whoever finds it locked sleeps and looks again, later and later, while others
    who came after them write."""

    _is_first = False

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=_Cursor)

    def _start_transaction_under_autocommit(self) -> None:
        # Who has waited for as long as may be hears from SQLite that it is locked; it may be by another process.
        with waiting():
            self._is_first = line.acquire(timeout=left())
        try:
            super()._start_transaction_under_autocommit()
        except BaseException:
            self._let_next()
            raise

    def _commit(self) -> None:
        with self._letting_next():
            super()._commit()

    def _rollback(self) -> None:
        with self._letting_next():
            super()._rollback()

    def _close(self) -> None:
        with self._letting_next():
            super()._close()

    @contextmanager
    def _letting_next(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._let_next()

    def _let_next(self) -> None:
        if self._is_first:
            self._is_first = False
            line.release()
