"""What may take long is done by a process that can be given up, and the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from functools import partial
from uuid import UUID

import pytest

from chatapp.core.items import Kind
from chatapp.live.growing_item import GrowingItem
from chatapp.markdown import render_blocks_within
from chatapp.markdown.renderers import GivenUp, Renderers
from chatapp.thread.item_body import blocks_within
from chatapp.thread.items_so_far import ItemSoFar
from chatapp.tools.base import ToolError
from chatapp.tools.page.page_read import page_read

from .shapes import PUMPS, shape

NOBODY = UUID(int=0)
STALL = 0.05
SIZE = 48_000
EVERY_SHAPE = pytest.mark.parametrize("pump", PUMPS, ids=ascii)


class Beats:
    """How long the loop did nothing else, in the processor's time of its thread alone."""

    def __init__(self):
        self.longest = 0.0

    async def __aenter__(self):
        self._task = asyncio.create_task(self._beat())
        await asyncio.sleep(0)

    async def __aexit__(self, *_):
        self._task.cancel()
        self._look()

    async def _beat(self):
        while True:
            self._begun = time.thread_time()
            # Below a millisecond the loop would only count.
            await asyncio.sleep(0.001)
            self._look()

    def _look(self):
        self.longest = max(self.longest, time.thread_time() - self._begun)


def stalled(*works):
    """The best of two: what a machine does beside it is no fault of the text."""

    async def once(work):
        beats = Beats()
        async with beats:
            await work()
        return beats.longest

    return [work for work in works if min(asyncio.run(once(work)) for _ in range(2)) > STALL]


@pytest.fixture(scope="module")
def renderers():
    made = Renderers(size=1, cpu_seconds=0.2)
    yield made
    made.close()


@pytest.mark.sampled
@EVERY_SHAPE
def test_markdown_ends_in_time_or_is_given_up_and_the_loop_goes_on(pump, renderers):
    assert not stalled(partial(render_blocks_within, shape("", pump, "", SIZE), renderers=renderers))
    with suppress(GivenUp):
        assert renderers.do("blocks", f"{pump} *a*", "", "")


@pytest.mark.sampled
@EVERY_SHAPE
def test_a_page_is_read_in_time_or_given_up_and_the_loop_goes_on(pump):
    async def read():
        with suppress(ToolError):
            await page_read(shape("<p>", pump, "</p>", SIZE), "https://a.example/", cpu_seconds=0.5)

    assert not stalled(read)


@pytest.mark.sampled
@EVERY_SHAPE
def test_what_is_shown_as_it_is_does_not_hold_the_loop_up(pump):
    text = shape("", pump, "", 4 * SIZE)
    numbers = json.dumps({"words": text, "numbers": [1] * SIZE})
    pieces = {Kind.USER_MESSAGE: text, Kind.TOOL_CALL: numbers, Kind.TOOL_RESULT: numbers}
    shown = [ItemSoFar(key="a", kind=kind, text=words) for kind, words in pieces.items()]
    assert not stalled(*(partial(blocks_within, NOBODY, piece) for piece in shown))


@pytest.mark.parametrize("pump", [pump for pump in PUMPS if "\n" in pump or pump.isspace()], ids=ascii)
def test_an_answer_that_comes_at_once_does_not_hold_the_loop_up(pump):
    async def write():
        item = GrowingItem(NOBODY, "a", "b", lambda operation: None)
        try:
            for size in (SIZE // 4, 100):
                item.write(shape("", pump, "\nb", size))
                while item._task:
                    await item._task
        finally:
            item.cancel()

    assert not stalled(write)
