"""A long request holds nobody up: what has too many values is refused before it is read, and what is long is read beside the others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.gateway.doors.body import MOST_VALUES, json_in
from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.handed import new_secret
from chatapp.gateway.doors.responses.socket import body_in
from chatapp.gateway.models import ApiKey
from chatapp.gateway.served import held
from chatapp.gateway.store import stored
from chatapp.store import in_thread
from tests.support.stage import play

from .knocking import ASKING, RESPONSES, Json, Knock, asking, encoded, key_of, knock, open_house
from .test_hung_up import Slow

MEGABYTES = 8
MANY: dict[str, bytes] = {
    "messages": b'{"role":"user","content":"x"},',
    "empty lists": b"[],",
    "numbers": b"1,",
    "objects": b'{"a":{}},',
}


def too_many(path: str, piece: bytes) -> bytes:
    pieces = piece * (MEGABYTES * 2**20 // len(piece))
    return encoded(asking(path, padding="HERE")).replace(b'"HERE"', b"[" + pieces[:-1] + b"]")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("piece", MANY.values(), ids=list(MANY))
@pytest.mark.parametrize(
    "path", [*ASKING, f"{RESPONSES}/compact", f"{RESPONSES}/input_tokens", "/v1/messages/count_tokens"]
)
def test_what_has_too_many_values_is_refused(alice: User, path: str, piece: bytes) -> None:
    async def story() -> None:
        async with open_house():
            answer = await knock("POST", path, too_many(path, piece), key=await key_of(alice))
            assert answer.status == 413 and f"{MOST_VALUES:,} values" in answer.error["message"]

    play(story())


def test_so_it_is_over_a_socket() -> None:
    with pytest.raises(Wrong, match="values"):
        body_in('{"type": "response.create", "input": [' + "1," * MOST_VALUES + "1]}")


@pytest.mark.parametrize(
    "words",
    ["a, b, c, [d], {e}. " * 100_000, '\\",\\"' * 200_000, "\\\\" * 300_000 + ",", ',\\n"'[:-1] * 300_000],
    ids=["prose", "quotes", "strokes", "lines"],
)
def test_what_stands_in_a_text_is_no_value(words: str) -> None:
    body: Json = json_in(f'{{"model": "m", "input": "{words}"}}'.encode())
    assert body["model"] == "m"


@pytest.mark.parametrize("half", ['"', '"\\', '"\\"' * 100_000, '["a", "' + "," * 300_000])
def test_a_text_without_an_end_is_no_json(half: str) -> None:
    with pytest.raises(Wrong):
        json_in(half.encode())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ASKING)
def test_while_a_long_request_is_read_others_go_on(alice: User, path: str) -> None:
    said: list[Any] = [{"role": "user", "content": "x" * 100}] * 10_000

    async def story() -> None:
        async with open_house():
            name = "input" if path == RESPONSES else "messages"
            body = encoded(asking(path) | {name: said, "temperature": "hot"})
            asked = asyncio.ensure_future(knock("POST", path, body, key=await key_of(alice)))
            ticks = 0
            while not asked.done():
                await asyncio.sleep(0)
                ticks += 1
            assert (await asked).status == 400 and ticks > 10

    play(story())


def stored_way(owner: User, *inputs: list[Json]) -> str:
    """Responses that go on one from the other, and the id of the last."""
    key, previous = ApiKey.objects.get(owner=owner), ""
    for said in inputs:
        secret = new_secret()
        response = {"id": f"resp_{secret}", "output": []}
        stored.store_response(
            secret, owner=owner.pk, key=key.pk, previous=previous, input=list(said), response=response
        )
        previous = secret
    return f"resp_{previous}"


def said(words: str, **more: Any) -> Json:
    return {
        "id": "msg_said",
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": words}],
        **more,
    }


LONG_WAYS: dict[str, list[list[Json]]] = {
    "megabytes": [[said("x" * 9 * 2**20)] for _ in range(4)],
    "values": [[said("x", beside=[0] * 60_000)] for _ in range(4)],
    "steps": [[said("x")] for _ in range(stored.LONGEST_WAY + 1)],
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", LONG_WAYS.values(), ids=list(LONG_WAYS))
def test_what_is_gone_on_from_is_no_more_than_one_request_may_be(alice: User, way: list[list[Json]]) -> None:
    """And nothing of its beginning is left out without a word."""

    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            last, one = await in_thread(stored_way)(alice, *way), await in_thread(stored_way)(alice, *way[:1])
            refused = await knock("POST", RESPONSES, asking(RESPONSES, previous_response_id=last), key=secret)
            assert refused.status == 413 and "goes on from is too much" in refused.error["message"]
            done = await knock("POST", RESPONSES, asking(RESPONSES, previous_response_id=one), key=secret)
            assert done.status == 200

    play(story())


@pytest.mark.django_db(transaction=True)
def test_an_item_that_is_named_again_and_again_is_told_as_often(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            made = await knock("POST", RESPONSES, asking(RESPONSES, words="x" * 2**20), key=secret)
            place = f"{RESPONSES}/{made.json()['id']}/input_items"
            [item] = (await knock("GET", place, key=secret)).json()["data"]
            for more in ({}, {"previous_response_id": made.json()["id"]}):
                for often, status in ((2, 200), (40, 413)):
                    named = [{"type": "item_reference", "id": item["id"]}] * often
                    body = asking(RESPONSES, **more) | {"input": named}
                    assert (await knock("POST", RESPONSES, body, key=secret)).status == status

    play(story())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ASKING)
def test_of_long_requests_so_much_is_answered_at_once(
    alice: User, bob: User, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("SHORT", 100_000), ("MOST_OF_ONE", 500_000), ("MOST", 800_000)):
        monkeypatch.setattr(held, name, most)
    body = asking(path, "scripted:model", "x" * 300_000, stream=True)

    async def story() -> None:
        async with open_house() as engine:
            Slow(engine, "Because.")
            hers, his = await key_of(alice), await key_of(bob)
            first = await Knock("POST", path, body, key=hers).begin().hears(lambda it: it.pieces)
            refused = await knock("POST", path, body, key=hers)
            assert (refused.status, refused.header("retry-after")) == (429, "5")
            short = asking(path, "scripted:model", stream=True)
            beside = await Knock("POST", path, short, key=hers).begin().hears(lambda it: it.pieces)
            second = await Knock("POST", path, body, key=his).begin().hears(lambda it: it.pieces)
            for door in (path, f"{RESPONSES}/compact"):
                more = await knock("POST", door, asking(door, "scripted:model", "x" * 300_000), key=hers)
                assert more.status == 429 and "being answered" in more.error["message"]
            crowded = await knock("POST", path, body, key=await key_of(await in_thread(somebody)()))
            assert crowded.status == 503
            await first.gives_up()
            again = await Knock("POST", path, body, key=hers).begin().hears(lambda it: it.pieces)
            for each in (beside, second, again):
                await each.gives_up()
            assert not held._held

    play(story())


def somebody() -> User:
    return User.objects.create_user("erin")
