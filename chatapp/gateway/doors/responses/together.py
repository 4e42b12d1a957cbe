"""A request that goes on from responses, or names their items, is no more at once than one that tells all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from ....core.verbatim import encode
from ..body import MOST_VALUES
from ..door import TOO_LARGE, Wrong
from .kept import Exchanged, by_id

Json = dict[str, Any]
TOO_MUCH = (
    "What this request goes on from is too much at once: all of it together may be as long as one request. "
    "Send what still matters as `input`."
)


def too_much() -> Wrong:
    return Wrong(413, TOO_LARGE, TOO_MUCH, "request_too_large", "previous_response_id")


def length_together(
    previous: Sequence[Exchanged], names: Sequence[str], known: Mapping[str, Json], *, longest: int
) -> int:
    """Wrong where it is too much. `names`: the items that it names, each as often as it does; `known`: those of them that are of other
    responses."""
    length = values = 0
    for item, times in chain(_told(previous), _named(names, {**by_id(previous), **known})):
        length += times * len(encode(item))
        values += times * _values(item)
        if length > longest or values > MOST_VALUES:
            raise too_much()
    return length


def _told(previous: Sequence[Exchanged]) -> Iterator[tuple[Json, int]]:
    return ((item, 1) for kept in previous for item in (*kept.input, *kept.output))


def _named(names: Sequence[str], items: Mapping[str, Json]) -> Iterator[tuple[Json, int]]:
    return ((items[name], times) for name, times in Counter(names).items() if name in items)


def _values(value: Any) -> int:
    """It, and all that are in it."""
    match value:
        case dict():
            return 1 + sum(map(_values, value.values()))
        case list():
            return 1 + sum(map(_values, value))
        case _:
            return 1
