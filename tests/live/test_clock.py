"""A server whose clock is set while pages listen to it."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("aiohttp", reason="SKIPPED LOUDLY: aiohttp is not installed, so no clock was set.")

import aiohttp

from bench.faults.clocks import make_clocks, set_clock, with_clock
from tests.browser.served import serving, with_tables
from tests.support.patience import PATIENCE

DAY = 24 * 3600


def test_a_clock_that_is_set_a_day_ahead_closes_no_socket(tmp_path):
    made, clock = make_clocks(tmp_path), tmp_path / "clock"
    if made is None:
        pytest.skip("SKIPPED LOUDLY: there is no compiler here that makes clocks.")
    set_clock(clock, 0)
    with serving(with_tables(tmp_path), with_clock(made, clock)) as served:
        _, session = served.person()
        headers = {"Origin": served.url.rstrip("/"), "Cookie": f"sessionid={session}"}

        async def story() -> None:
            async with (
                aiohttp.ClientSession() as http,
                http.ws_connect(f"{served.url}ws/", headers=headers, autoping=False) as socket,
            ):
                set_clock(clock, 2 * DAY)
                # The server looks whether anybody was silent for too long, and asks.
                assert (await socket.receive(PATIENCE)).type is aiohttp.WSMsgType.PING

        asyncio.run(asyncio.wait_for(story(), 2 * PATIENCE))
