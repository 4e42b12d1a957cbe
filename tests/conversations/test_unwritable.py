"""Pages while the database takes nothing: Stop stops, what was stopped stays stopped, and what takes long is told calmly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import UUID

import pytest

from bench.shut import Lock
from chatapp.store.models import Status
from chatapp.turns import state
from tests.support.front import HTMX, Visitor
from tests.support.locked import lock
from tests.support.page import Page, words
from tests.support.script import held, response, text, thought
from tests.support.stage import play, until
from tests.support.tabs import Tab

from .asking_tools import Toolbox, furnished, row, send

pytestmark = pytest.mark.django_db(transaction=True)
# What a person waits for at most.
AT_ONCE = 0.3


@pytest.fixture
def database() -> Iterator[Lock]:
    with lock() as made:
        yield made


async def stop(she: Visitor, answer: UUID, headers: dict[str, str]) -> int:
    """The page's own answer, which comes at once."""
    async with asyncio.timeout(AT_ONCE + 1):
        return (await she.post(f"/m/{answer}/stop/", headers=headers)).status_code


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
def test_stop_stops_and_every_page_says_so_before_any_row_does(alice, database, headers):
    reached = asyncio.Event()
    script = held(thought("Let me see.", key="rs_1"), text("Because", key="msg_1"), reached=reached)

    async def story():
        async with furnished(alice, Toolbox(), script) as (on, she):
            watching, other = Tab(on), Tab(on)
            await watching.open()
            answer = await on.begin()
            await reached.wait()
            await asyncio.to_thread(database.shut)
            assert await stop(she, answer, headers) in (200, 303)
            assert (await row(answer)).status == Status.RUNNING
            for tab in (watching, await other.open()):
                await tab.sees(lambda screen: "Stopped by you" in screen.articles[-1].text)
                assert "Because" in tab.screen.articles[-1].text
                await tab.sees(lambda screen: "data-answering" not in screen.thread.attributes)
            page = Page(await she.get(f"/c/{on.conversation.pk}/"))
            assert "Stopped by you" in words(page.one("article", data_status="stopped"))
            assert "answers" not in words(page.one("li", id=f"c-{on.conversation.pk}"))
            again = await she.post(f"/m/{answer}/continue/", headers=HTMX)
            assert (again.status_code, "still being saved" in again.text) == (409, True)
            await asyncio.to_thread(database.open)
            await until(lambda: _is(answer, Status.STOPPED))
            for tab in (watching, other):
                await tab.sees_the_end()
                await tab.looks_as_if_just_loaded()

    play(story())


def test_a_question_for_permission_is_stopped_too(alice, database):
    async def story():
        async with furnished(alice, Toolbox(), response(send())) as (on, she):
            answer = (await on.ask()).pk
            tab = await Tab(on).open()
            await tab.sees(lambda screen: screen.root.all("aria-label", "Permission"))
            await asyncio.to_thread(database.shut)
            assert await stop(she, answer, HTMX) == 200
            await tab.sees(lambda screen: not screen.root.all("aria-label", "Permission"))
            await tab.sees(lambda screen: "Stopped by you" in screen.articles[-1].text)
            await asyncio.to_thread(database.open)
            await until(lambda: _is(answer, Status.STOPPED))
            await tab.sees_the_end()
            await tab.looks_as_if_just_loaded()

    play(story())


def test_an_answer_that_cannot_be_stored_yet_says_calmly_that_it_is_being_saved(alice, database, monkeypatch):
    monkeypatch.setattr(state, "CALM_SECONDS", 0.05)

    async def script(ask, keys):
        async for event in response(text("Because.", key="msg_1"))(ask, keys):
            yield event
        await asyncio.to_thread(database.shut)

    async def story():
        async with furnished(alice, Toolbox(), script) as (on, she):
            tab = await Tab(on).open()
            answer = await on.begin()
            await tab.sees(lambda screen: screen.articles and "Saving…" in screen.articles[-1].text)
            assert "Because." in tab.screen.articles[-1].text
            assert await stop(she, answer, HTMX) == 200, "It has said everything: nothing is left to stop."
            await asyncio.to_thread(database.open)
            assert (await on.end(answer)).status == Status.COMPLETE
            await tab.sees_the_end()
            assert "Saving…" not in tab.screen.articles[-1].text
            await tab.looks_as_if_just_loaded()

    play(story())


async def _is(answer: UUID, status: Status) -> bool:
    return (await row(answer)).status == status
