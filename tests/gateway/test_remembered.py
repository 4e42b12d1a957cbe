"""What connections remember of their responses, by number and by length."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chatapp.gateway.doors.responses.kept import Exchanged
from chatapp.gateway.served.remembered import LONGEST_OF_ALL, LONGEST_OF_ONE, MOST, Remembered, lengths

WAY = [Exchanged([], [])]
ALICE, BOB = 1, 2


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert not lengths


def test_a_connection_remembers_its_last_responses_until_one_cannot_be_gone_on_from() -> None:
    connection = Remembered(ALICE)
    for n in range(MOST + 1):
        connection.keep(f"resp_{n}", WAY, 1)
    assert connection.way_to("resp_0") is None
    assert connection.way_to("resp_1") == WAY
    for _ in range(2):
        connection.forget("resp_1")
    assert connection.way_to("resp_1") is None
    assert lengths[ALICE] == MOST - 1
    connection.close()


def test_the_oldest_of_a_person_goes_first_whichever_connection_has_it() -> None:
    one, two = Remembered(ALICE), Remembered(ALICE)
    one.keep("old", WAY, LONGEST_OF_ONE // 2)
    two.keep("newer", WAY, LONGEST_OF_ONE // 2)
    two.keep("new", WAY, 1)
    assert (one.way_to("old"), two.way_to("newer"), two.way_to("new")) == (None, WAY, WAY)
    two.keep("too long", WAY, LONGEST_OF_ONE + 1)
    assert two.way_to("too long") is None and not lengths


def test_where_all_is_full_whoever_holds_the_most_loses_the_oldest() -> None:
    many = LONGEST_OF_ALL // LONGEST_OF_ONE
    others = [Remembered(person) for person in range(10, 10 + many)]
    for connection in others:
        connection.keep("theirs", WAY, LONGEST_OF_ONE)
    mine = Remembered(BOB)
    mine.keep("mine", WAY, 1)
    assert mine.way_to("mine") == WAY
    assert sum(connection.way_to("theirs") is not None for connection in others) == many - 1
    for connection in (mine, *others):
        connection.close()


def test_nothing_is_kept_for_a_connection_that_is_gone() -> None:
    connection = Remembered(ALICE)
    connection.close()
    connection.keep("late", WAY, 1)
    assert connection.way_to("late") is None
