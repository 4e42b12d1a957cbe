"""So many tries in so long, for everybody together, whichever process they come to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from chatapp.pages.limiting.throttle import CLEANING, KEPT, Limit, forget, give_back, take
from chatapp.store.running_models import Throttle
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = [pytest.mark.both, pytest.mark.django_db]

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
THREE = Limit("three", 3, 10 * MINUTE)


def tries(count, who="alice", at=NOON, limit=THREE):
    return [take(limit, who, at) for _ in range(count)]


def test_as_many_as_allowed_pass_and_the_next_is_told_how_long_to_wait():
    assert tries(3) == [timedelta()] * 3
    assert tries(2, at=NOON + 4 * MINUTE) == [6 * MINUTE] * 2


def test_refused_tries_do_not_make_the_wait_longer():
    tries(50)
    assert tries(1, at=NOON + 10 * MINUTE) == [timedelta()]


def test_a_new_window_has_all_its_tries():
    tries(3)
    later = tries(4, at=NOON + 11 * MINUTE)
    assert later == [timedelta()] * 3 + [10 * MINUTE]


def test_others_and_other_limits_count_for_themselves():
    tries(3)
    assert tries(1, who="bob") == tries(1, limit=Limit("other", 1, MINUTE)) == [timedelta()]


def test_a_try_given_back_does_not_count_and_more_than_all_cannot_be_given_back():
    tries(1)
    for _ in range(5):
        give_back(THREE, "alice")
    assert tries(4) == [timedelta()] * 3 + [10 * MINUTE]


def test_what_is_forgotten_does_not_count_and_what_was_never_tried_can_be_forgotten():
    tries(3)
    for who in ("alice", "nobody"):
        forget(THREE, who)
    assert tries(1) == [timedelta()]


@pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(days=1)])
def test_a_clock_that_is_set_back_keeps_nobody_out(jump):
    tries(3)
    assert tries(1, at=NOON - jump) == [timedelta()]


def test_a_clock_that_is_a_little_behind_in_another_process_gives_no_new_tries():
    tries(3)
    assert tries(1, at=NOON - timedelta(seconds=1))[0] > timedelta()


def test_nobody_can_be_read_from_the_rows():
    tries(1, who="203.0.113.9 alice")
    assert not [row for row in Throttle.objects.all() if "alice" in row.name or "203.0" in row.name]


def test_rows_that_count_no_more_go_away_by_themselves():
    tries(1, who="alice")
    later = NOON + KEPT + CLEANING.window
    tries(1, who="bob", at=later)
    assert Throttle.objects.filter(name__startswith="three:").count() == 1
    assert Throttle.objects.filter(since__lt=later).count() == 0


def test_a_name_as_long_as_one_likes_is_counted():
    assert tries(1, who="x" * 100_000) == [timedelta()]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("known", [False, True])
def test_of_many_tries_at_once_exactly_as_many_as_allowed_pass(known):
    at = NOON
    if known:
        tries(3)
        at += THREE.window
    together, waits = Barrier(12), []

    def one(number):
        together.wait(PATIENCE)
        waits.append(take(THREE, "alice", at + timedelta(milliseconds=number)))

    racers = [InThread(lambda n=n: one(n)) for n in range(12)]
    assert all(racer.finished(PATIENCE) for racer in racers)
    assert [racer.problem for racer in racers] == [None] * 12
    assert sum(not wait for wait in waits) == 3
