"""Whatever a provider does on a real socket: a sentence, a fixed word, what was seen kept, and a turn in its right state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from chatapp.core.items import Item, Kind
from chatapp.providers import WIRES
from chatapp.providers.base import Endpoint
from chatapp.providers.configured import Catalog
from chatapp.providers.http import HttpProvider
from chatapp.providers.reader import StreamLimits
from chatapp.store.models import Status
from tests.providers.fuzz import STREAMS
from tests.support.providers import at_once
from tests.support.serving import Script, answer, cut, forever, raw, reset, serving, silence, stream
from tests.support.stage import play, stage

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]

RECORDINGS = {
    "responses": "responses-thoughts-and-answer",
    "messages": "messages-thinking",
    "chat": "chat-llamacpp",
}
KEY = "sk-canary-4711"
# Only where nothing more comes is it waited for; elsewhere a busy machine may take its time.
LIMITS = StreamLimits(silence=30, total=60, event=50_000, answer=200_000)
SOON_SILENT = replace(LIMITS, silence=1)
TRIES = 5

REFUSALS = [
    (400, "refused", 1),
    (401, "key", 1),
    (402, "credit", 1),
    (403, "forbidden", 1),
    (404, "not found", 1),
    (408, "busy", TRIES),
    (409, "busy", TRIES),
    (413, "too long", 1),
    (429, "busy", TRIES),
    (500, "broken", TRIES),
    (502, "broken", TRIES),
    (503, "busy", TRIES),
    (529, "busy", TRIES),
]


def frames_of(dialect: str) -> list[bytes]:
    frames = (STREAMS / f"{RECORDINGS[dialect]}.sse").read_bytes().replace(b"\r\n", b"\n").split(b"\n\n")
    return [frame + b"\n\n" for frame in frames]


def opening(dialect: str) -> list[bytes]:
    """Of a good answer its thought, and no end."""
    return _through(dialect, THINKS)


def until_words(dialect: str) -> list[bytes]:
    """The same with the first of its words."""
    return _through(dialect, SPEAKS)


THINKS = {
    "responses": b"reasoning_summary_text.delta",
    "messages": b'"thinking_delta"',
    "chat": b'"reasoning_content":"',
}
SPEAKS = {"responses": b"output_text.delta", "messages": b'"text_delta"', "chat": b'"content":"S'}


def _through(dialect: str, what: dict[str, bytes]) -> list[bytes]:
    frames = frames_of(dialect)
    first = next(n for n, frame in enumerate(frames) if what[dialect] in frame)
    return frames[: first + 1]


def catalog(
    url: str, dialect: str, limits: StreamLimits = LIMITS, now: Callable[[], float] = time.monotonic
) -> Catalog:
    base_url = url.removesuffix("/v1") if dialect == "messages" else url
    endpoint = Endpoint(name="compatible", dialect=dialect, base_url=base_url, key=KEY, label="The server")
    return Catalog(
        [endpoint],
        make=lambda it: HttpProvider(it, WIRES[dialect], sleep=at_once, limits=limits, now=now),
    )


def played(
    tmp_path, dialect: str, *scripts: Script, check, limits: StreamLimits = LIMITS, now=time.monotonic
) -> None:
    async def story():
        async with serving(*scripts) as server:
            model = f"compatible:{RECORDINGS[dialect]}"
            async with stage(catalog(server.url, dialect, limits, now), tmp_path, model=model) as on:
                row = await on.ask("Why?")
                assert KEY not in str(row.metadata)
                assert await on.items(row.parent_id), "the question is safe"
                await check(on, row, server)

    play(story())


@pytest.mark.parametrize("dialect", RECORDINGS)
@pytest.mark.parametrize(("status", "trouble", "tries"), REFUSALS)
def test_a_refusal_is_worded_and_tried_again_only_where_that_helps(tmp_path, dialect, status, trouble, tries):
    body = (
        b'{"error": {"message": "The provider\'s own words, key sk-canary-4711.", "type": "x", "code": null}}'
    )

    async def check(on, row, server):
        ended = row.metadata["ended"]
        assert (row.status, ended["reason"], ended["status"]) == (Status.FAILED, trouble, status)
        assert "own words" in ended["raw"]
        assert ended["sentence"].endswith(".")
        assert await on.items(row.id) == []
        assert len(server.asked) == tries

    played(tmp_path, dialect, *[answer(status, body) for _ in range(TRIES)], check=check)


BREAKS: dict[str, tuple[Any, str]] = {
    "the connection closes": (cut, "broken"),
    "the connection is reset": (reset, "broken"),
    "nothing more comes": (silence, "silent"),
}


def kept(items: Sequence[Item]) -> None:
    assert items[0].kind is Kind.REASONING
    assert items[0].text
    assert all(item.cut and item.wire is None for item in items)


@pytest.mark.parametrize("dialect", RECORDINGS)
@pytest.mark.parametrize("what", BREAKS)
def test_a_break_in_a_thought_is_tried_again_where_that_helps_and_the_last_thought_is_kept(
    tmp_path, dialect, what
):
    then, trouble = BREAKS[what]

    async def check(on, row, server):
        items = await on.items(row.id)
        assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, trouble)
        kept(items)
        assert len(items) == 1
        assert list(row.metadata["reasoning_durations_ms"]) == [items[0].key]
        assert len(server.asked) == (1 if then is silence else TRIES)

    limits = SOON_SILENT if then is silence else LIMITS
    scripts = [stream(*opening(dialect), then=then) for _ in range(TRIES)]
    played(tmp_path, dialect, *scripts, check=check, limits=limits)


@pytest.mark.parametrize("dialect", RECORDINGS)
@pytest.mark.parametrize("what", BREAKS)
def test_a_break_in_the_answer_keeps_what_was_seen_and_is_never_tried_again(tmp_path, dialect, what):
    then, trouble = BREAKS[what]

    async def check(on, row, server):
        items = await on.items(row.id)
        assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, trouble)
        kept(items)
        assert [item.kind for item in items] == [Kind.REASONING, Kind.ASSISTANT_MESSAGE]
        assert len(server.asked) == 1

    limits = SOON_SILENT if then is silence else LIMITS
    played(tmp_path, dialect, stream(*until_words(dialect), then=then), check=check, limits=limits)


@pytest.mark.parametrize("dialect", RECORDINGS)
def test_comments_for_ever_are_silence(tmp_path, dialect):
    """Signs of life keep a connection, and say nothing. A minute passes with each look at the clock."""

    async def check(on, row, server):
        assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "silent")
        kept(await on.items(row.id))
        assert len(server.asked) == 1

    ping = forever(b": still here\n\n", opening=b"".join(opening(dialect)))
    limits = StreamLimits(silence=30, total=1e9, nothing_said=900)
    played(tmp_path, dialect, ping, check=check, limits=limits, now=count(0, 60).__next__)


RUBBISH = {
    "a page of somebody else": (
        answer(200, b"<html>Sign in to the network</html>", content_type="text/html"),
        "garbage",
    ),
    "no HTTP at all": (raw(b"220 smtp.example.org ESMTP\r\n"), "broken"),
    "an answer without an end": (forever(b": ping\n\n" + b" " * 2000), "too large"),
    "one event without an end": (forever(b"x" * 4000, opening=b"data: "), "too large"),
    "JSON that is no stream": (answer(200, b'{"id": "x", "choices": []}'), "garbage"),
    "an empty answer": (answer(200, b"", content_type="text/event-stream"), "broken"),
}


@pytest.mark.parametrize("dialect", RECORDINGS)
@pytest.mark.parametrize("what", RUBBISH)
def test_rubbish_is_called_what_it_is(tmp_path, dialect, what):
    script, trouble = RUBBISH[what]

    async def check(on, row, server):
        assert (row.status, await on.items(row.id)) == (Status.FAILED, [])
        assert row.metadata["ended"]["reason"] == trouble

    played(tmp_path, dialect, *[script for _ in range(TRIES)], check=check)


@pytest.mark.parametrize("dialect", RECORDINGS)
def test_after_a_failure_with_nothing_kept_retry_answers_in_the_same_message(tmp_path, dialect):
    recording = (STREAMS / f"{RECORDINGS[dialect]}.sse").read_bytes()

    async def check(on, row, server):
        again = await on.go_on(row.id)
        assert (again.status, again.id) == (Status.COMPLETE, row.id)
        assert "ended" not in again.metadata
        assert await on.said(row.id)

    played(tmp_path, dialect, answer(401, b"{}"), stream(recording), check=check)


def test_a_server_that_is_not_there_is_said_to_be_out_of_reach(tmp_path):
    async def story():
        async with stage(catalog("http://127.0.0.1:9/v1", "chat"), tmp_path, model="compatible:x") as on:
            row = await on.ask("Why?")
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, "unreachable")
            assert row.metadata["ended"]["sentence"].startswith("The server could not be reached.")

    play(story())
