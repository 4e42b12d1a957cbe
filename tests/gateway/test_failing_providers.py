"""A provider that fails: before its first word the program gets a status and a sentence, after it a frame that says so, in its door's
words; whoever wanted no stream always gets a status."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.gateway.models import KeyDay, KeyRequest
from chatapp.store import in_thread
from tests.support.providers import LINES, catalog_for
from tests.support.stage import play

from .knocking import ASKING, MESSAGES, RESPONSES, Json, Knock, asking, frames, key_of, knock, open_house

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]
THREE = [line for line in LINES if line.provider in ("openai", "anthropic", "deepseek")]
each_door = pytest.mark.parametrize("path", ASKING)
each_wire = pytest.mark.parametrize("line", THREE, ids=str)
BEFORE = {
    "http-500": 502,
    "http-401": 502,
    "broken-before": 502,
    "overloaded-always": 429,
    "limited": 429,
    "too-long": 400,
}
AFTER = ("drop", "eof", "error")
# Of this dialect nothing need stand at the end: what was said until then counts, and is told to be cut.
CUT = ("deepseek", "eof")
SAID = "word " * 40


def scenarios(up: Any) -> None:
    def fails(name: str, *faults: Json) -> None:
        up.add(name, {"turns": [{"items": [{"text": {"text": SAID, "chunk": 4}}], "faults": list(faults)}]})

    fails("broken-before", {"kind": "http", "status": 502, "body": "<html>no</html>"})
    fails("overloaded-always", {"kind": "http", "status": 429})
    fails("limited", {"kind": "http", "status": 429, "retry_after": 700})
    fails(
        "too-long",
        {
            "kind": "http",
            "status": 400,
            "code": "context_length_exceeded",
            "message": "prompt is too long: 2 > 1.",
        },
    )
    fails("drop", {"kind": "drop", "after": 12})
    fails("eof", {"kind": "eof", "after": 12})
    fails(
        "error", {"kind": "error", "after": 12, "code": "server_error", "message": "Something broke there."}
    )


async def asked(up: Any, path: str, model: str, owner: User, **more: Any) -> Knock:
    scenarios(up)
    secret = await key_of(owner)
    return await knock("POST", path, asking(path, model, **more), key=secret)


async def nothing_left() -> None:
    def look() -> tuple[int, int]:
        return KeyRequest.objects.count(), sum(day.turns for day in KeyDay.objects.all())

    assert await in_thread(look)() == (0, 1)


@pytest.mark.sampled
@each_door
@each_wire
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("scenario", BEFORE)
def test_before_its_first_word_it_is_a_status_and_a_sentence(
    up: Any, alice: User, path: str, line: Any, stream: bool, scenario: str
) -> None:
    async def story() -> None:
        async with open_house() as engine:
            engine.catalog = catalog_for(up)
            answer = await asked(up, path, line.model(scenario), alice, stream=stream)
            assert answer.status == BEFORE[scenario], answer.text
            assert answer.header("content-type") == "application/json" and answer.error
            assert bool(answer.header("retry-after")) == (answer.status in (429, 503))
            await nothing_left()

    play(story())


@each_door
@each_wire
@pytest.mark.parametrize("scenario", AFTER)
def test_after_its_first_word_it_is_a_frame_of_the_stream(
    up: Any, alice: User, path: str, line: Any, scenario: str
) -> None:
    async def story() -> None:
        async with open_house() as engine:
            engine.catalog = catalog_for(up)
            answer = await asked(up, path, line.model(scenario), alice, stream=True)
            assert answer.status == 200 and answer.header("content-type").startswith("text/event-stream")
            assert "word" in answer.text
            if (line.provider, scenario) == CUT:
                assert any(word in answer.text for word in ("incomplete", "max_tokens", "length"))
            else:
                assert_failed(path, frames(answer.text))
            await nothing_left()

    play(story())


def assert_failed(path: str, told: list[tuple[str, Any]]) -> None:
    names, last = [name for name, _ in told], told[-1][1]
    if path == RESPONSES:
        assert names[-1] == "response.failed" and "response.completed" not in names
        assert last["response"]["error"]["message"] and last["response"]["status"] == "failed"
    elif path == MESSAGES:
        assert names[-1] == "error" and "message_stop" not in names
        assert last["error"]["message"] and last["error"]["type"]
    else:
        errors = [data["error"] for _, data in told if data != "[DONE]" and "error" in data]
        assert errors and errors[0]["message"]
        finished = [
            data
            for _, data in told
            if data != "[DONE]" and data.get("choices") and data["choices"][0]["finish_reason"]
        ]
        assert not finished


@each_door
@each_wire
@pytest.mark.parametrize("scenario", AFTER)
def test_whoever_wanted_no_stream_gets_a_status_also_then(
    up: Any, alice: User, path: str, line: Any, scenario: str
) -> None:
    async def story() -> None:
        async with open_house() as engine:
            engine.catalog = catalog_for(up)
            answer = await asked(up, path, line.model(scenario), alice)
            if (line.provider, scenario) == CUT:
                assert any(word in answer.text for word in ("incomplete", "max_tokens", "length"))
            else:
                assert answer.status in (429, 502, 503) and answer.error, answer.text
            await nothing_left()

    play(story())


@each_wire
def test_a_summary_that_fails_is_a_status(up: Any, alice: User, line: Any) -> None:
    async def story() -> None:
        async with open_house() as engine:
            engine.catalog = catalog_for(up)
            answer = await asked(up, f"{RESPONSES}/compact", line.model("error"), alice)
            assert answer.status in (429, 502, 503) and answer.error, answer.text
            await nothing_left()

    play(story())


@each_door
def test_what_nobody_can_reach_is_a_status(alice: User, path: str) -> None:
    from tests.support.listed import ListedCatalog, listing

    async def story() -> None:
        async with open_house() as engine:
            engine.catalog = ListedCatalog(listing("gone", "model"))
            answer = await knock("POST", path, asking(path, "gone:model"), key=await key_of(alice))
            assert answer.status == 503 and answer.header("retry-after") and answer.error
            await nothing_left()

    play(story())
