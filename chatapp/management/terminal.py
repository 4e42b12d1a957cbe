"""How a turn looks in a terminal: for people, with a running clock, and for scripts, one event a line."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO
from uuid import UUID

from chatapp.core.draft import Draft
from chatapp.core.durations import thinking_in_words, thought_in_words
from chatapp.core.events import (
    Event,
    Finish,
    ItemDelta,
    ItemDone,
    ItemStarted,
    Repaired,
    Retrying,
    Saving,
    as_dict,
)
from chatapp.core.items import Kind
from chatapp.management.columns import column_after
from chatapp.models import Message, Status
from chatapp.turns.loop import CUT_SHORT
from chatapp.turns.watching import News

DIM, BOLD, RED, PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[0m"


class JsonLines:
    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    def begin(self, conversation: UUID, answer: UUID, model: str) -> None:
        self._line(
            {"event": "turn", "conversation": str(conversation), "message": str(answer), "model": model}
        )

    def show(self, news: News) -> None:
        for said in news.said:
            self._line({"n": said.n, "attempt": news.attempt, "at_ms": round(said.at), **as_dict(said.event)})

    def end(self, row: Message) -> None:
        self._line({"event": "ended", "status": row.status, "metadata": row.metadata})

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        yield

    def _line(self, values: dict[str, Any]) -> None:
        print(json.dumps(values), file=self._out, flush=True)


def _window() -> int:
    return shutil.get_terminal_size().columns


class Terminal:
    def __init__(self, out: TextIO | None = None, width: Callable[[], int] = _window) -> None:
        self._out, self._width = out or sys.stdout, width
        self._live = self._out.isatty()
        self._attempt = 0
        self._draft = Draft()
        self._since = 0.0
        self._clock = asyncio.get_running_loop().time
        self._fresh_line, self._column = True, 0
        self._clock_stands, self._broken_early = False, False

    def begin(self, conversation: UUID, answer: UUID, model: str) -> None:
        self._say(f"{model} · conversation {conversation}\n", DIM)

    def show(self, news: News) -> None:
        if self._attempt and news.attempt != self._attempt:
            self._on_new_line(f"The answer begins again (attempt {news.attempt}).\n", DIM)
        if news.attempt != self._attempt:
            self._attempt, self._draft = news.attempt, Draft()
        for said in news.said:
            self._draft.apply(said.event, said.at)
            self._since = self._clock() - said.at / 1000
            self._event(said.event)

    def end(self, row: Message) -> None:
        self._wipe()
        if not self._fresh_line:
            self._say("\n")
        ended = row.metadata.get("ended", {})
        for key, ms in row.metadata.get("reasoning_durations_ms", {}).items():
            if row.metadata["timings_ms"].get(key, {}).get("cut"):
                self._say(thought_in_words(ms, cut=row.status) + "\n", DIM)
        if row.status != Status.COMPLETE:
            self._say(f"{ended.get('sentence') or _word(row.status, ended.get('reason', ''))}\n", RED)

    def ask(self, words: str) -> None:
        self._on_new_line(words, BOLD)

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        """The clock below the text runs while a thought is open."""
        task = asyncio.create_task(self._tick()) if self._live else None
        try:
            yield
        finally:
            if task:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.25)
            self._draw()

    def _draw(self) -> None:
        ms = self._thinking_ms()
        if self._live and ms is not None:
            self._leave_the_edge()
            # A line is made below before the place is kept: at the bottom of the window that moves everything up.
            status = f"{DIM}{thinking_in_words(ms)[: self._width() - 1]}{PLAIN}"
            self._raw(f"\x1bD\x1b[A\x1b7\x1b[B\r\x1b[K{status}\x1b8")
            self._clock_stands = True

    def _wipe(self) -> None:
        if self._clock_stands:
            self._raw("\x1b7\x1b[B\r\x1b[K\x1b8")
            self._clock_stands = False

    def _leave_the_edge(self) -> None:
        """Behind a full line a terminal waits with its line break, and forgets it when the cursor moves."""
        if self._column >= self._width():
            self._raw("\n")
            self._column, self._broken_early = 0, True

    def _thinking_ms(self) -> float | None:
        for piece in self._draft.pieces.values():
            span = self._draft.clock.spans[piece.key]
            if piece.kind is Kind.REASONING and span.end is None:
                return (self._clock() - self._since) * 1000 - span.start
        return None

    def _event(self, event: Event) -> None:
        match event:
            case ItemStarted(kind=Kind.TOOL_CALL):
                self._on_new_line(f"{event.name} ", BOLD)
            case ItemStarted(kind=Kind.TOOL_RESULT):
                pass
            case ItemStarted():
                self._on_new_line("")
            case ItemDelta() if self._draft.pieces[event.key].kind is Kind.TOOL_RESULT:
                self._on_new_line(event.text, DIM)
            case ItemDelta():
                self._say(event.text, self._voice(event.key))
            case ItemDone():
                self._finish(event)
            case Retrying() | Repaired() | Saving():
                self._on_new_line(event.sentence + "\n", DIM)
            case _:
                pass
        self._draw()

    def _finish(self, event: ItemDone) -> None:
        item = event.item
        if item.kind is Kind.REASONING:
            ms = self._draft.clock.spans[item.key].ms(self._draft.at)
            self._on_new_line(thought_in_words(ms) + "\n", DIM)
        elif item.kind is Kind.TOOL_RESULT:
            self._on_new_line(f"→ {item.text}\n", DIM)
        else:
            self._say("\n")

    def _voice(self, key: str) -> str:
        return DIM if self._draft.pieces[key].kind is not Kind.ASSISTANT_MESSAGE else ""

    def _on_new_line(self, text: str, colour: str = "") -> None:
        if not self._fresh_line:
            self._say("\n")
        self._say(text, colour)

    def _say(self, text: str, colour: str = "") -> None:
        if not text:
            return
        text = _harmless(text)
        self._wipe()
        shown = text.removeprefix("\n") if self._broken_early else text
        self._raw(f"{colour}{shown}{PLAIN}" if self._live and colour else shown)
        self._fresh_line, self._broken_early = text.endswith("\n"), False
        self._column = column_after(shown, self._column, self._width())

    def _raw(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _harmless(text: str) -> str:
    """A model's text must not steer the terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)


def _word(status: str, reason: str) -> str:
    if status == Status.WAITING:
        return "The answer waits for somebody to allow a call. Decide on its page, or here at a terminal."
    return CUT_SHORT[Finish(reason)] if reason in list(CUT_SHORT) else f"The answer was {status}."
