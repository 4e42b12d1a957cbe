"""What the connections of programs know of their own responses, whether they are kept elsewhere or nowhere: so many of each connection, and
so long together of one person and of all. The oldest go first; what a program can no longer go on from it tells again."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sequence

from ..doors.responses.kept import Exchanged
from .refused import LONGEST_BODY

# A program goes on from the last, or tries once more from the one before.
MOST = 8
# What is longer than one request may be is nothing to go on from.
LONGEST_OF_ONE, LONGEST_OF_ALL = LONGEST_BODY, 4 * LONGEST_BODY
# By person, in bytes.
lengths: Counter[int] = Counter()
_oldest_first: defaultdict[int, OrderedDict[tuple[Remembered, str], int]] = defaultdict(OrderedDict)


class Remembered:
    """Of one connection: of each response the whole way to it."""

    def __init__(self, person: int) -> None:
        self._person, self._is_open = person, True
        self._ways: OrderedDict[str, Sequence[Exchanged]] = OrderedDict()

    def way_to(self, response_id: str) -> Sequence[Exchanged] | None:
        return self._ways.get(response_id)

    def keep(self, response_id: str, way: Sequence[Exchanged], length: int) -> None:
        """`length`: of all of the way, in bytes. What is written while nobody is there any more is not kept here."""
        self.forget(response_id)
        if not self._is_open:
            return
        self._ways[response_id] = way
        _oldest_first[self._person][self, response_id] = length
        lengths[self._person] += length
        while len(self._ways) > MOST:
            self.forget(next(iter(self._ways)))
        while lengths[self._person] > LONGEST_OF_ONE:
            _forget_oldest(self._person)
        while lengths.total() > LONGEST_OF_ALL:
            _forget_oldest(max(lengths, key=lengths.__getitem__))

    def forget(self, response_id: str) -> None:
        """Also after what went on from it has failed."""
        if self._ways.pop(response_id, None) is None:
            return
        lengths[self._person] -= _oldest_first[self._person].pop((self, response_id))
        if not _oldest_first[self._person]:
            del _oldest_first[self._person], lengths[self._person]

    def close(self) -> None:
        self._is_open = False
        for response_id in list(self._ways):
            self.forget(response_id)


def _forget_oldest(person: int) -> None:
    connection, response_id = next(iter(_oldest_first[person]))
    connection.forget(response_id)
