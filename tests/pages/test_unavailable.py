"""While the database cannot do its work, every address says so in words and in time, and keeps what was sent; then it heals by itself."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.handlers.exception import response_for_exception
from django.db import Error, connection, connections

from chatapp.config.postgresql import JUST
from chatapp.live.socket import AGAIN
from chatapp.sharing.models import Share
from chatapp.store.models import Item
from chatapp.store.running_models import Throttle
from tests.support.addresses import ADDRESSES
from tests.support.faults import FAULTS, away, locked, read_only, short_patience, through_a_line
from tests.support.front import HTMX, Visitor, house, session_of
from tests.support.listening import Socket
from tests.support.page import Page, attribute, words
from tests.support.stage import play

from .test_access import Belongings, address

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

# Where even reading has to write first: a look of an administrator, and the token of a mail, which moves into the session.
WRITES_FIRST = ("/accounts/reset/<uidb64>/<token>/",)
ANSWERS_WITH_503 = ("/health/ready",)
# Two seconds are meant, and the machine may be busy too; whoever waited for those before them as well would wait for twelve.
LONGEST = 8.0


def places(hers: Belongings) -> list[tuple[str, str]]:
    """Every address, with something of hers behind it."""
    token = Share.objects.get(pk=hers.link).token
    named = [
        (path, address(path, hers.ids_for(path)[0], hers) if "<uuid" in path else path) for path in ADDRESSES
    ]
    more = {"/s/<token>/": f"/s/{token}/", "/insight/<slug:what>.csv": "/insight/models.csv"}
    return [(path, place.replace("/s/<token>/", f"/s/{token}/")) for path, place in named] + [*more.items()]


async def answer(who: Visitor, method: str, place: str, form: Any, headers: dict[str, str]) -> Any:
    if method == "POST":
        return await who.post(place, form, headers=headers)
    return await who.send(method, place, headers=headers)


def people(*users: Any) -> list[Visitor]:
    """And a stranger."""
    return [*(Visitor(session_of(user)) for user in users), Visitor("")]


def read(reading: list[tuple[Visitor, str]]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []

    async def story() -> None:
        async with house():
            for who, place in reading:
                found.append((place, (await who.get(place)).status_code))

    play(story())
    return found


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_address_takes_it_for_a_mistake_of_ours(alice, dana, fault, headers):
    hers = Belongings(alice)
    here, everybody = places(hers), people(alice, dana)

    async def story():
        async with house():
            for path, place in here:
                for who in everybody:
                    for method in ADDRESSES[path].methods:
                        response = await answer(who, method, place, ADDRESSES[path].form, headers)
                        assert response.status_code in (503, *range(200, 500)), (method, path)
                        if response.status_code == 503 and path not in ANSWERS_WITH_503:
                            assert response.headers["retry-after"] == "5", (method, path)
                            assert method == "HEAD" or "database" in response.text, (method, path)

    # Nothing that comes late is looked for.
    with short_patience(0.02), FAULTS[fault]():
        play(story())


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "away"])
def test_what_is_only_read_is_read_while_nothing_can_be_written(alice, dana, fault):
    hers = Belongings(alice)
    paths = [each for each in places(hers) if each[0] not in (*WRITES_FIRST, *ANSWERS_WITH_503)]
    reading = [(who, place) for _, place in paths for who in people(alice, dana)]
    usual = read(reading)
    with short_patience(), FAULTS[fault]():
        assert read(reading) == usual


def test_pages_of_errors_give_back_what_they_asked_with(alice):
    she = people(alice)[0]

    async def story():
        async with house():
            lost = await asyncio.gather(*(she.get("/nowhere/") for _ in range(20)))
            assert {response.status_code for response in lost} == {404}

    play(story())
    connections.close_all()
    if connection.vendor == "postgresql":
        pool = connection.pool.get_stats()
        assert pool["pool_available"] == pool["pool_size"]


@pytest.mark.parametrize("fault", FAULTS)
def test_what_could_not_be_asked_comes_back_in_a_field_and_is_asked_once_the_database_heals(alice, fault):
    hers = Belongings(alice)
    she, where = people(alice)[0], f"/c/{hers.conversation}/ask/"
    # So much that no page of the file has room for it, and not so much that it is asked at the door who sends it.
    said = f"Kept <words> {'and more ' * 6_000}".strip()
    form = {"text": said, "parent": str(hers.answer), "key": str(uuid4()), "model": "demo:thinker"}
    pages = []

    async def asks(form):
        async with house():
            pages.append(await she.post(where, form))

    with short_patience(), FAULTS[fault]():
        play(asks(form))
    page = Page(pages[0])
    assert pages[0].status_code == 503
    assert words(page.one("textarea", name="text")) == said
    again = {
        attribute(field, "name"): attribute(field, "value") for field in page.all("input", type="hidden")
    }
    assert attribute(page.one("form"), "action") == where
    assert {**again, "text": said}.items() >= form.items()
    play(asks({**again, "text": said}))
    assert pages[1].status_code == 303
    assert Item.objects.filter(text=said).count() == 1


def test_passwords_are_never_told_again(alice):
    form = {"username": "alice", "password": "canary-password"}
    found = []

    async def story():
        async with house():
            found.append(await Visitor("").post("/accounts/login/", form))

    with short_patience(), locked():
        play(story())
    assert found[0].status_code == 503
    assert "canary" not in found[0].text


def test_whoever_waits_waits_two_seconds_in_all(alice):
    """Also where more of them come at once than there are threads and places."""
    she = people(alice)[0]
    took = []

    async def asks(n):
        began = time.monotonic()
        response = await she.post("/ask/", {"text": f"Question {n}?"})
        took.append(time.monotonic() - began)
        assert response.status_code == 503

    async def story():
        async with house():
            await asyncio.gather(*(asks(n) for n in range(24)))

    with locked():
        play(story())
    assert max(took) < LONGEST


def test_whoever_only_reads_does_not_wait_for_those_who_write(alice, bob):
    she, he = people(alice, bob)[:2]
    answered = []

    async def story():
        async with house():
            writing = [asyncio.ensure_future(she.post("/ask/", {"text": f"{n}?"})) for n in range(24)]
            await asyncio.sleep(0)
            for _ in range(5):
                answered.append((await he.get("/shares/")).status_code)
            assert not any(each.done() for each in writing)
            await asyncio.gather(*writing)

    with locked():
        play(story())
    assert answered == [200] * 5


def test_a_socket_that_cannot_be_looked_up_is_told_to_come_back(alice):
    session = session_of(alice)
    codes = []

    async def story():
        async with house():
            socket = await Socket("/ws/", session).open()
            codes.append(await socket.is_closed())

    with short_patience(), away():
        play(story())
    assert codes == [AGAIN]


def test_a_server_that_froze_is_not_waited_for_and_heals_by_itself(alice):
    """Its connections stay open, and nothing comes through them."""
    if connection.vendor != "postgresql":
        pytest.skip("a file does not freeze")
    she = people(alice)[0]
    seen = []

    async def looks():
        began = time.monotonic()
        seen.append(((await she.get("/shares/")).status_code, time.monotonic() - began))

    async def story():
        async with house():
            await looks()
            # What has answered just now is not asked whether it still does.
            await asyncio.sleep(JUST)
            with line.held():
                await looks()
            await looks()

    with through_a_line() as line:
        play(story())
    assert [status for status, _ in seen] == [200, 503, 200]
    assert seen[1][1] < LONGEST


@pytest.mark.parametrize("dressed", [False, True], ids=["as it is", "as a session that ended"])
def test_what_another_middleware_could_not_do_is_no_mistake_of_ours_either(rf, dressed):
    with read_only():
        try:
            try:
                Throttle.objects.create(name="one")
            except Error as error:
                if dressed:
                    raise SessionInterrupted from error
                raise
        except (Error, SessionInterrupted) as error:
            response = response_for_exception(rf.get("/"), error)
    assert response.status_code == 503
    assert "can only be read" in response.text


def test_it_is_told_in_the_same_words_to_those_who_debug(alice, settings):
    settings.DEBUG = True
    found = []

    async def story():
        async with house():
            found.append(await people_here[0].post("/ask/", {"text": "Why?"}))

    people_here = people(alice)
    with short_patience(), locked():
        play(story())
    assert found[0].status_code == 503
    assert "The database is busy" in found[0].text
