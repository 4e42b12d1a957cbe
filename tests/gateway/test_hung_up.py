"""Programs that hang up at any moment: nothing is left half stored, what was told is counted, and the model is let go at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.core.events import Event, ItemDelta, ItemStarted
from chatapp.core.items import KeyMaker, Kind
from chatapp.gateway.asking.answering import all_written
from chatapp.gateway.models import KeptResponse, KeyDay, KeyRequest, StoredResponse
from chatapp.insight.models import PersonDay
from chatapp.providers.base import Ask
from chatapp.providers.configured import Catalog
from chatapp.store import in_thread
from chatapp.turns.engine import Engine
from tests.support.faults import locked
from tests.support.stage import ScriptedProvider, play, until

from .knocking import ASKING, CHAT, RESPONSES, Knock, asking, key_of, knock, open_house

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]
WORDS = "Because it is so."
each_door = pytest.mark.parametrize("path", ASKING)


class Slow:
    """A model that says so much, and then nothing until it is let go."""

    def __init__(self, engine: Engine, *said: str) -> None:
        self.said, self.asked, self.let_go = said, 0, 0
        provider: Any = ScriptedProvider([self.script])
        engine.catalog = Catalog([], beside=[provider])

    async def script(self, ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        self.asked += 1
        try:
            for piece in self.said:
                key = keys.take("a")
                yield ItemStarted(key, Kind.ASSISTANT_MESSAGE)
                yield ItemDelta(key, piece)
            await asyncio.Event().wait()
        finally:
            self.let_go += 1


def left() -> dict[str, int]:
    counted = KeyDay.objects.all()
    return {
        "running": KeyRequest.objects.count(),
        "kept": KeptResponse.objects.count() + StoredResponse.objects.count(),
        "turns": sum(day.turns for day in counted),
        "tokens": sum(day.input + day.output for day in counted),
        "of the person": sum(day.turns for day in PersonDay.objects.all()),
    }


async def settled() -> dict[str, int]:
    await all_written()
    return await in_thread(left)()


NOTHING = {"running": 0, "kept": 0, "turns": 0, "tokens": 0, "of the person": 0}


def slow(path: str, **more: Any) -> Any:
    return asking(path, "scripted:model", stream=True, **more)


@each_door
@pytest.mark.parametrize("came", [b"", b'{"model": "scripted:mod'])
def test_whoever_goes_before_the_body_is_whole_asked_nothing(alice: User, path: str, came: bytes) -> None:
    async def story() -> None:
        async with open_house() as engine:
            model = Slow(engine, WORDS)
            knocking = Knock("POST", path, slow(path), key=await key_of(alice)).begin(whole=False)
            knocking.say(came, more=True)
            knocking.hang_up()
            await knocking.left()
            assert (knocking.status, model.asked, await settled()) == (0, 0, NOTHING)

    play(story())


@each_door
def test_whoever_goes_while_the_model_is_silent_lets_it_go_and_is_counted_by_estimate(
    alice: User, path: str
) -> None:
    async def story() -> None:
        async with open_house() as engine:
            model = Slow(engine)
            knocking = Knock("POST", path, slow(path), key=await key_of(alice)).begin()
            await until(lambda: in_thread(lambda: model.asked)())
            knocking.hang_up()
            await knocking.left()
            assert (knocking.status, model.let_go) == (0, 1)
            counted = await settled()
            assert counted.pop("tokens") > 0
            assert counted == {"running": 0, "kept": 0, "turns": 1, "of the person": 1}

    play(story())


@each_door
@pytest.mark.parametrize("stream", [True, False])
def test_whoever_goes_while_it_answers_lets_it_go_and_is_counted(
    alice: User, path: str, stream: bool
) -> None:
    async def story() -> None:
        async with open_house() as engine:
            model = Slow(engine, WORDS)
            body = slow(path) | {"stream": stream}
            knocking = Knock("POST", path, body, key=await key_of(alice)).begin()
            if stream:
                await knocking.hears(lambda it: WORDS.encode() in it.body)
            else:
                await until(lambda: in_thread(lambda: model.asked)())
            knocking.hang_up()
            await knocking.left()
            assert model.let_go == 1 and not knocking.is_over
            counted = await settled()
            assert counted.pop("tokens") > 0
            assert counted == {"running": 0, "kept": 0, "turns": 1, "of the person": 1}

    play(story())


@each_door
def test_whoever_goes_while_the_database_is_asked_leaves_no_request_behind(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house() as engine:
            model = Slow(engine, WORDS)
            secret = await key_of(alice)
            with locked():
                knocking = Knock("POST", path, slow(path), key=secret).begin()
                # What writes is waiting for the lock by then.
                for _ in range(5_000):
                    await asyncio.sleep(0)
                knocking.hang_up()
                for _ in range(100):
                    await asyncio.sleep(0)
            await knocking.left()
            counted = await settled()
            assert counted["running"] == 0 and counted["turns"] == counted["of the person"] <= 1
            assert model.asked == model.let_go

    play(story())


@pytest.mark.parametrize(
    "path",
    [*ASKING, f"{RESPONSES}/compact", f"{RESPONSES}/input_tokens", "/v1/messages/count_tokens", "/v1/models"],
)
def test_at_whatever_moment_somebody_goes_nothing_is_left(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            method = "GET" if path.endswith("models") else "POST"
            body = b"" if method == "GET" else asking(path)
            for moment in (*range(0, 60, 3), *range(60, 4_000, 197)):
                knocking = Knock(method, path, body, key=secret).begin()
                for _ in range(moment):
                    await asyncio.sleep(0)
                knocking.hang_up()
                await knocking.left()
            counted = await settled()
            assert counted["running"] == 0 and counted["turns"] == counted["of the person"]

    play(story())


def test_what_was_asked_before_is_asked_again_by_the_next(alice: User) -> None:
    """Nothing of whoever went away stands in the way of what comes after."""

    async def story() -> None:
        async with open_house() as engine:
            Slow(engine, WORDS)
            secret = await key_of(alice)
            for _ in range(100):
                knocking = Knock("POST", CHAT, slow(CHAT), key=secret).begin()
                await knocking.hears(lambda it: it.status)
                knocking.hang_up()
                await knocking.left()
            await all_written()
            assert (await knock("GET", "/v1/models", key=secret)).status == 200
            counted = await in_thread(left)()
            assert (counted["running"], counted["turns"]) == (0, 100)

    play(story())
