"""What one person's sockets may take: so many, opened so often, and of each fact the work of one."""

from __future__ import annotations

from contextlib import ExitStack, asynccontextmanager
from threading import Lock

import pytest
from django.db.backends.utils import CursorWrapper

from chatapp.live import socket as consumers
from chatapp.live.socket import AGAIN, NONSENSE, NOT_YOURS, SIGNED_OUT, TOO_MANY, WORDS
from chatapp.pages.door.open_sockets import MOST_OF_ONE, OPEN, Rate
from chatapp.store import in_thread, titles
from tests.browser.served import serving, with_tables
from tests.support.front import house, session_of
from tests.support.listening import Socket
from tests.support.stage import play
from tests.support.turns import ended
from tests.support.wire import close_code, connected, handshake

from .test_socket import address

pytestmark = [pytest.mark.across, pytest.mark.django_db(transaction=True)]


@asynccontextmanager
async def opened(sessions, path="/ws/"):
    """A socket with each of these sessions, one after the other."""
    async with house():
        sockets = [await Socket(path, session).open() for session in sessions]
        try:
            yield sockets
        finally:
            for socket in sockets:
                await socket.leave()


@pytest.fixture
def queries(monkeypatch):
    """Those of every thread."""
    asked, lock, execute = [], Lock(), CursorWrapper.execute

    def counted(cursor, sql, params=None):
        with lock:
            asked.append(sql)
        return execute(cursor, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", counted)
    return asked


def test_the_page_that_is_opened_now_listens_and_the_oldest_pauses(alice, bob):
    async def story():
        hers, his = await in_thread(session_of)(alice), await in_thread(session_of)(bob)
        async with opened([his, *[hers] * (MOST_OF_ONE + 2)]) as (other, first, second, *rest):
            assert await first.is_closed() == await second.is_closed() == TOO_MANY
            assert OPEN.count(alice.pk) == MOST_OF_ONE and OPEN.count(bob.pk) == 1
            started = await in_thread(ended)(alice)
            await in_thread(titles.retitle)(started.conversation, "A name")
            for socket in rest:
                await socket.sees(lambda it: "A name" in str(it.said))
            assert other.is_open and first.said == second.said == []
        assert OPEN.count(alice.pk) == OPEN.count(bob.pk) == 0

    play(story())


def test_pages_count_whatever_session_they_have(alice):
    async def story():
        sessions = [await in_thread(session_of)(alice) for _ in range(2)]
        async with opened(sessions * (MOST_OF_ONE // 2) + sessions[:1]) as (first, *rest):
            assert await first.is_closed() == TOO_MANY
            assert all(socket.is_open for socket in rest)

    play(story())


def test_who_opens_sockets_in_a_loop_is_refused_before_anybody_is_asked(alice, queries, monkeypatch):
    monkeypatch.setattr(consumers, "OPENINGS", Rate(2 * MOST_OF_ONE, 1.0, lambda: 0.0))

    async def story():
        hers = await in_thread(session_of)(alice)
        async with opened([hers] * (2 * MOST_OF_ONE)):
            before = len(queries)
            for _ in range(50):
                socket = await Socket("/ws/", hers).open()
                assert await socket.is_closed() == AGAIN
                await socket.leave()
            assert len(queries) == before

    play(story())


def test_who_is_not_signed_in_keeps_no_socket_and_nobody_is_asked(alice, queries):
    async def story():
        async with opened([""] * 50) as sockets:
            for socket in sockets:
                assert await socket.is_closed() == SIGNED_OUT
        assert queries == []

    play(story())


@pytest.mark.one_process("everybody looks once when others begin to be heard")
@pytest.mark.parametrize("path", ["/ws/", "/ws/c/{conversation}/"])
def test_the_news_of_a_person_cost_the_same_however_many_pages_hear_them(alice, queries, path):
    """A title in the list beside every page: the session, the person, the row, once each."""

    async def cost(pages):
        started = await in_thread(ended)(alice)
        other = await in_thread(ended)(alice)
        hers = await in_thread(session_of)(alice)
        async with opened([hers] * pages, path.format(conversation=other.conversation)) as sockets:
            if "{" in path:
                for socket in sockets:
                    await socket.sees(lambda it: ["state", "version", "0.0.complete"] in it.said)
            before = len(queries)
            await in_thread(titles.retitle)(started.conversation, "A name")
            for socket in sockets:
                await socket.sees(lambda it: "A name" in str(it.said))
            return len(queries) - before

    async def story():
        assert await cost(1) == await cost(25)

    play(story())


def test_of_the_same_conversation_each_page_hears_its_own_row(alice):
    async def story():
        hers = await in_thread(session_of)(alice)
        started = await in_thread(ended)(alice)
        async with house():
            here = await Socket(address(started.conversation), hers).open()
            beside = await Socket("/ws/", hers).open()
            for socket in (here, beside):
                await in_thread(titles.retitle)(started.conversation, "A name")
                await socket.sees(lambda it: any(said[0] == "row" for said in it.said))
            rows = [[said[1] for said in socket.said if said[0] == "row"][-1] for socket in (here, beside)]
            assert ['aria-current="page"' in row for row in rows] == [True, False]
            for socket in (here, beside):
                await socket.leave()

    play(story())


def test_who_says_too_many_words_is_not_heard_any_more(alice):
    async def story():
        hers = await in_thread(session_of)(alice)
        async with opened([hers]) as (socket,):
            for number in range(3 * WORDS):
                await socket.answer(text=str(number))
            assert await socket.is_closed() == NONSENSE

    play(story())


def test_a_rate_lets_so_many_at_once_and_then_one_after_the_other():
    now = 100.0
    rate = Rate(3, 2.0, lambda: now)
    assert [rate.may("a") for _ in range(5)] == [True, True, True, False, False]
    assert rate.may("b")
    now += 2
    assert [rate.may("a") for _ in range(2)] == [True, False]
    now += 60
    assert [rate.may("a") for _ in range(4)] == [True, True, True, False]


def test_a_rate_forgets_names_that_it_would_let_through_anyway():
    now = 0.0
    rate = Rate(3, 1.0, lambda: now)
    for number in range(20_000):
        now += 0.01
        rate.may(str(number))
    assert len(rate._until) <= Rate.KEPT + 1


def test_a_rate_forgets_nobody_who_has_had_their_share():
    now = 0.0
    rate = Rate(3, 1.0, lambda: now)
    assert [rate.may("a") for _ in range(4)] == [True, True, True, False]
    for number in range(Rate.KEPT + 1):
        rate.may(str(number))
    now += 1
    assert rate.may("b")
    assert [rate.may("a") for _ in range(3)] == [True, False, False]


def test_a_real_server_says_why_it_closes_a_socket(tmp_path):
    with serving(with_tables(tmp_path), {}) as served, ExitStack() as stack:
        hers = served.person()[1]
        lines = [stack.enter_context(connected(served.url)) for _ in range(MOST_OF_ONE + 1)]
        for line in lines:
            line.sendall(handshake(served.url, "/ws/", hers))
            assert b"101" in line.recv(12)
        assert close_code(lines[0]) == TOO_MANY
        stranger = stack.enter_context(connected(served.url))
        stranger.sendall(handshake(served.url, "/ws/", ""))
        assert close_code(stranger) == SIGNED_OUT


@pytest.mark.parametrize("code", [NOT_YOURS, SIGNED_OUT, NONSENSE, TOO_MANY, AGAIN])
def test_no_code_is_one_that_the_server_under_us_would_break_at(code):
    assert 3000 <= code <= 4999
