"""Real processes that serve and that work, and die: a page of any of them shows what runs in any of them as if it were its own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from tests.support.patience import PATIENCE

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)
pytest.importorskip("aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no processes were tried.")

from .deployed import Deployed, OpenPage, Person, until

pytestmark = [pytest.mark.across, pytest.mark.timeout(180)]

MODEL = "compatible:gpt-5-mini"
# So soon a turn goes on whose process died; and what a busy machine takes besides.
TAKEN_OVER, BUSY = 15, 15


class Answer:
    """One that runs somewhere, and a page of each process that serves."""

    def __init__(self, house: Deployed, upstream: Any, she: Person, conversation: UUID, id: UUID) -> None:
        self.house, self.upstream, self.she = house, upstream, she
        self.conversation, self.id = conversation, id
        self.pages = [OpenPage(she, web, conversation) for web in house.webs]

    async def begins(self) -> Any:
        """What its provider says next is for the test to decide."""
        return await asyncio.to_thread(self.upstream.next_answer)

    async def says(self, script: Any, *words: str) -> None:
        """Letter by letter: each is seen everywhere before the next is said."""
        for each in words:
            await asyncio.to_thread(script.write, each)
            for page in self.pages:
                await page.sees(each.strip())

    async def ends(self, script: Any) -> None:
        await asyncio.to_thread(script.finish)
        for page in self.pages:
            await page.shows_the_end(*self.house.webs)

    @property
    def row(self) -> dict[str, Any]:
        return self.house.row(self.id)

    def is_at_attempt(self, number: int) -> bool:
        return bool(self.row["attempt"] == number)


@asynccontextmanager
async def asked(house: Deployed, upstream: Any) -> AsyncIterator[Answer]:
    she = Person(house.webs[0])
    conversation, answer = await asyncio.to_thread(she.asks, house.webs[0], MODEL)
    made = Answer(house, upstream, she, conversation, answer)
    try:
        yield made
    finally:
        for page in made.pages:
            page.leave()


def play(story: Any) -> None:
    asyncio.run(asyncio.wait_for(story, 2 * PATIENCE))


def assert_whole(house: Deployed) -> None:
    verified = house.run("verify_log")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_page_of_another_process_sees_each_word_as_it_is_said_and_ends_as_a_fresh_one(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await asyncio.to_thread(script.write, "Because ")
            await answer.says(script, "one ", "two ", "three ")
            late = OpenPage(answer.she, house.webs[1], answer.conversation)
            await late.sees("three")
            answer.pages.append(late)
            await answer.says(script, "four.")
            await answer.ends(script)
            assert house.said(answer.id) == ["Because one two three four."]

    play(story())


def test_a_stop_at_another_process_keeps_what_was_seen_and_lets_go_of_the_provider(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await answer.says(script, "Because ", "of ", "this")
            stopping = asyncio.create_task(
                asyncio.to_thread(answer.she.stops, house.webs[1], answer.id),
            )
            await asyncio.to_thread(script.until_gone)
            await stopping
            for page in answer.pages:
                await page.sees("Stopped")
                await page.shows_the_end(*house.webs)
            assert house.said(answer.id) == ["Because of this"]

    play(story())


def test_an_answer_whose_process_was_killed_goes_on_in_another_and_is_told_of_on_every_page(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await answer.says(script, "Because ", "old")
            house.works_on(answer.id).send(signal.SIGKILL)
            await until(lambda: answer.is_at_attempt(2), within=TAKEN_OVER + BUSY)
            script = await answer.begins()
            await answer.says(script, "Therefore ", "new")
            for page in answer.pages:
                assert "old" not in page.screen.thread.text
            await answer.ends(script)
            assert house.said(answer.id) == ["Therefore new"]
            assert_whole(house)

    play(story())


def test_a_process_that_was_frozen_and_wakes_writes_nothing(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            old = await answer.begins()
            await answer.says(old, "Because ", "old")
            zombie = house.works_on(answer.id)
            zombie.send(signal.SIGSTOP)
            await until(lambda: answer.is_at_attempt(2), within=TAKEN_OVER + BUSY)
            new = await answer.begins()
            await answer.says(new, "Therefore ", "new")
            await asyncio.to_thread(old.write, " and more")
            zombie.send(signal.SIGCONT)
            await asyncio.to_thread(old.until_gone)
            await answer.says(new, " and", " that")
            for page in answer.pages:
                assert "old" not in page.screen.thread.text and "more" not in page.screen.thread.text
            await answer.ends(new)
            assert answer.row["attempt"] == 2
            assert house.said(answer.id) == ["Therefore new and that"]
            assert_whole(house)

    play(story())


def test_a_page_whose_process_was_killed_comes_back_at_another_one(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await answer.says(script, "Because ", "of ")
            house.webs[1].kill()
            page = answer.pages[1]
            await page.is_gone()
            await asyncio.to_thread(script.write, "what was missed ")
            page.comes_back_to(house.webs[0])
            await page.sees("what was missed")
            await answer.says(script, "and that")
            await asyncio.to_thread(house.heal)
            await answer.ends(script)
            assert answer.row["attempt"] == 1

    play(story())


def test_a_process_that_is_told_to_end_lets_its_answer_end(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await answer.says(script, "Because ")
            worker = house.works_on(answer.id)
            worker.send(signal.SIGTERM)
            await answer.says(script, "of ", "this")
            assert worker.is_there
            await answer.ends(script)
            assert await asyncio.to_thread(worker.ends) == 0
            assert (answer.row["attempt"], house.said(answer.id)) == (1, ["Because of this"])

    play(story())


def test_one_that_is_told_twice_hands_its_answer_over_at_once(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await answer.says(script, "Because ")
            worker = house.works_on(answer.id)
            worker.send(signal.SIGINT)
            assert worker.process.stdout.readline().startswith("1 turns still run here")
            worker.send(signal.SIGINT)
            await until(lambda: answer.is_at_attempt(2), within=BUSY)
            assert await asyncio.to_thread(worker.ends) == 0
            script = await answer.begins()
            await answer.says(script, "Therefore")
            await answer.ends(script)
            assert house.said(answer.id) == ["Therefore"]

    play(story())


def test_what_is_asked_at_a_terminal_is_heard_by_the_pages_that_are_open(house, steered):
    async def story():
        async with asked(house, steered) as answer:
            script = await answer.begins()
            await answer.says(script, "Because.")
            await answer.ends(script)
            words = ("ask", "And then?", "--conversation", str(answer.conversation))
            asking = asyncio.create_task(
                asyncio.to_thread(house.run, *words, "--user", answer.she.name, "--model", MODEL, "--json")
            )
            script = await answer.begins()
            await answer.says(script, "Then ", "that.")
            await answer.ends(script)
            ended = await asking
            assert (ended.returncode, ended.stderr) == (0, "")
            assert '"Then ' in ended.stdout

    play(story())
