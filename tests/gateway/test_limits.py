"""How much and how often: whoever is refused is told when to come again, nothing of it is counted, and nobody else notices."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.gateway.models import ApiKey, KeyDay, KeyRequest
from chatapp.gateway.served import serving
from chatapp.gateway.store import requests
from chatapp.gateway.store.keys import find_key
from chatapp.gateway.store.standing import MOST_OF_KEY, MOST_OF_PERSON
from chatapp.limits.models import DailyLimit
from chatapp.pages.door.open_sockets import Rate
from chatapp.store import in_thread
from tests.support.faults import locked, short_patience
from tests.support.readme import README
from tests.support.stage import play

from .knocking import (
    ASKING,
    CHAT,
    MESSAGES,
    RESPONSES,
    THINKER,
    Knock,
    asking,
    key_of,
    knock,
    open_house,
    somewhere,
)

pytestmark = pytest.mark.django_db(transaction=True)
EVERY = (*ASKING, f"{RESPONSES}/compact")
each_way_to_ask = pytest.mark.parametrize("path", EVERY)
HTTPS = "https://chat.example.org"
WRONG = "tl_" + "w" * 43


async def refused(path: str, secret: str, **more: Any) -> Knock:
    answer = await knock("POST", path, asking(path, **more), key=secret)
    assert answer.status == 429 and int(answer.header("retry-after")) > 0 and answer.error, answer.text
    assert answer.error["type"] == "rate_limit_error"
    return answer


def begin(secret: str, times: int) -> None:
    key = find_key(secret)
    assert key
    for _ in range(times):
        requests.begin_request(key, model=THINKER, estimate=1, runner="here")


def counted() -> int:
    return sum(day.turns for day in KeyDay.objects.all())


@each_way_to_ask
@pytest.mark.parametrize("stream", [True, False])
def test_too_many_at_once_are_refused_until_one_has_ended(alice: User, path: str, stream: bool) -> None:
    async def story() -> None:
        async with open_house():
            secret, other = await key_of(alice), await key_of(alice)
            await in_thread(begin)(secret, MOST_OF_KEY)
            answer = await refused(path, secret, stream=stream)
            assert f"{MOST_OF_KEY} requests of this key" in answer.error["message"]
            assert (await knock("POST", path, asking(path), key=other)).status == 200
            await in_thread(lambda: KeyRequest.objects.first().delete())()  # type: ignore[union-attr]
            assert (await knock("POST", path, asking(path), key=secret)).status == 200
            assert await in_thread(KeyRequest.objects.count)() == MOST_OF_KEY - 1

    play(story())


@each_way_to_ask
def test_beyond_the_day_one_is_told_when_it_is_over(alice: User, bob: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            await in_thread(DailyLimit.objects.create)(who="everybody", turns=1)
            secret = await key_of(alice)
            assert (await knock("POST", path, asking(path), key=secret)).status == 200
            for mine in (secret, await key_of(alice)):
                answer = await refused(path, mine)
                left = 86_400 - datetime.now(UTC).timestamp() % 86_400
                assert abs(int(answer.header("retry-after")) - left) < 60
                assert "1 turn of today" in answer.error["message"]
            assert (await knock("POST", path, asking(path), key=await key_of(bob))).status == 200
            assert await in_thread(counted)() == 2 and not await in_thread(KeyRequest.objects.exists)()

    play(story())


@each_way_to_ask
@pytest.mark.parametrize("own", [{"turns": 1}, {"tokens": 1}])
def test_a_keys_own_limit_is_its_own(alice: User, path: str, own: dict[str, int]) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, **own)
            assert (await knock("POST", path, asking(path), key=secret)).status == 200
            assert "This key has used its 1" in (await refused(path, secret)).error["message"]
            assert (await knock("POST", path, asking(path), key=await key_of(alice))).status == 200

    play(story())


def test_whoever_is_no_administrator_any_more_has_their_limit_no_more(dana: User) -> None:
    async def story() -> None:
        async with open_house():
            await in_thread(DailyLimit.objects.create)(who="administrators", turns=9)
            await in_thread(DailyLimit.objects.create)(who="everybody", turns=1)
            secret = await key_of(dana)
            for _ in range(2):
                assert (await knock("POST", CHAT, asking(CHAT), key=secret)).status == 200
            await in_thread(User.objects.filter(pk=dana.pk).update)(is_staff=False)
            await refused(CHAT, secret)

    play(story())


def test_what_asks_no_model_is_free_of_the_day(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, turns=1)
            assert (await knock("POST", CHAT, asking(CHAT), key=secret)).status == 200
            for count in (f"{MESSAGES}/count_tokens", f"{RESPONSES}/input_tokens"):
                assert (await knock("POST", count, asking(count), key=secret)).status == 200
            assert (await knock("GET", "/v1/models", key=secret)).status == 200

    play(story())


def test_whoever_asks_too_often_waits_and_the_next_key_does_not(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "by_key", Rate(30, 3.0))

    async def story() -> None:
        async with open_house():
            secret, other = await key_of(alice), await key_of(alice)
            answers = [await knock("GET", "/v1/models/none", key=secret) for _ in range(33)]
            assert [answer.status for answer in answers[:30]] == [404] * 30
            late = [answer for answer in answers if answer.status == 429]
            assert late and all(int(answer.header("retry-after")) > 0 and answer.error for answer in late)
            await refused(MESSAGES, secret)
            assert (await knock("GET", "/v1/models", key=other)).status == 200

    play(story())


def test_wrong_keys_slow_nobody_down_who_has_a_right_one(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret, here = await key_of(alice), somewhere()
            statuses = [(await knock("GET", "/v1/models", key=WRONG, here=here)).status for _ in range(25)]
            assert statuses[:20] == [401] * 20 and 429 in statuses
            late = await knock("POST", MESSAGES, asking(MESSAGES), key=WRONG, here=here)
            assert late.status == 429 and int(late.header("retry-after")) > 0 and late.error
            assert (await knock("GET", "/v1/models", key=secret, here=here)).status == 200
            assert (await knock("GET", "/v1/models", key=WRONG, here=somewhere())).status == 401
            assert (await knock("GET", "/v1/models", here=here)).status == 401

    play(story())


async def tried(here: str, forwarded: str = "", times: int = 25) -> bool:
    """Whether so many wrong keys were too many."""
    headers = {"x-forwarded-for": forwarded} if forwarded else {}
    answers = [await knock("GET", "/v1/models", key=WRONG, here=here, headers=headers) for _ in range(times)]
    return 429 in [answer.status for answer in answers]


def test_who_counts_as_one_is_as_for_pages(alice: User, settings: Any) -> None:
    """Behind a proxy whoever came to it, of IPv6 a whole network; without one, what somebody says of themselves counts for nothing."""

    async def story() -> None:
        async with open_house():
            here = somewhere()
            assert await tried(here, f"{somewhere()}, {somewhere()}")
            assert await tried(here, somewhere(), times=3)
            network = f"2001:db8:{somewhere().split('.')[0]}:{somewhere().split('.')[1]}"
            assert not await tried(f"{network}::1", times=10)
            assert await tried(f"{network}:ffff::2", times=15)
            settings.PUBLIC_URL = HTTPS
            here, there = somewhere(), somewhere()
            assert await tried(here, f"{somewhere()}, {there}")
            assert await tried(here, there, times=3)
            assert not await tried(here, f"{there}, {somewhere()}", times=3)
            assert not await tried(here, "nonsense", times=3)

    play(story())


@pytest.mark.parametrize("path", ASKING)
def test_while_the_database_takes_nothing_one_is_told_to_come_again(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            with short_patience(), locked():
                answer = await knock("POST", path, asking(path), key=secret)
                assert answer.status == 503 and int(answer.header("retry-after")) > 0 and answer.error
            assert (await knock("POST", path, asking(path), key=secret)).status == 200

    play(story())


def test_what_was_refused_was_never_used(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            for path in EVERY:
                answer = await knock("POST", path, asking(path, "nobody:gone"), key=secret)
                assert answer.status == 404
            await knock("POST", CHAT, b"{", key=secret)
            used = await in_thread(ApiKey.objects.values_list("last_used_at", flat=True).get)()
            assert used is None and await in_thread(counted)() == 0

    play(story())


def test_the_readme_tells_how_many_at_once() -> None:
    assert f" {MOST_OF_KEY} of a key and {MOST_OF_PERSON} of all keys of a person " in README.read_text()
