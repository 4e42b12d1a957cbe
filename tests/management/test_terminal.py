"""At a terminal a clock runs below the thought, and takes no word away."""

from __future__ import annotations

import asyncio
from io import StringIO
from uuid import UUID

import pytest

from chatapp.core.events import Asked, ItemDelta, ItemDone, ItemStarted, Retrying
from chatapp.core.items import Item, Kind
from chatapp.management.columns import column_after
from chatapp.management.terminal import Terminal
from chatapp.turns.live import LiveEvent
from chatapp.turns.watching import News

from .screen import Screen

THOUGHT = "".join(f"thought{n} " for n in range(150)).strip()
ANSWER = "".join(f"answer{n} " for n in range(150)).strip()


def pieces(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def item(key, kind, text):
    return Item(key=key, kind=kind, text=text, provider="demo", dialect="demo", model="thinker", round=0)


def turn(size):
    yield Asked(0)
    for key, kind, text in (("a", Kind.REASONING, THOUGHT), ("b", Kind.ASSISTANT_MESSAGE, ANSWER)):
        yield ItemStarted(key, kind)
        for piece in pieces(text, size):
            yield ItemDelta(key, piece)
        yield ItemDone(item(key, kind, text))


def shown(screen, size):
    async def show():
        terminal = Terminal(screen, width=lambda: screen.columns)
        for n, event in enumerate(turn(size), 1):
            terminal.show(News(1, [LiveEvent(n, 1.0, event)]))

    asyncio.run(show())
    return screen


@pytest.mark.parametrize("size", [1, 3, 7, 20, 60, 5000])
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (60, 24), (60, 2), (13, 5)])
@pytest.mark.parametrize("lines_above", [0, 23])
def test_no_letter_is_lost_or_moved_wherever_the_cursor_is(columns, rows, lines_above, size):
    screen = Screen(columns, rows)
    screen.write("$\n" * lines_above)
    words = shown(screen, size).text().replace("\n", " ").split()
    wanted = [*THOUGHT.split(), "Thought", "for", "1", "second", *ANSWER.split()]
    assert "".join(words).lstrip("$") == "".join(wanted)


def test_the_clock_stands_below_while_the_thought_is_open_and_is_gone_after_it():
    screen = Screen(60, 3)

    async def show():
        terminal = Terminal(screen, width=lambda: screen.columns)
        terminal.show(News(1, [LiveEvent(1, 1.0, ItemStarted("a", Kind.REASONING))]))
        terminal.show(News(1, [LiveEvent(2, 2.0, ItemDelta("a", "x" * 60))]))
        assert "Thinking for 1 s" in screen.text()
        terminal.show(News(1, [LiveEvent(3, 3.0, ItemDone(item("a", Kind.REASONING, "x" * 60)))]))
        assert "Thinking for" not in screen.text()
        assert [line for line in screen.lines if line] == ["x" * 60, "Thought for 1 second"]

    asyncio.run(show())


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 0),
        ("abc", 3),
        ("a" * 10, 10),
        ("a" * 11, 1),
        ("a\n", 0),
        ("日" * 5, 10),
        ("a\t", 8),
        ("नु" * 4, 4),
        ("❤\ufe0e", 1),
    ],
)
def test_the_column_of_a_texts_end(text, column):
    assert column_after(text, 0, 10) == column


NOBODY = UUID(int=0)
STEERING = [
    "\x1b]52;c;aGk=\x07",
    "\x1b[2J",
    "\x9b2J",
    "\r",
    "\b",
    "\x00",
    "\u202e",
    "\u2066",
    "\u2028",
    "\x85",
]


class Window(StringIO):
    def isatty(self) -> bool:
        return True


def all_that_strangers_say(terminal, words):
    call = ItemStarted("a", Kind.TOOL_CALL, name=f"tool{words}")
    said = [
        ItemStarted("b", Kind.REASONING),
        ItemDelta("b", words),
        ItemDone(item("b", Kind.REASONING, words)),
    ]
    result = [ItemStarted("c", Kind.TOOL_RESULT), ItemDone(item("c", Kind.TOOL_RESULT, words))]
    events = [call, ItemDelta("a", words), *said, *result, Retrying(1.0, words)]
    terminal.begin(NOBODY, NOBODY, words)
    terminal.show(News(1, [LiveEvent(n, 1.0, event) for n, event in enumerate(events, 1)]))
    terminal.ask(f"Run {words}?")


@pytest.mark.parametrize("words", STEERING)
def test_nothing_that_strangers_say_steers_the_terminal(words):
    async def show(out, words):
        all_that_strangers_say(Terminal(out, width=lambda: 80), words)
        return out.getvalue()

    plain = words.translate({ord(sign): "\ufffd" for sign in words if not sign.isprintable()})
    assert plain != words
    for out in (StringIO, Window):
        assert asyncio.run(show(out(), words)) == asyncio.run(show(out(), plain))
