"""A long request holds nobody up: what has too many values is refused before it is read, and what is long is read beside the others."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.gateway.doors.body import MOST_VALUES, json_in
from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.responses.socket import body_in
from tests.support.stage import play

from .knocking import ASKING, RESPONSES, Json, asking, encoded, key_of, knock, open_house

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
@pytest.mark.parametrize("path", [*ASKING, f"{RESPONSES}/compact", "/v1/messages/count_tokens"])
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
