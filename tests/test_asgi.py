"""The first scope of any kind sets the engine to work, once, and a lost database keeps no page away."""

from __future__ import annotations

import asyncio

import pytest
from django.db import OperationalError

from chatapp.asgi import KEPT_WAITING, SIDE_BY_SIDE, AtMost, AwakeAtFirstScope, application
from tests.support.patience import PATIENCE


class Calls:
    def __init__(self, *failures):
        self.failures, self.starts, self.served = list(failures), 0, []

    async def start(self):
        self.starts += 1
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)

    async def page(self, scope, receive, send):
        self.served.append((scope["type"], self.starts))


def run(calls, *kinds):
    async def all_at_once():
        awake = AwakeAtFirstScope(calls.page, calls.start)
        await asyncio.gather(*(awake({"type": kind}, None, None) for kind in kinds))

    asyncio.run(all_at_once())


def test_many_first_scopes_start_the_engine_once_and_before_they_are_served():
    calls = Calls()
    run(calls, "http", "websocket", "lifespan", "http")
    assert calls.served == [("http", 1), ("websocket", 1), ("lifespan", 1), ("http", 1)]


def test_the_servers_start_wakes_the_engine_and_the_first_scope_does_not_again():
    calls = Calls()

    async def start_then_visit():
        awake = AwakeAtFirstScope(calls.page, calls.start)
        await awake.wake()
        assert calls.starts == 1
        await awake({"type": "http"}, None, None)

    asyncio.run(start_then_visit())
    assert calls.served == [("http", 1)]


def test_a_lost_database_keeps_no_page_away_and_the_next_scope_tries_again():
    calls = Calls(OperationalError("gone"))
    run(calls, "http", "http", "http")
    assert len(calls.served) == 3
    assert calls.starts == 2


@pytest.mark.parametrize("path", ["/", "/ws/no/such/", "/ws/c/1/", "/c/"])
def test_a_socket_without_a_listener_is_refused_in_words_of_the_protocol(path):
    sent = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message)

    async def connect():
        inner = application._application
        await inner({"type": "websocket", "path": path, "headers": []}, receive, send)

    asyncio.run(asyncio.wait_for(connect(), PATIENCE))
    assert sent == [{"type": "websocket.close"}]


@pytest.mark.parametrize(
    ("waits", "at_once"), [(0, SIDE_BY_SIDE), (2 * KEPT_WAITING, 3)], ids=["they compute", "they wait"]
)
def test_only_so_many_requests_are_served_at_once_and_all_of_them_in_the_end(waits, at_once):
    """Few of them side by side, but more where those before wait for something."""
    most, served, now = 0, [], 0

    async def page(scope, receive, send):
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(waits)
        now -= 1
        served.append(scope["n"])

    async def rush():
        inner = AtMost(page, 3, writers=2)
        await asyncio.gather(*(inner({"n": n, "method": "GET"}, None, None) for n in range(20)))

    asyncio.run(rush())
    assert (most, sorted(served)) == (at_once, list(range(20)))


def test_those_who_write_leave_places_to_those_who_read():
    served, inside = [], asyncio.Event()

    async def page(scope, receive, send):
        served.append(scope["method"])
        if scope["method"] == "POST":
            await inside.wait()

    async def rush():
        inner = AtMost(page, 3, writers=2)
        writing = [asyncio.ensure_future(inner({"method": "POST"}, None, None)) for _ in range(9)]
        await asyncio.wait_for(inner({"method": "GET"}, None, None), PATIENCE)
        assert served == ["POST", "POST", "GET"]
        inside.set()
        await asyncio.gather(*writing)

    asyncio.run(rush())
    assert served.count("POST") == 9
