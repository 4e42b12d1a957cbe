"""How a turn looks in a terminal: for people, with a running clock, and for scripts, one event a line."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO
from uuid import UUID

from chatapp.core import events
from chatapp.core.draft import Draft
from chatapp.core.durations import thinking_in_words, thought_in_words
from chatapp.core.items import Kind
from chatapp.management.flowing import BOLD, DIM, RED, Flowing, terminal_width
from chatapp.store.models import Message, Status
from chatapp.turns.loop import CUT_SHORT
from chatapp.turns.watching import News


class JsonLines:
    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    def begin(self, conversation: UUID, answer: UUID, model: str) -> None:
        self._line(
            {"event": "turn", "conversation": str(conversation), "message": str(answer), "model": model}
        )

    def show(self, news: News) -> None:
        for said in news.said:
            self._line(
                {"n": said.n, "attempt": news.attempt, "at_ms": round(said.at), **events.as_dict(said.event)}
            )

    def end(self, row: Message) -> None:
        self._line({"event": "ended", "status": row.status, "metadata": row.metadata})

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        yield

    def _line(self, values: dict[str, Any]) -> None:
        print(json.dumps(values), file=self._out, flush=True)


class Terminal:
    def __init__(self, out: TextIO | None = None, width: Callable[[], int] = terminal_width) -> None:
        self._text = Flowing(out or sys.stdout, width)
        self._attempt = 0
        self._draft = Draft()
        self._since = 0.0
        self._clock = asyncio.get_running_loop().time

    def begin(self, conversation: UUID, answer: UUID, model: str) -> None:
        self._text.say(f"{model} · conversation {conversation}\n", DIM)

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
        self._text.wipe()
        self._on_new_line("")
        ended = row.metadata.get("ended", {})
        for key, ms in row.metadata.get("reasoning_durations_ms", {}).items():
            if row.metadata["timings_ms"].get(key, {}).get("cut"):
                self._text.say(thought_in_words(ms, cut=row.status) + "\n", DIM)
        if row.status != Status.COMPLETE:
            self._text.say(
                f"{ended.get('sentence') or _ending_in_words(row.status, ended.get('reason', ''))}\n", RED
            )

    def ask(self, words: str) -> None:
        self._on_new_line(words, BOLD)

    @asynccontextmanager
    async def ticking(self) -> AsyncIterator[None]:
        """The clock below the text runs while a thought is open."""
        task = asyncio.create_task(self._tick()) if self._text.at_terminal else None
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
        if ms is not None:
            self._text.draw_below(thinking_in_words(ms))

    def _thinking_ms(self) -> float | None:
        for piece in self._draft.pieces.values():
            span = self._draft.clock.spans[piece.key]
            if piece.kind is Kind.REASONING and span.end is None:
                return (self._clock() - self._since) * 1000 - span.start
        return None

    def _event(self, event: events.Event) -> None:
        match event:
            case events.ItemStarted(kind=Kind.TOOL_CALL):
                self._on_new_line(f"{event.name} ", BOLD)
            case events.ItemStarted(kind=Kind.TOOL_RESULT):
                pass
            case events.ItemStarted():
                self._on_new_line("")
            case events.ItemDelta() if self._draft.pieces[event.key].kind is Kind.TOOL_RESULT:
                self._on_new_line(event.text, DIM)
            case events.ItemDelta():
                self._text.say(event.text, self._voice(event.key))
            case events.ItemDone():
                self._finish(event)
            case events.Retrying() | events.Repaired() | events.Saving():
                self._on_new_line(event.sentence + "\n", DIM)
            case (
                events.Asked()
                | events.Usage()
                | events.ResponseEnded()
                | events.ItemAmended()
                | events.Skipped()
                | events.Withheld()
                | events.ItemsStored()
                | events.TurnEnded()
            ):
                pass
        self._draw()

    def _finish(self, event: events.ItemDone) -> None:
        item = event.item
        if item.kind is Kind.REASONING:
            ms = self._draft.clock.spans[item.key].ms(self._draft.at)
            self._on_new_line(thought_in_words(ms) + "\n", DIM)
        elif item.kind is Kind.TOOL_RESULT:
            self._on_new_line(f"→ {item.text}\n", DIM)
        else:
            self._text.say("\n")

    def _voice(self, key: str) -> str:
        return DIM if self._draft.pieces[key].kind is not Kind.ASSISTANT_MESSAGE else ""

    def _on_new_line(self, text: str, colour: str = "") -> None:
        if not self._text.fresh_line:
            self._text.say("\n")
        self._text.say(text, colour)


def _ending_in_words(status: str, reason: str) -> str:
    if status == Status.WAITING:
        return "The answer waits for somebody to allow a call. Decide on its page, or here at a terminal."
    return CUT_SHORT[events.Finish(reason)] if reason in list(CUT_SHORT) else f"The answer was {status}."
