"""The answers that this process is giving to programs, and the sockets that wait for requests, to be given up where their key opens
nothing any more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Protocol
from uuid import UUID

from ..doors.door import UNKNOWN_KEY, Wrong

NO_LONGER = "The key of this request opens nothing any more: it was revoked, or has expired."


class UnderWay(Protocol):
    """`key`: by which it was let in. `give_up`: ends it in the words of its door, however far it is."""

    @property
    def key(self) -> UUID: ...

    def give_up(self, wrong: Wrong) -> None: ...


_under_way: set[UnderWay] = set()


@contextmanager
def noted(answering: UnderWay) -> Iterator[None]:
    _under_way.add(answering)
    try:
        yield
    finally:
        _under_way.discard(answering)


def count() -> int:
    return len(_under_way)


def keys_in_use() -> set[UUID]:
    return {each.key for each in _under_way}


def give_up_without(valid: Collection[UUID], among: Collection[UUID]) -> None:
    """`among`: the keys of which it was asked whether they are valid. Others have come since."""
    for each in list(_under_way):
        if each.key in among and each.key not in valid:
            each.give_up(Wrong(401, UNKNOWN_KEY, NO_LONGER, "invalid_api_key"))
