"""What a turn says in one process is read in another, each word once and in its order, whatever becomes of Redis and of the line to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.core.draft import Draft
from chatapp.core.events import Event, ItemDelta, ItemDone, ItemStarted
from chatapp.core.items import Item, Kind
from chatapp.turns.live import LiveEvent, Stream
from tests.support import stage
from tests.support.patience import PATIENCE
from tests.turns.test_live import EVENTS, apart

from .own_redis import OwnRedis, line_to, own_redis

# Without its package the line above has left out all of these.
from chatapp.turns.scale.live import RedisLive  # isort: skip
from chatapp.turns.scale.redis import READERS  # isort: skip

# So soon text flows again when Redis is back; on a busy machine it is told so much later.
SOON, BUSY = 2.0, 3.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("redis")


@pytest.fixture(scope="module")
def shared(folder) -> Iterator[OwnRedis]:
    with own_redis(folder) as server:
        yield server


@pytest.fixture
def server(folder) -> Iterator[OwnRedis]:
    """To do with as one likes."""
    with own_redis(folder) as server:
        yield server


class Turn:
    """An attempt that one process runs, and what it says: numbered words."""

    def __init__(self, live: RedisLive, stream: Stream | None = None) -> None:
        self.live, self.stream = live, stream or (uuid4(), 1)
        self.began, self.said = time.monotonic(), 0
        live.open(self.stream, Draft(), self.elapsed)

    def elapsed(self) -> float:
        return (time.monotonic() - self.began) * 1000

    def say(self, *events: Event) -> None:
        for event in events:
            self.live.publish(self.stream, event, self.elapsed())

    def words(self, count: int = 1) -> None:
        for _ in range(count):
            self.say(ItemDelta("m_1", f"{self.said} "))
            self.said += 1

    def end(self) -> None:
        self.live.close(self.stream)


class Reader:
    """Reads it from another process, from number `after` on; looks nowhere else."""

    def __init__(self, live: RedisLive, stream: Stream, after: int = 0) -> None:
        self.heard: list[LiveEvent] = []
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._read(live, stream, after))

    async def _read(self, live: RedisLive, stream: Stream, after: int) -> None:
        while not self._is_over(live, stream):
            async for news in live.read(stream, after):
                after = news[-1].n
                self.heard += news
                self._more.set()

    def _is_over(self, live: RedisLive, stream: Stream) -> bool:
        mirror = live._mirrors.get(stream)
        return mirror is not None and mirror.over

    @property
    def words(self) -> str:
        return "".join(said.event.text for said in self.heard if isinstance(said.event, ItemDelta))

    async def hears(self, count: int) -> None:
        """So many words, each once and in their order, and no other."""
        wanted = words(count)
        async with asyncio.timeout(PATIENCE):
            while len(self.words) < len(wanted):
                self._more.clear()
                await self._more.wait()
        assert self.words == wanted

    async def ends(self) -> None:
        await asyncio.wait_for(self._task, PATIENCE)

    def leave(self) -> None:
        self._task.cancel()


def words(count: int) -> str:
    return "".join(f"{n} " for n in range(count))


@asynccontextmanager
async def processes(*urls: str):
    lives = [RedisLive(url) for url in urls]
    try:
        yield lives
    finally:
        for live in lives:
            await live.end()


def play(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 2 * PATIENCE))


@settings(max_examples=15, deadline=None)
@given(EVENTS, st.integers(0, 300), st.integers(1, 40), st.data())
def test_from_any_number_on_everything_after_it_comes_once_and_in_order(shared, around, count, group, data):
    """However it was grouped on its way, and whether one reads along or comes when it has ended."""
    events: list[Event] = [*around, *(ItemDelta("one", f"{n} ") for n in range(count)), *around]
    if not events:
        return
    after = data.draw(st.integers(0, len(events) - 1))

    async def story() -> None:
        async with processes(shared.url, shared.url, shared.url) as (speaks, along, late):
            turn = Turn(speaks)
            readers = [Reader(along, turn.stream), Reader(along, turn.stream, after)]
            for start in range(0, len(events), group):
                turn.say(*events[start : start + group])
                await asyncio.sleep(0)
            turn.end()
            readers += [Reader(late, turn.stream), Reader(late, turn.stream, after)]
            for reader, since in zip(readers, (0, after, 0, after), strict=True):
                await reader.ends()
                assert apart(reader.heard) == apart([LiveEvent(0, 0.0, event) for event in events[since:]])
                assert reader.heard[-1].n == len(events)

    play(story())


def test_what_comes_meanwhile_goes_together_and_nothing_waits_for_it(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url) as (speaks, watches):
            turn = Turn(speaks)
            reader = Reader(watches, turn.stream)
            turn.words()
            await reader.hears(1)
            turn.words(1000)
            await reader.hears(1001)
            with shared.asked() as asked:
                assert asked.xlen(f"turn:{turn.stream[0]}:1") < 20

    play(story())


def test_two_who_read_the_same_cost_redis_no_more_than_one(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url) as (speaks, watches):
            turn = Turn(speaks)
            name = f"turn:{turn.stream[0]}:1"
            one, two = Reader(watches, turn.stream), Reader(watches, turn.stream)
            turn.words(3)
            await one.hears(3)
            await two.hears(3)
            with shared.asked() as asked:
                assert asked.pubsub_numsub(name) == [(name.encode(), 1)]
            one.leave()
            turn.words(3)
            await two.hears(6)
            turn.end()
            await two.ends()

    play(story())


def test_however_much_is_watched_it_is_heard_over_one_line(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url) as (speaks, watches):
            turns = [Turn(speaks) for _ in range(60)]
            with shared.asked() as asked:
                before = asked.info("clients")["connected_clients"]
                readers = [Reader(watches, turn.stream) for turn in turns]
                for turn in turns:
                    turn.words(3)
                for reader in readers:
                    await reader.hears(3)
                lines = asked.info("clients")["connected_clients"] - before
                assert lines <= READERS + 3, "One speaks, one hears, and one asks for the time."
            for turn in turns:
                turn.end()
            for reader in readers:
                await reader.ends()

    play(story())


def test_what_is_said_at_many_turns_in_a_moment_is_one_command(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url) as (speaks, watches):
            turns = [Turn(speaks) for _ in range(50)]
            readers = [Reader(watches, turn.stream) for turn in turns]
            for turn in turns:
                turn.words()
            for reader in readers:
                await reader.hears(1)
            with shared.asked() as asked:
                asked.config_resetstat()
                for turn in turns:
                    turn.words()
                for reader in readers:
                    await reader.hears(2)
                assert asked.info("commandstats")["cmdstat_eval"]["calls"] <= 2

    play(story())


def test_who_is_not_listened_to_any_more_is_not_told(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url) as (speaks, watches):
            turn = Turn(speaks)
            name = f"turn:{turn.stream[0]}:1"
            reader = Reader(watches, turn.stream)
            turn.words(3)
            await reader.hears(3)
            turn.end()
            await reader.ends()
            with shared.asked() as asked:
                await until(lambda: asked.pubsub_numsub(name) == [(name.encode(), 0)])

    play(story())


def test_who_comes_late_reads_all_of_it_also_when_it_has_ended(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url, shared.url) as (speaks, late, later):
            turn = Turn(speaks)
            turn.words(500)
            reader = Reader(late, turn.stream)
            await reader.hears(500)
            turn.words(5)
            turn.end()
            await reader.ends()
            last = Reader(later, turn.stream)
            await last.ends()
            assert reader.words == last.words == words(505)

    play(story())


def test_what_one_attempt_says_is_no_word_of_another(shared):
    """Whoever was frozen and wakes says on what nobody reads any more."""

    async def story() -> None:
        async with processes(shared.url, shared.url, shared.url) as (zombie, speaks, watches):
            old = Turn(zombie)
            old.words(3)
            new = Turn(speaks, (old.stream[0], 2))
            reader = Reader(watches, new.stream)
            new.words(2)
            old.words(50)
            await reader.hears(2)
            zombie.away_since = time.monotonic()
            new.words(2)
            old.words(50)
            await reader.hears(4)

    play(story())


@pytest.mark.parametrize("entry", ["", "{", "[]", '[0,0,[[1,0,[],"said by a newer version"]],null]'])
def test_who_cannot_read_what_is_said_looks_at_the_rows_again_and_again(shared, entry):
    async def story() -> None:
        async with processes(shared.url) as (watches,):
            stream = (uuid4(), 1)
            with shared.asked() as asked:
                asked.xadd(f"turn:{stream[0]}:1", {"e": entry}, id="1-0")
            for _ in range(2):
                async with asyncio.timeout(PATIENCE):
                    assert [news async for news in watches.read(stream)] == []

    play(story())


def test_the_time_of_a_turn_is_the_same_wherever_it_is_asked(shared):
    async def story() -> None:
        async with processes(shared.url, shared.url) as (speaks, watches):
            turn = Turn(speaks)
            turn.began -= 7
            reader = Reader(watches, turn.stream)
            turn.words()
            await reader.hears(1)
            told = watches.now(turn.stream)
            assert told is not None
            assert abs(told - turn.elapsed()) < 500
            assert told >= reader.heard[-1].at

    play(story())


Trouble = Callable[[OwnRedis, Turn], Coroutine[Any, Any, float]]


async def forgotten(server: OwnRedis, turn: Turn) -> float:
    await asyncio.to_thread(server.forget)
    return time.monotonic()


async def killed(server: OwnRedis, turn: Turn) -> float:
    server.kill()
    turn.words(10)
    await away(turn.live)
    await asyncio.to_thread(server.start)
    return time.monotonic()


async def frozen(server: OwnRedis, turn: Turn) -> float:
    server.freeze()
    turn.words(10)
    await until(lambda: turn.live.waiting() > 1)
    server.thaw()
    return time.monotonic()


async def away(live: RedisLive) -> None:
    await until(lambda: live.away_since is not None)


async def until(look: Callable[[], bool]) -> None:
    async def looked() -> bool:
        return look()

    await stage.until(looked)


@pytest.mark.parametrize("trouble", [forgotten, killed, frozen], ids=lambda trouble: trouble.__name__)
def test_redis_may_lose_what_it_likes(server, trouble):
    """Those who read on and those who come now miss nothing, and text flows again at once."""

    async def story() -> None:
        async with processes(server.url, server.url) as (speaks, watches):
            turn = Turn(speaks)
            turn.say(ItemStarted("m_1", Kind.ASSISTANT_MESSAGE))
            reader = Reader(watches, turn.stream)
            turn.words(300)
            await reader.hears(300)
            back = await trouble(server, turn)
            turn.words(10)
            await reader.hears(turn.said)
            assert time.monotonic() - back < SOON + BUSY
            late = Reader(watches, turn.stream)
            turn.words(10)
            turn.say(ItemDone(Item(key="m_1", kind=Kind.ASSISTANT_MESSAGE, text=words(turn.said))))
            turn.end()
            for each in (reader, late):
                await each.ends()
                assert each.words == words(turn.said)
            assert speaks.away_since is None

    play(story())


def test_a_turn_that_ends_while_redis_is_away_is_told_when_it_is_back(server):
    async def story() -> None:
        async with processes(server.url, server.url) as (speaks, watches):
            turn = Turn(speaks)
            reader = Reader(watches, turn.stream)
            turn.words(3)
            await reader.hears(3)
            server.kill()
            turn.words(3)
            turn.end()
            await away(speaks)
            await asyncio.to_thread(server.start)
            await reader.ends()
            assert reader.words == words(6)

    play(story())


@pytest.mark.parametrize("whose", ["speaks", "watches"])
def test_a_line_that_is_cut_again_and_again_loses_and_doubles_nothing(shared, whose):
    async def story() -> None:
        async with line_to(shared.port) as line:
            urls = {"speaks": shared.url, "watches": shared.url} | {whose: line.url}
            async with processes(urls["speaks"], urls["watches"]) as (speaks, watches):
                turn = Turn(speaks)
                reader = Reader(watches, turn.stream)
                for _ in range(6):
                    turn.words(40)
                    await line.cut()
                    turn.words(40)
                    await asyncio.sleep(0.02)
                    await line.join()
                    turn.words(40)
                    await reader.hears(turn.said)
                turn.end()
                await reader.ends()

    play(story())


def test_a_line_that_is_gone_for_seconds_is_a_pause_and_nothing_else(shared):
    async def story() -> None:
        async with line_to(shared.port) as line, processes(line.url, line.url) as (speaks, watches):
            turn = Turn(speaks)
            reader = Reader(watches, turn.stream)
            turn.words(3)
            await reader.hears(3)
            await line.cut()
            began = time.monotonic()
            while time.monotonic() - began < 3:
                turn.words()
                await asyncio.sleep(0.05)
            await line.join()
            back = time.monotonic()
            await reader.hears(turn.said)
            assert time.monotonic() - back < SOON + BUSY

    play(story())


def test_a_line_that_carries_nothing_any_more_is_given_up(shared):
    """It looks like one on which nobody speaks."""

    async def story() -> None:
        async with line_to(shared.port) as line, processes(shared.url, line.url) as (speaks, watches):
            turn = Turn(speaks)
            reader = Reader(watches, turn.stream)
            turn.words(3)
            await reader.hears(3)
            line.block()
            turn.words(3)
            await reader.hears(6)
            turn.words(3)
            began = time.monotonic()
            await reader.hears(9)
            assert time.monotonic() - began < SOON + BUSY

    play(story())


def test_a_slow_line_holds_up_no_word_for_another(shared):
    """A word does not wait until those before it have arrived and were confirmed one by one."""

    async def story() -> None:
        async with line_to(shared.port) as line, processes(line.url, line.url) as (speaks, watches):
            turn = Turn(speaks)
            reader = Reader(watches, turn.stream)
            turn.words()
            await reader.hears(1)
            line.delay = 0.1
            began = time.monotonic()
            for _ in range(50):
                turn.words()
                await asyncio.sleep(0.01)
            await reader.hears(51)
            assert time.monotonic() - began < 5, "One by one they would take ten seconds."

    play(story())
