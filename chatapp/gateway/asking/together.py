"""Requests of programs begin and end together with those that do so at the same time: a transaction for each of them would cost more than
what is written in it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from uuid import UUID

from django.db import Error, transaction

from ...store import in_thread, in_writer
from ...store.database.together import Together
from ...store.database.trouble import trouble_in
from ..replay.kept import KeptAnswer
from ..store import kept as kept_rows
from ..store.requests import BeginRequest, EndRequest, begin_together, end_together
from . import under_way

log = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")
Work = Callable[[Sequence[T]], Sequence[R | Exception]]
Writing = Callable[[], object]
# So long the end of a request waits for others that are near theirs, where there are any.
PAUSE = 0.004


@dataclass(frozen=True, slots=True, kw_only=True)
class EndingRequest:
    """The end of a request, with what is kept of it: for its key's owner to go back, and what else is written with it, if it can be."""

    end: EndRequest
    key: UUID
    kept: KeptAnswer | None = None
    keeping: Sequence[Writing] = ()


def _begin(requests: Sequence[BeginRequest]) -> Sequence[UUID | Exception]:
    try:
        return begin_together(requests)
    except Error as error:
        return _each_alone(_begin, requests, error)


def _end(endings: Sequence[EndingRequest]) -> Sequence[Exception | None]:
    try:
        _written(endings)
    except Error as error:
        return _each_alone(_end, endings, error)
    return [None] * len(endings)


def _each_alone(work: Work[T, R], many: Sequence[T], error: Error) -> Sequence[R | Exception]:
    """What is wrong with one is no matter of the others. Where the database is in trouble it is one for all."""
    if len(many) == 1 or trouble_in(error):
        raise error
    return [told for one in many for told in _alone(work, one)]


def _alone(work: Work[T, R], one: T) -> Sequence[R | Exception]:
    try:
        return work([one])
    except Error as error:
        return [error]


@transaction.atomic
def _written(endings: Sequence[EndingRequest]) -> None:
    """What cannot be kept, though the database is there, keeps nothing from being counted."""
    kept = [(each.kept, each.key) for each in endings if each.kept]
    if kept and not _if_it_can_be(partial(kept_rows.keep, kept)) and len(kept) > 1:
        for one in kept:
            _if_it_can_be(partial(kept_rows.keep, [one]))
    for write in (write for each in endings for write in each.keeping):
        _if_it_can_be(write)
    end_together([each.end for each in endings])


def _if_it_can_be(write: Writing) -> bool:
    try:
        with transaction.atomic():
            write()
    except Error as error:
        if trouble_in(error):
            raise
        log.warning("what a model said was not kept: %s", type(error).__name__)
        return False
    return True


def _pause() -> float:
    return PAUSE if under_way.count() else 0.0


beginning = Together[BeginRequest, UUID](in_thread(_begin), line=lambda request: request.key.owner_id)
ending = Together[EndingRequest, None](in_writer(_end), pause=_pause)
