"""What waits for one socket: joined, numbered, held back where the page does not keep up, and given up in the end."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.live.outbox import PIECE, WAITING, Outbox, Stuck
from chatapp.pages import operations
from tests.support.frames import Frames
from tests.support.patience import PATIENCE

WINDOW = 1000
TEXT_A, TEXT_B, SAY = operations.text("a", "1"), operations.text("b", "1"), operations.say("news")


class Line:
    """What went out. `broken`: nothing can be sent any more."""

    def __init__(self, **limits) -> None:
        self.frames: list[str] = []
        self.outbox = Outbox(self._send, **({"window": WINDOW, "between": 0} | limits))
        self._more = asyncio.Event()
        self.work = asyncio.create_task(self.outbox.run())

    def _send(self, frame: str) -> None:
        self.frames.append(frame)
        self._more.set()

    async def has_sent(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while len(self.frames) < count:
                self._more.clear()
                await self._more.wait()

    async def is_quiet(self) -> None:
        """Nothing goes out, however often the loop turns."""
        before = len(self.frames)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(self.frames) == before

    @property
    def said(self) -> list:
        frames = Frames()
        return [operation for frame in self.frames for operation in frames.read(frame)]


def play(story) -> None:
    async def all_of_it():
        before = asyncio.all_tasks()
        await story()
        for task in asyncio.all_tasks() - before:
            task.cancel()

    asyncio.run(all_of_it())


def test_what_is_one_word_goes_out_like_all_else():
    async def story():
        line = Line()
        line.outbox.add(operations.relist())
        await line.has_sent(1)
        line.outbox.add(operations.relist(), SAY)
        await line.has_sent(2)
        assert line.said == [["relist"], ["relist"], SAY]

    play(story)


def test_letters_that_wait_for_one_body_are_joined_and_nothing_else_is_touched():
    async def story():
        line = Line()
        line.outbox.add(operations.text("a", "1"), operations.text("a", "2"), operations.text("b", "3"))
        line.outbox.add(operations.say("news"), operations.text("b", "4"), operations.text("b", "5"))
        await line.has_sent(1)
        assert line.said == [["text", "a", "12"], ["text", "b", "3"], ["say", "news"], ["text", "b", "45"]]

    play(story)


def test_letters_alone_go_out_as_they_are_where_the_page_knows_for_which_body():
    async def story():
        line = Line()
        for count, operation in enumerate([TEXT_A, TEXT_A, SAY, TEXT_A, TEXT_B, TEXT_B, TEXT_A], start=1):
            line.outbox.add(operation)
            await line.has_sent(count)
        assert line.said == [TEXT_A, TEXT_A, SAY, TEXT_A, TEXT_B, TEXT_B, TEXT_A]
        assert [frame == '"1"' for frame in line.frames] == [False, True, False, True, False, True, False]

    play(story)


@pytest.mark.parametrize("sign", ["\u6f22", "+", "="])
def test_what_is_too_long_for_one_message_goes_in_pieces_that_are_read_one_by_one(sign):
    """Whatever a piece begins with."""

    async def story():
        line, words = Line(window=PIECE), sign * 3 * PIECE
        line.outbox.add(operations.say(words))
        for count in range(1, 5):
            await line.has_sent(count)
            await line.is_quiet()
            assert len(line.frames) == count, "one window at a time, inside one frame too"
            line.outbox.read(count)
        assert line.said == [operations.say(words)]
        assert max(map(len, line.frames)) <= PIECE + 1

    play(story)


def test_a_page_that_acknowledges_nothing_gets_no_more_than_the_window_and_one_frame():
    async def story():
        line = Line()
        for _ in range(100):
            line.outbox.add(operations.say("x" * 300))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await line.is_quiet()
        assert WINDOW < sum(map(len, line.frames)) < WINDOW + 400
        line.outbox.read(len(line.frames))
        await line.has_sent(len(line.frames) + 1)
        assert len(line.said) == 100, "what waited comes in one frame"

    play(story)


@pytest.mark.parametrize("numbers", [(0,), (1,), (1, 1, 1, 0)], ids=str)
def test_only_frames_that_were_read_make_room(numbers):
    async def story():
        line = Line()
        for count in (1, 2):
            line.outbox.add(operations.say("x" * WINDOW))
            if count == 1:
                await line.has_sent(1)
        line.outbox.add(operations.say("more"))
        for number in numbers:
            line.outbox.read(number)
        if 1 in numbers:
            await line.has_sent(2)
        else:
            await line.is_quiet()

    play(story)


def test_a_page_that_claims_to_have_read_what_was_never_sent_gains_nothing():
    async def story():
        line = Line()
        line.outbox.read(10**12)
        for _ in range(10):
            line.outbox.add(operations.say("x" * WINDOW))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await line.is_quiet()
        assert len(line.frames) == 1

    play(story)


def test_whoever_does_not_read_for_too_long_is_given_up():
    async def story():
        line = Line(patience=0.02)
        line.outbox.add(operations.say("x" * (WINDOW + 1)))
        await line.has_sent(1)
        line.outbox.add(operations.say("more"))
        with pytest.raises(Stuck):
            await asyncio.wait_for(line.work, PATIENCE)

    play(story)


def test_whoever_owes_nothing_is_never_given_up():
    async def story():
        line = Line(patience=0.01)
        for count in range(1, 6):
            line.outbox.add(operations.say("x" * (WINDOW + 1)))
            await line.has_sent(count)
            line.outbox.read(count)
            await asyncio.sleep(0.01)
        assert not line.work.done()

    play(story)


def test_whoever_makes_news_waits_while_much_of_it_waits():
    async def story():
        line = Line()
        line.outbox.add(operations.say("x" * (WINDOW + 1)))
        await line.has_sent(1)
        await asyncio.wait_for(line.outbox.room(), PATIENCE)
        line.outbox.add(operations.text("a", "x" * (WAITING + 1)))
        making = asyncio.create_task(line.outbox.room())
        await line.is_quiet()
        assert not making.done()
        line.outbox.read(1)
        await asyncio.wait_for(making, PATIENCE)

    play(story)


def test_what_comes_soon_after_a_message_goes_with_the_next():
    async def story():
        line = Line(between=0.05, at_once=1)
        line.outbox.add(TEXT_A)
        await line.has_sent(1)
        for _ in range(9):
            line.outbox.add(TEXT_A)
            await asyncio.sleep(0)
        await line.has_sent(2)
        assert line.said == [TEXT_A, operations.text("a", "1" * 9)]

    play(story)


def test_after_a_silence_a_few_messages_follow_each_other_at_once():
    async def story():
        line = Line(between=60, at_once=3)
        await line.is_quiet()
        for count in (1, 2, 3):
            line.outbox.add(TEXT_A)
            assert len(line.frames) == count
        line.outbox.add(TEXT_A)
        await line.is_quiet()

    play(story)


def test_letters_go_out_in_the_moment_they_are_added():
    async def story():
        line = Line()
        await line.is_quiet()
        for count in (1, 2, 3):
            line.outbox.add(TEXT_A)
            assert len(line.frames) == count

    play(story)


def test_what_is_added_in_one_turn_of_the_loop_goes_together():
    async def story():
        line = Line()
        await line.is_quiet()
        line.outbox.add(SAY)
        line.outbox.add(TEXT_A)
        line.outbox.add(TEXT_B)
        await line.has_sent(1)
        assert line.said == [SAY, TEXT_A, TEXT_B]

    play(story)


def test_a_line_that_breaks_ends_the_sending():
    async def story():
        def broken(frame: str) -> None:
            raise LookupError

        outbox = Outbox(broken)
        work = asyncio.create_task(outbox.run())
        await asyncio.sleep(0)
        outbox.add(TEXT_A)
        with pytest.raises(LookupError):
            await asyncio.wait_for(work, PATIENCE)

    play(story)
