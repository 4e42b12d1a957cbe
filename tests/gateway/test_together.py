"""Requests that begin or end at the same time do so together, and each is told its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp.core.events import Usage
from chatapp.gateway.asking import together
from chatapp.gateway.asking.together import EndingRequest, beginning, ending
from chatapp.gateway.models import ApiKey, KeptResponse, KeyDay, KeyRequest
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.gateway.store.requests import BeginRequest, EndRequest, begin_together, end_together
from chatapp.gateway.store.standing import DeadKey
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.limits.models import DailyLimit
from chatapp.store import in_thread
from chatapp.store.database.together import MOST, Together
from chatapp.store.refusal import BeyondLimit
from tests.support.patience import PATIENCE
from tests.support.stage import play

MODEL, OTHER = "demo:thinker", "demo:talker"
TOLD = Usage(input=100, output=20)


def key_of(owner: User, **said: Any) -> ApiKey:
    found = keys.find_key(keys.create_key(owner, KeyChoices(name="Editor", **said))[1])
    assert found
    return found


def asks(key: ApiKey, model: str = MODEL, estimate: int = 1000) -> BeginRequest:
    return BeginRequest(key=key, model=model, estimate=estimate, runner="here")


class Noting:
    """What was done together, in the order of who asked."""

    def __init__(self) -> None:
        self.done: list[list[int]] = []
        self.may, self._more = asyncio.Event(), asyncio.Event()

    def work(self, numbers: Sequence[int]) -> asyncio.Future[list[int | Exception]]:
        self.done.append([*numbers])
        self._more.set()
        return asyncio.ensure_future(self._worked(numbers))

    async def begun(self, times: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.done) < times:
                self._more.clear()
                await self._more.wait()

    async def _worked(self, numbers: Sequence[int]) -> list[int | Exception]:
        await self.may.wait()
        if 13 in numbers and len(numbers) == 1:
            raise OSError
        return [ValueError(n) if n < 0 else 2 * n for n in numbers]


def test_who_comes_while_others_are_served_is_done_next_with_all_who_came() -> None:
    async def story() -> None:
        noting = Noting()
        line = Together[int, int](noting.work)
        first = [line.done(n) for n in (1, -2)]
        await noting.begun(1)
        later = [line.done(n) for n in range(3, 3 + MOST + 1)]
        later[0].cancel()
        noting.may.set()
        told = await asyncio.gather(*first, *later[1:], return_exceptions=True)
        assert told[0] == 2 and isinstance(told[1], ValueError)
        assert told[2:] == [2 * n for n in range(4, 3 + MOST + 1)]
        assert [len(some) for some in noting.done] == [2, MOST, 1]

    play(story())


def test_what_goes_wrong_for_all_is_told_to_all_and_the_next_are_served() -> None:
    async def story() -> None:
        noting = Noting()
        noting.may.set()
        line = Together[int, int](noting.work)
        with pytest.raises(OSError):
            await line.done(13)
        assert await line.done(2) == 4

    play(story())


def test_lines_do_not_wait_for_each_other() -> None:
    async def story() -> None:
        noting = Noting()
        line = Together[int, int](noting.work, line=lambda n: n % 2)
        waiting = [line.done(n) for n in (1, 2, 3)]
        await noting.begun(2)
        assert noting.done == [[1, 3], [2]]
        noting.may.set()
        assert await asyncio.gather(*waiting) == [2, 4, 6]

    play(story())


@pytest.mark.both
@pytest.mark.django_db
def test_of_many_at_once_as_many_are_let_in_as_one_after_the_other(alice: User) -> None:
    DailyLimit.objects.all().delete()
    plenty, few = key_of(alice), key_of(alice, turns=2)
    begun = begin_together([asks(few), asks(plenty), asks(few), asks(few), asks(plenty)])
    assert [isinstance(each, BeyondLimit) for each in begun] == [False, False, False, True, False]
    assert KeyRequest.objects.count() == 4
    DailyLimit.objects.create(who="everybody", tokens=10_000)
    begun = begin_together([asks(plenty, estimate=5_000) for _ in range(3)])
    assert [isinstance(each, BeyondLimit) for each in begun] == [False, False, True]
    keys.revoke_key(alice, few.pk)
    DailyLimit.objects.all().delete()
    begun = begin_together([asks(few), asks(plenty)])
    assert [isinstance(each, DeadKey) for each in begun] == [True, False]


@pytest.mark.both
@pytest.mark.django_db
def test_what_ends_together_is_counted_each_for_its_own_and_once(alice: User, bob: User) -> None:
    DailyLimit.objects.all().delete()
    hers, his = key_of(alice), key_of(bob)
    begun = [
        *begin_together([asks(hers), asks(hers, OTHER), asks(hers)]),
        *begin_together([asks(his)]),
    ]
    ends = [EndRequest(pk=pk, usage=TOLD) for pk in begun]
    assert end_together([*ends, EndRequest(pk=uuid4(), usage=TOLD)]) == 4
    assert end_together(ends) == 0
    assert not KeyRequest.objects.exists()
    found = {(day.key_id, day.model): (day.turns, day.input) for day in KeyDay.objects.all()}
    assert found == {(hers.pk, MODEL): (2, 200), (hers.pk, OTHER): (1, 100), (his.pk, MODEL): (1, 100)}
    people = {(day.user_id, day.model): day.turns for day in PersonDay.objects.all()}
    assert people == {(alice.pk, MODEL): 2, (alice.pk, OTHER): 1, (bob.pk, MODEL): 1}
    assert {day.model: day.counts["turns"] for day in ModelDay.objects.all()} == {MODEL: 3, OTHER: 1}


@pytest.mark.django_db
def test_many_take_hardly_more_statements_than_one(alice: User) -> None:
    DailyLimit.objects.all().delete()
    key = key_of(alice)

    def statements(number: int) -> int:
        with CaptureQueriesContext(connection) as asked:
            begun = begin_together([asks(key) for _ in range(number)])
            end_together([EndRequest(pk=pk, usage=TOLD) for pk in begun])
        return len(asked)

    statements(1)
    assert statements(16) <= statements(1)


@pytest.mark.django_db(transaction=True)
def test_one_that_cannot_be_written_keeps_no_other_from_it(alice: User) -> None:
    """A key that goes with its owner, between two moments."""
    DailyLimit.objects.all().delete()
    gone, key = key_of(alice), key_of(alice)

    def stays() -> int:
        ApiKey.objects.filter(pk=gone.pk).delete()
        return KeyDay.objects.filter(key=key).count()

    async def story() -> None:
        begun = await asyncio.gather(*(beginning.done(asks(each)) for each in (gone, key, key)))
        await in_thread(stays)()
        ends = [EndingRequest(end=EndRequest(pk=pk, usage=TOLD), key=key.pk) for pk in begun]
        await asyncio.gather(*map(ending.done, ends))
        assert await in_thread(stays)() == 1
        told = await asyncio.gather(
            *(beginning.done(asks(each)) for each in (gone, key)), return_exceptions=True
        )
        assert isinstance(told[0], DeadKey) and not isinstance(told[1], Exception)

    play(story())
    assert KeyDay.objects.get().turns == 2
    assert KeptResponse.objects.count() == 0
    assert together.PAUSE < 0.01
