"""Nonsense of any kind at every address of programs: refused in the door's shape with a sentence, or taken for what it may mean; nothing
is left behind, nothing breaks, and no log line has a word of it."""

from __future__ import annotations

import gzip
import json
import logging
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.core.verbatim import dumps
from chatapp.gateway.models import KeyDay, KeyRequest
from chatapp.gateway.served.refused import LONGEST_BODY
from chatapp.gateway.served.routes import ROUTES
from chatapp.pages.door.reception import HEADER, Refusal
from chatapp.store import in_thread
from tests.support.stage import play

from .knocking import (
    ASKING,
    CHAT,
    MESSAGES,
    RESPONSES,
    THINKER,
    Json,
    Knock,
    asking,
    encoded,
    key_of,
    knock,
    open_house,
)
from .test_hung_up import Slow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_often_as_they_like")]
POSTED = [path for path, ways in ROUTES.items() if "POST" in ways]
READ = [path for path in POSTED if "{id}" not in path]
each_posted = pytest.mark.parametrize("path", POSTED)
CANARY = "canary-7f3a"

# What stands in place of the whole body: none of it is a request.
BODIES: dict[str, bytes] = {
    "nothing": b"",
    "blanks": b" \r\n\t",
    "noise": bytes(range(256)) * 40,
    "a form": b"model=x&messages=y",
    "parts": b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nhalf',
    "a word": b"null",
    "a list": b"[]",
    "a number": b"1e999",
    "text": b'"model"',
    "U+0000": b'{"model": "a\x00b"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"model": "x"}'.encode("utf-16"),
    "no UTF-8": b'{"model": "\xff\xfe"}',
    "NaN": b'{"model": "demo:thinker", "temperature": NaN}',
    "infinity": b'{"model": "demo:thinker", "temperature": -Infinity}',
    "digits without end": b'{"model": "demo:thinker", "max_tokens": ' + b"9" * 60_000 + b"}",
    "deep lists": b'{"model": "demo:thinker", "messages": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep lists without an end": b'{"model": "demo:thinker", "input": ' + b"[" * 1_000_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "many names": dumps({str(n): n for n in range(100_000)}).encode(),
    "compressed": gzip.compress(b'{"model": "demo:thinker"}'),
    "the end of a request": b'"messages": []}',
}
NOTHING_YET = ("many names",)
# What stands in place of a value.
VALUES: dict[str, str] = {
    "a lone surrogate": '"\\ud800"',
    "half a pair": '"\\udfff\\ud83d"',
    "U+0000": '"a\\u0000b"',
    "direction marks": '"\\u202e\\u2066\\ufeff"',
    "lines": '"a\\r\\nx-evil: 1\\r\\n\\r\\n"',
    "a long text": json.dumps("x" * 300_000),
    "an id of ours": '"resp_00000000000000000000000000"',
    "an object": '{"a": [{}]}',
    "a long number": "9" * 4_000,
    "a small number": "-1e-300",
    "a list of everything": '[null, true, 0, -1.5, "x", [], {}]',
    "a word": "true",
}


async def refused_or_done(answer: Knock) -> bool:
    """Whether it was refused: then in its door's shape, with a status that says whose mistake it is."""
    assert 200 <= answer.status < 500 and answer.status != 429, answer.text[:2000]
    assert answer.is_over and answer.header("x-request-id").startswith("req_")
    if answer.status < 400:
        return False
    assert answer.header("content-type") == "application/json" and answer.error
    return True


def left() -> tuple[int, int]:
    return KeyRequest.objects.count(), sum(day.turns for day in KeyDay.objects.all())


@each_posted
def test_a_body_that_makes_no_sense_is_refused(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            for name, body in BODIES.items():
                # A request that holds nothing yet may be counted.
                may_be_counted = path.endswith("/input_tokens") and name in NOTHING_YET
                for kind in ("application/json", "text/plain; charset=utf-16", "multipart/form-data", ""):
                    answer = await knock("POST", path, body, key=secret, headers={"content-type": kind})
                    assert await refused_or_done(answer) or may_be_counted
            assert await in_thread(left)() == (0, 0)

    play(story())


@pytest.mark.parametrize("path", READ)
def test_a_request_that_is_cut_or_doubled_anywhere_is_refused(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            whole = encoded(asking(path))
            for body in (*(whole[:end] for end in range(len(whole))), whole * 2, whole + b",", whole[1:]):
                assert await refused_or_done(await knock("POST", path, body, key=secret))
            assert await in_thread(left)() == (0, 0)

    play(story())


@pytest.mark.parametrize("path", READ)
def test_a_request_with_any_byte_changed_is_refused_or_taken(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            whole = encoded(asking(path))
            for place in range(len(whole)):
                for byte in b'\x00"\\{]\xc3':
                    body = whole[:place] + bytes([byte]) + whole[place + 1 :]
                    await refused_or_done(await knock("POST", path, body, key=secret))
            assert (await in_thread(left)())[0] == 0

    play(story())


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("path", READ)
def test_a_value_that_makes_no_sense_is_refused_or_taken_for_what_it_may_mean(
    alice: User, path: str, value: str
) -> None:
    names = ("stream", "tools", "tool_choice", "user", "metadata", "stop", "reasoning", "thinking", "unknown")

    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            request = asking(path, store=True)
            for name in (*request, *names, "previous_response_id"):
                body = encoded(request | {name: 0}).replace(
                    f'"{name}":0'.encode(), f'"{name}":{VALUES[value]}'.encode()
                )
                await refused_or_done(await knock("POST", path, body, key=secret))
            words = encoded(asking(path, words="HERE")).replace(b'"HERE"', VALUES[value].encode())
            await refused_or_done(await knock("POST", path, words, key=secret))
            assert (await in_thread(left)())[0] == 0

    play(story())


@pytest.mark.parametrize("path", ASKING)
def test_of_names_that_come_twice_the_last_one_counts(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            body = b'{"model": "nobody:gone", ' + encoded(asking(path))[1:]
            assert (await knock("POST", path, body, key=await key_of(alice))).status == 200

    play(story())


@pytest.mark.parametrize("refusal", Refusal)
@pytest.mark.parametrize("path", ROUTES)
def test_what_the_door_of_the_house_refuses_is_told_in_the_shape_of_this_one(
    alice: User, path: str, refusal: Refusal
) -> None:
    async def story() -> None:
        async with open_house():
            for key in ("", await key_of(alice)):
                method = next(iter(ROUTES[path]))
                answer = await knock(method, path, headers={HEADER: refusal.value}, key=key)
                wanted = {"large": 413, "signed-out": 401, "many": 429, "crowded": 503, "slow": 408}
                assert answer.status == wanted[refusal] and answer.error
                assert bool(answer.header("retry-after")) == (answer.status in (408, 429, 503))
                assert "sign" not in answer.error["message"].lower()

    play(story())


@pytest.mark.parametrize("path", READ)
def test_a_body_of_forty_megabytes_is_refused_before_it_is_read(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            for said in ({"content-length": str(40 * 2**20)}, {"transfer-encoding": "chunked"}):
                knocking = Knock("POST", path, key=secret, headers=said)
                if "content-length" not in said:
                    knocking.scope["headers"] = [
                        each for each in knocking.scope["headers"] if each[0] != b"content-length"
                    ]
                knocking.begin(whole=False)
                for _ in range(34):
                    knocking.say(b"x" * 2**20, more=True)
                await knocking.left()
                assert knocking.status == 413 and "32 MB" in knocking.error["message"]
            assert LONGEST_BODY == 32 * 2**20

    play(story())


@pytest.mark.parametrize("key", ["", "tl_" + "x" * 43])
@pytest.mark.parametrize("path", READ)
def test_whoever_has_no_key_sends_little(alice: User, path: str, key: str) -> None:
    async def story() -> None:
        async with open_house():
            knocking = Knock("POST", path, b"x" * 70_000, key=key)
            refused = await knocking.answered()
            assert refused.status == 401 and "key" in refused.error["message"]

    play(story())


@pytest.mark.parametrize(
    "authorization",
    [
        "",
        "Bearer",
        "Bearer ",
        "bearer\t",
        "Basic dXNlcjpwYXNz",
        "Bearer \xff",
        "Bearer a b c",
        "Token x",
        "x" * 9_000,
    ],
)
def test_whatever_stands_in_the_place_of_a_key_is_refused(alice: User, authorization: str) -> None:
    async def story() -> None:
        async with open_house():
            for path in ASKING:
                for name in ("authorization", "x-api-key"):
                    answer = await knock("POST", path, asking(path), headers={name: authorization})
                    assert answer.status == 401 and answer.error

    play(story())


@pytest.mark.parametrize("path", ROUTES)
def test_addresses_may_end_with_a_slash_and_queries_may_say_anything(alice: User, path: str) -> None:
    queries = (
        "?" + "a=1&" * 200,
        "?%ff=%zz",
        "?limit=-1",
        "?limit=99999999999999",
        "?" + "x" * 5_000,
        "?&&=&=",
    )
    more = ("?after=none", "?order=sideways", "?after_id=%00", "?id=other", "?beta=true")

    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            method = next(iter(ROUTES[path]))
            for query in (*queries, *more):
                for end in ("", "/"):
                    place = path.replace("{id}", THINKER) + end + query
                    await refused_or_done(await knock(method, place, asking(path), key=secret))

    play(story())


@pytest.mark.parametrize(
    ("id", "status"),
    [
        ("demo:thinker", 200),
        ("demo%3Athinker", 200),
        ("demo%2fthinker", 200),
        ("demo%253Athinker", 404),
        ("%00", 404),
        ("%0d%0ax-evil:%201", 404),
        ("%ff%fe", 404),
        ("..%2f..%2fmodels", 404),
        ("a/b/c", 404),
        ("x" * 10_000, 404),
        ("%ed%a0%80", 404),
    ],
)
def test_a_model_is_named_in_an_address_as_it_is_called(alice: User, id: str, status: int) -> None:
    async def story() -> None:
        async with open_house():
            answer = await knock("GET", f"/v1/models/{id}", key=await key_of(alice))
            assert answer.status == status and len(answer.text) < 2_000
            assert not answer.header("x-evil")

    play(story())


@pytest.mark.parametrize(
    "id", ["resp_" + "0" * 26, "resp_", "%00", "x" * 10_000, "resp_%ff", "a%20b", "..", "msg_1"]
)
def test_ids_that_nobody_handed_out_find_nothing(alice: User, id: str) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice)
            for path in ROUTES:
                if path.startswith(f"{RESPONSES}/{{id}}"):
                    for method in ROUTES[path]:
                        answer = await knock(method, path.replace("{id}", id), key=secret)
                        assert answer.status == 404 and answer.error and len(answer.text) < 2_000

    play(story())


def test_a_response_that_is_deleted_is_gone_and_the_same_request_makes_another(alice: User) -> None:
    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)

            async def ask(**more: Any) -> Any:
                return (await knock("POST", RESPONSES, asking(RESPONSES, **more), key=secret)).json()

            first, second = await ask(), await ask()
            assert first["id"] != second["id"]
            place = f"{RESPONSES}/{first['id']}"
            assert (await knock("DELETE", place, key=secret)).status == 200
            for method in ("GET", "DELETE"):
                assert (await knock(method, place, key=secret)).status == 404
            refused = await ask(previous_response_id=first["id"])
            assert refused["error"]["code"] == "previous_response_not_found"
            assert (await ask(previous_response_id=second["id"]))["status"] == "completed"

    play(story())


@pytest.mark.parametrize("path", ASKING)
def test_no_header_can_be_written_by_what_is_asked(alice: User, path: str) -> None:
    """What is left out is named there, in signs that any header may have."""
    kinds = ["a\r\nx-evil: 1", "é☃\x00", "web_search", "x" * 5_000, "\ud800", "", "a,b"]

    async def story() -> None:
        async with open_house():
            tools = [{"type": kind, "name": "t"} for kind in kinds]
            for count in (len(tools), 1):
                answer = await knock(
                    "POST", path, asking(path, tools=tools[:count] * 40), key=await key_of(alice)
                )
                if answer.status == 200:
                    said = answer.header("x-thoughtline-left-out")
                    assert said and said.isascii() and said.isprintable() and len(said) < 1_000

    play(story())


def test_no_line_of_the_log_has_a_word_of_a_request_or_a_key(
    alice: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def story() -> None:
        async with open_house():
            secret = await key_of(alice, keeps_responses=True)
            for path in POSTED:
                for model in (THINKER, f"demo:{CANARY}", f"{CANARY}:x"):
                    body: Json = asking(path, model, CANARY, user=CANARY, store=True) | {CANARY: CANARY}
                    for said in (encoded(body), encoded(body)[:-1], encoded(body | {"stream": CANARY})):
                        for key in (secret, f"tl_{CANARY}", secret[:-1]):
                            await knock("POST", path.replace("{id}", CANARY), said, key=key)
            for place in (f"/v1/models/{CANARY}", f"/v1/{CANARY}", f"{RESPONSES}/{CANARY}?after={CANARY}"):
                await knock("GET", place, key=secret, headers={"user-agent": CANARY, CANARY: CANARY})
                await knock(CANARY, place, key=secret)
            told = "\n".join(f"{vars(record)} {record.getMessage()}" for record in caplog.records)
            assert CANARY not in told and secret[3:] not in told
            assert "'path': '/v1/responses/{id}'" in told

    play(story())


def test_what_breaks_behind_the_first_byte_ends_the_stream(alice: User) -> None:
    from chatapp.gateway.doors import chat
    from chatapp.gateway.served.http import DoorConnection, DoorRequest, GatewayApplication

    async def breaks(request: DoorRequest, connection: DoorConnection) -> None:
        await connection.begin_stream({})
        raise ValueError(CANARY)

    async def story() -> None:
        application = GatewayApplication({"/v1/x": {"GET": (chat.DOOR, breaks)}}, chat.DOOR)
        answer = await Knock("GET", "/v1/x", application=application).answered()
        assert (answer.status, answer.text) == (200, "")

    play(story())


def test_requests_of_programs_are_counted_by_status(alice: User, client: Any) -> None:
    def counted() -> str:
        lines: list[str] = client.get("/metrics").text.splitlines()
        return next((line for line in lines if 'total{status="405"}' in line), "0").split()[-1]

    before = int(counted())

    async def story() -> None:
        async with open_house():
            await knock("PUT", CHAT)
            await knock("PUT", MESSAGES)

    play(story())
    assert int(counted()) == before + 2


def test_metrics_tell_how_many_programs_are_being_answered(alice: User, client: Any) -> None:
    def told() -> str:
        lines: list[str] = client.get("/metrics").text.splitlines()
        return next(line for line in lines if line.startswith("thoughtline_programs_live "))

    async def story() -> None:
        async with open_house() as engine:
            Slow(engine, "So.")
            asked = asking(CHAT, "scripted:model", stream=True)
            knocking = Knock("POST", CHAT, asked, key=await key_of(alice)).begin()
            await knocking.hears(lambda it: it.status)
            assert await in_thread(told)() == "thoughtline_programs_live 1"
            knocking.hang_up()
            await knocking.left()

    play(story())
    assert told() == "thoughtline_programs_live 0"


@pytest.mark.parametrize("path", [*ASKING, f"{RESPONSES}/compact", f"{MESSAGES}/count_tokens"])
def test_a_compressed_body_is_refused_in_words(alice: User, path: str) -> None:
    async def story() -> None:
        async with open_house():
            headers = {"content-encoding": "gzip"}
            body = gzip.compress(encoded(asking(path)))
            refused = await knock("POST", path, body, key=await key_of(alice), headers=headers)
            assert refused.status == 415 and "compressed (gzip)" in refused.error["message"]
            plain = {"content-encoding": "identity"}
            assert (
                await knock("POST", path, asking(path), key=await key_of(alice), headers=plain)
            ).status == 200

    play(story())
