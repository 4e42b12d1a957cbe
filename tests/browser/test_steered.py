"""The steered provider itself: the engine reads it on every wire, and each word goes out when the test says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from chatapp.core.items import Kind
from chatapp.store.models import Status
from tests.support.providers import catalog_for
from tests.support.stage import Stage, play, stage, until

from .steered import Call, Cut, Refuse, Silence, Think, Upstream, Write, running, too_long

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = ["openai:gpt-5", "anthropic:claude-sonnet-4-6", "compatible:gpt-5"]


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with running() as upstream:
        yield upstream


@pytest.fixture(autouse=True)
def nothing_is_refused(upstream) -> Iterator[None]:
    upstream.requests.clear()
    upstream.refused.clear()
    yield
    assert upstream.refused == []


async def seen(on: Stage, answer) -> list[str]:
    """The words of the running draft, piece by piece."""
    draft = await on.engine.live.seen(answer)
    return [piece.said() for piece in draft.draft.pieces.values()] if draft else []


async def kinds(on: Stage, answer) -> list[str]:
    return [item.kind for item in await on.items(answer)]


@pytest.mark.parametrize("model", MODELS)
def test_a_word_that_was_sent_arrives_and_the_next_one_does_not_before_it_is_sent(upstream, tmp_path, model):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model=model) as on:
            answer = await on.begin()
            script = await asyncio.to_thread(upstream.next_answer)
            await asyncio.to_thread(script.think, "Let me ")
            await until(lambda: has(on, answer, ["Let me "]))
            await asyncio.to_thread(script.think, "see.")
            await until(lambda: has(on, answer, ["Let me see."]))
            await asyncio.to_thread(script.write, "Because")
            await until(lambda: has(on, answer, ["Let me see.", "Because"]))
            await asyncio.to_thread(script.finish)
            assert (await on.end(answer)).status == Status.COMPLETE
            assert await on.said(answer) == "Because"

    async def has(on, answer, words):
        return await seen(on, answer) == words

    play(story())


@pytest.mark.parametrize("model", MODELS)
def test_thoughts_calls_and_text_of_a_plan_go_back_in_the_next_request(upstream, tmp_path, model):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model=model) as on:
            upstream.plays(Think("What time is it?"), Call("clock"))
            upstream.plays(Think("It is late."), Write("Late."))
            first = await on.ask("What time?")
            assert await kinds(on, first.id) == [
                Kind.REASONING,
                Kind.TOOL_CALL,
                Kind.TOOL_RESULT,
                Kind.REASONING,
                Kind.ASSISTANT_MESSAGE,
            ]
            upstream.plays(Write("Very."))
            second = await on.ask("How late?", at=first.id)
            assert (second.status, await on.said(second.id)) == (Status.COMPLETE, "Very.")
            assert len(upstream.requests) == 3

    play(story())


def test_a_thought_takes_as_long_as_its_plan_says(upstream, tmp_path):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model="openai:gpt-5") as on:
            upstream.plays(Think("Slowly now.", seconds=1.0), Think("", seconds=0.5), Write("Done."))
            began = time.monotonic()
            row = await on.ask()
            long, short = row.metadata["reasoning_durations_ms"].values()
            # A busy machine may read the beginning late, and the end later still.
            assert long >= 700 and short >= 200
            assert long + short <= (time.monotonic() - began) * 1000

    play(story())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (Refuse(401), "key"),
        (too_long(), "too long"),
        (Cut(), "broken"),
    ],
)
def test_each_way_to_fail_is_read_as_that(upstream, tmp_path, model, end, reason):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model=model) as on:
            upstream.plays(*([Write("Half of")] if isinstance(end, Cut) else []), end)
            row = await on.ask()
            assert (row.status, row.metadata["ended"]["reason"]) == (Status.FAILED, reason)

    play(story())


def test_a_busy_provider_is_asked_again(upstream, tmp_path):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model="openai:gpt-5") as on:
            upstream.plays(Refuse(429, headers={"retry-after": "1"}))
            upstream.plays(Refuse(500))
            upstream.plays(Write("Now."))
            row = await on.ask()
            assert await on.said(row.id) == "Now."
            assert len(upstream.requests) == 3

    play(story())


def test_a_steered_answer_can_fail_be_refused_be_cut_and_be_stopped(upstream, tmp_path):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model="openai:gpt-5") as on:
            answer = await on.begin()
            script = await asyncio.to_thread(upstream.next_answer)
            await asyncio.to_thread(script.refuse, 404)
            assert (await on.end(answer)).status == Status.FAILED
            for end in ("fail", "cut"):
                answer = await on.begin()
                script = await asyncio.to_thread(upstream.next_answer)
                await asyncio.to_thread(script.write, "Half of")
                await asyncio.to_thread(getattr(script, end))
                assert (await on.end(answer)).status == Status.FAILED
            answer = await on.begin()
            script = await asyncio.to_thread(upstream.next_answer)
            await asyncio.to_thread(script.think, "Half of")
            await on.engine.stop(answer)
            await asyncio.to_thread(script.until_gone)
            assert (await on.row(answer)).status == Status.STOPPED

    play(story())


def test_settling_ends_what_is_open_without_another_request(upstream, tmp_path):
    async def story():
        async with stage(catalog_for(upstream), tmp_path, model="openai:gpt-5") as on:
            unasked, begun = await on.begin("One"), await on.begin("Two")
            await asyncio.to_thread(upstream.next_answer)
            script = await asyncio.to_thread(upstream.next_answer)
            await asyncio.to_thread(script.write, "Half")
            upstream.plays(Write("of"), Silence())
            playing = await on.begin("Three")
            await until(lambda: has_asked(3))
            await asyncio.to_thread(upstream.settle)
            late = await on.begin("Four")
            rows = [await on.end(answer) for answer in (unasked, begun, playing, late)]
            upstream.open_again()
            assert {row.status for row in rows} == {Status.COMPLETE, Status.FAILED}
            assert len(upstream.requests) == 4

    async def has_asked(times):
        return len(upstream.requests) == times

    play(story())
