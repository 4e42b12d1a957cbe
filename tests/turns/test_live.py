"""What a running turn has said, kept in little space: whoever reads from any number on gets every letter once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.core.draft import Draft
from chatapp.core.events import Event, ItemDelta, ItemDone, ItemStarted
from chatapp.core.items import Item, Kind
from chatapp.turns.live import NEWEST, LiveEvent, MemoryLive, Stream
from tests.support.patience import PATIENCE

LETTERS = st.text("abcäß😀", min_size=1, max_size=4)
EVENTS = st.lists(
    st.one_of(
        st.builds(ItemDelta, st.sampled_from(["one", "two"]), LETTERS),
        st.just(ItemStarted("two", Kind.ASSISTANT_MESSAGE)),
        st.just(ItemDone(Item(key="one", kind=Kind.REASONING, text="Done."))),
    ),
    max_size=6,
)


def apart(said: list[LiveEvent]) -> list[Event]:
    """Letter by letter, so that joined letters and others compare."""
    found: list[Event] = []
    for each in said:
        event = each.event
        found += [ItemDelta(event.key, c) for c in event.text] if isinstance(event, ItemDelta) else [event]
    return found


def read(events: list[Event], after: int) -> list[LiveEvent]:
    async def story() -> list[LiveEvent]:
        live, stream = MemoryLive(), (uuid4(), 1)
        live.open(stream, Draft(), lambda: 0.0)
        for n, event in enumerate(events, 1):
            live.publish(stream, event, float(n))
        async for news in live.read(stream, after):
            return news
        return []

    return asyncio.run(asyncio.wait_for(story(), PATIENCE))


@settings(deadline=None)
@given(EVENTS, st.integers(0, 4 * NEWEST), st.data())
def test_from_any_number_on_everything_after_it_comes_once_and_in_order(around, count, data):
    events: list[Event] = [*around, *(ItemDelta("one", f"{n} ") for n in range(count)), *around]
    if not events:
        return
    after = data.draw(st.integers(0, len(events) - 1))
    said = read(events, after)
    plain = [LiveEvent(n, float(n), event) for n, event in enumerate(events, 1)][after:]
    assert apart(said) == apart(plain)
    assert said[-1].n == len(events)
    assert [each.n for each in said] == sorted({each.n for each in said})


def test_letters_that_came_long_ago_are_kept_together():
    events: list[Event] = [ItemDelta("one", "word ") for _ in range(100 * NEWEST)]
    assert len(read(events, 0)) < 3 * NEWEST + 100


def test_the_newest_are_told_as_they_came():
    events: list[Event] = [ItemDelta("one", "word ") for _ in range(100 * NEWEST)]
    assert [each.event for each in read(events, len(events) - NEWEST)] == events[-NEWEST:]


class Listener:
    """Reads a turn, and hears what `takes` allows."""

    def __init__(self, live: MemoryLive, stream: Stream, takes: Callable[[LiveEvent], bool]) -> None:
        self.heard: list[int] = []
        self.given: list[int] = []
        self._takes = takes
        self.work = asyncio.create_task(self._read(live, stream))

    async def _read(self, live: MemoryLive, stream: Stream) -> None:
        async for news in live.read(stream, 0, self._hear):
            self.given += [said.n for said in news]

    def _hear(self, said: LiveEvent) -> bool:
        taken = self._takes(said)
        if taken:
            self.heard.append(said.n)
        return taken


def published(takes: Callable[[LiveEvent], bool], *, together: int = 1) -> Listener:
    """Six letters, so many in each turn of the loop."""

    async def story() -> Listener:
        live, stream = MemoryLive(), (uuid4(), 1)
        live.open(stream, Draft(), lambda: 0.0)
        listener = Listener(live, stream, takes)
        for n in range(6):
            if n % together == 0:
                await settled()
            live.publish(stream, ItemDelta("one", f"{n}"), float(n))
        await settled()
        live.close(stream)
        await asyncio.wait([listener.work], timeout=PATIENCE)
        return listener

    return asyncio.run(story())


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_who_has_read_everything_hears_at_once_and_is_not_given_it_again():
    listener = published(lambda said: True, together=6)
    assert (listener.heard, listener.given) == ([1, 2, 3, 4, 5, 6], [])


def test_what_is_not_taken_is_given_with_all_that_follows_until_it_was_read():
    listener = published(lambda said: said.n != 2, together=3)
    assert (listener.heard, listener.given) == ([1, 4, 5, 6], [2, 3])


def test_a_listener_that_breaks_breaks_nobody_else():
    def broken(said: LiveEvent) -> bool:
        raise LookupError

    assert isinstance(published(broken).work.exception(), LookupError)
