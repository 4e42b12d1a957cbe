"""Tables as CSV, for programs that take what looks like a formula for one."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

from django.http import HttpResponse

Cell = str | int | float | None
# What begins a formula, in any of its spellings; the signs after which some programs look again.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def cell(value: Cell) -> str:
    """Numbers as they are; a text that could be a formula begins with an apostrophe, which keeps it a text."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    dangerous = value.startswith(_FORMULA) or value.lstrip().startswith(_FORMULA)
    return f"'{value}" if dangerous else value


def sheet(name: str, head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> HttpResponse:
    """A file to be saved under this name."""
    lines = StringIO()
    # In quotes, so that programs that part at other signs find no cell inside another.
    writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
    writer.writerow(map(cell, head))
    writer.writerows([cell(value) for value in row] for row in rows)
    # What a program reads as UTF-8 only when told so is told so.
    response = HttpResponse("\ufeff" + lines.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response
