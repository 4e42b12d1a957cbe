"""Real processes that serve: what somebody does at one of them, all know, and pages of the other are told of it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from django.conf import settings

from chatapp.live.conversation import STALE
from tests.support.patience import PATIENCE

if not settings.REDIS_URL:
    pytest.skip("Across processes only: ./check tells it Redis' address.", allow_module_level=True)
pytest.importorskip("aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no processes were tried.")

from tests.browser.steered import Call, Write

from .deployed import TOKEN, Deployed, Heard, OpenPage, Person, until

pytestmark = [pytest.mark.across, pytest.mark.timeout(300)]

MODEL = "openai:gpt-5"
# What a page sends back of a call that it shows, and which call that is.
SEEN = re.compile(r'name="seen" value="(\w+ ([^"]+))"')


def play(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 2 * PATIENCE))


def does(she: Person, at: Any, path: str, **form: Any) -> httpx.Response:
    with she.at(at) as client:
        done = client.post(path, data=form)
        assert done.status_code < 400, done.text
        return done


async def answered(house: Deployed, steered: Any, she: Person, *steps: Any) -> tuple[UUID, UUID]:
    """A conversation and its answer, which has ended or waits."""
    steered.plays(*(steps or [Write("Because.")]))
    conversation, answer = await asyncio.to_thread(she.asks, house.webs[0], MODEL)
    await until(lambda: house.row(answer)["status"] in ("complete", "waiting"))
    return conversation, answer


def test_a_call_that_asks_is_allowed_at_another_process_and_goes_on(house, steered):
    async def story():
        she = Person(house.webs[0])
        call = Call("read_page", {"url": "https://nowhere.invalid/"})
        conversation, answer = await answered(house, steered, she, call)
        page = OpenPage(she, house.webs[0], conversation)
        with she.at(house.webs[1]) as client:
            shown = client.get(f"/c/{conversation}/", headers={"HX-Request": ""}).text
        seen, key = SEEN.search(shown).groups()
        steered.plays(Write("It cannot be read."))
        does(she, house.webs[1], f"/m/{answer}/decide/", seen=seen, decision=f"once {key}")
        await page.sees("It cannot be read.")
        await page.shows_the_end(*house.webs)
        page.leave()

    play(story())


def test_a_title_is_told_to_the_pages_of_another_process(house, steered):
    async def story():
        she = Person(house.webs[0])
        conversation, _ = await answered(house, steered, she)
        heard = Heard(she, house.webs[0])
        await heard.is_open()
        does(she, house.webs[1], f"/c/{conversation}/title/", title="About reasons")
        await heard.hears("About reasons")
        heard.leave()

    play(story())


def test_a_page_of_one_process_is_told_what_is_deleted_at_the_other_and_comes_back(house, steered):
    async def story():
        she = Person(house.webs[0])
        conversation, answer = await answered(house, steered, she)
        page = OpenPage(she, house.webs[0], conversation)
        await page.sees("Because.")
        does(she, house.webs[1], f"/m/{answer}/delete/")
        await page.is_so(lambda screen: screen.thread.attributes.get("data-stale") == STALE)
        does(she, house.webs[0], f"/undo/{house.row(answer)['deletion']}/")
        await page.is_so(lambda screen: screen.thread.attributes.get("data-stale") != STALE)
        assert "Because." in she.page(house.webs[1], conversation).thread.text
        page.leave()

    play(story())


def test_who_signs_out_at_one_process_is_signed_out_at_the_other_and_hears_no_more_there(house, steered):
    async def story():
        she = Person(house.webs[0])
        conversation, _ = await answered(house, steered, she)
        heard = Heard(she, house.webs[0])
        await heard.is_open()
        with she.at(house.webs[0]) as client:
            assert client.get(f"/c/{conversation}/", headers={"HX-Request": ""}).status_code == 200
            does(she, house.webs[1], "/accounts/logout/")
            await heard.is_gone()
            assert client.get(f"/c/{conversation}/", headers={"HX-Request": ""}).status_code == 302

    play(story())


def test_a_link_that_is_taken_back_at_one_process_opens_nothing_at_the_other(house):
    she = Person(house.webs[0])
    conversation = house.webs[0].clerk("conversation", owner=she.name, turns=1)
    token = house.webs[0].clerk("share", conversation=conversation)
    assert opens(house, token) == [200, 200]
    (row,) = house.read("SELECT id FROM chatapp_share WHERE token = %s", token)
    does(she, house.webs[1], f"/shares/{row['id']}/revoke/")
    assert opens(house, token) == [404, 404]


def opens(house: Deployed, token: str) -> list[int]:
    return [httpx.get(f"{web.url}s/{token}/").status_code for web in house.webs]


def test_who_tries_too_often_at_one_process_has_tried_too_often_at_the_other(house):
    name, told = f"nobody-{uuid4()}", list[int]()
    for number in range(12):
        with httpx.Client(
            base_url=house.webs[number % 2].url, cookies={"csrftoken": TOKEN}, timeout=PATIENCE
        ) as client:
            form = {"username": name, "password": "wrong", "csrfmiddlewaretoken": TOKEN}
            told.append(client.post("/accounts/login/", data=form).status_code)
    assert told[0] != 429 and told[-2:] == [429, 429]


def test_what_is_submitted_and_said_in_a_review_is_told_across(house, steered):
    async def story():
        she, he = Person(house.webs[0]), Person(house.webs[0])
        house.webs[0].clerk("reviews", name=he.name)
        _, answer = await answered(house, steered, she)
        his, hers = Heard(he, house.webs[1]), Heard(she, house.webs[1])
        for each in (his, hers):
            await each.is_open()
        does(she, house.webs[0], f"/m/{answer}/submit/", question="Is it?", scope="branch", key=str(uuid4()))
        await his.hears("1<span")
        (row,) = house.read("SELECT s.id FROM chatapp_submission s WHERE leaf_id = %s", answer)
        does(he, house.webs[0], f"/review/{row['id']}/claim/")
        does(he, house.webs[0], f"/review/{row['id']}/note/", text="It is.", message=str(answer))
        await hers.hears("1<span")
        his.leave()
        hers.leave()

    play(story())


def test_what_is_asked_here_and_answered_there_is_counted_once(house, steered):
    async def story():
        she = Person(house.webs[0])
        for _ in range(2):
            await answered(house, steered, she)
        query = "SELECT turns, answers FROM chatapp_personday JOIN auth_user u ON u.id = user_id"
        (day,) = house.read(f"{query} WHERE username = %s", she.name)
        assert day == {"turns": 2, "answers": 2}

    play(story())
