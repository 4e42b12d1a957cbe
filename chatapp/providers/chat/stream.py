"""Reads one streamed chat completion of any of the servers that speak this protocol, each in its own way."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ...core.events import Event, Finish, ResponseEnded, Skipped, Usage
from ...core.items import KeyMaker, Kind
from ...core.values import Json, count_in, fields, rows, word
from ...core.verbatim import loads
from ..base import Ask, Trouble
from ..refusals import trouble_error
from .growing_calls import GrowingCalls, says_something
from .growing_words import PARTS, REFUSAL, GrowingWords
from .refusals import error_in_stream, is_error_frame
from .tags import TaggedText, TagReader

DONE = "[DONE]"
# Where thoughts come; the first is preferred.
THOUGHTS = ("reasoning_content", "reasoning")
MOST_BLANK = 1000

_FINISHES = {
    "stop": Finish.STOP,
    "tool_calls": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "content_filter": Finish.FILTER,
    "sensitive": Finish.FILTER,
}
# OpenRouter, GLM and DeepSeek say so where their own server gave up.
_FAILURES = ("error", "network_error", "insufficient_system_resource")


class ChatParser:
    """Thoughts and text take turns as `_flow`; calls grow beside them until the response ends, since their pieces may come mixed."""

    def __init__(self, ask: Ask, keys: KeyMaker) -> None:
        self._ask, self._keys = ask, keys
        self._label = ask.who
        self._tags: TagReader | None = TagReader(*ask.contract.tags)
        self._before = ""
        self._blank = ""
        self._flow: GrowingWords | None = None
        # What details without words belong to: the last thought, or the text of a response that has none.
        self._sealed: GrowingWords | None = None
        self._amended = self._refused = self._text_began = False
        # Where the words of thoughts came first: what comes elsewhere says them once more.
        self._told_by_details: bool | None = None
        self._calls = GrowingCalls(ask, keys)
        self._usage: dict[str, int] = {}
        self._finish: Finish | None = None
        self._ended = False
        self._unread = ""

    def feed(self, event: str, data: str) -> list[Event]:
        data = data.strip()
        if self._ended or not data:
            return []
        if data == DONE:
            return self._end()
        frame = self._read(event, data)
        return self._unreadable(data) if frame is None else self._frame(frame)

    def close(self) -> list[Event]:
        if self._ended:
            return []
        if self._finish is None:
            self._cut_off()
        return self._end()

    def _cut_off(self) -> None:
        """The body ended without a mark that it is whole: what was said counts, as far as it came."""
        if not self._says_something:
            trouble = Trouble.GARBAGE if self._unread else Trouble.BROKEN
            raise trouble_error(trouble, self._label, self._unread, again=True)
        self._finish = Finish.CUT

    @property
    def _says_something(self) -> bool:
        return self._calls.any or self._text_began

    def _read(self, event: str, data: str) -> Json | None:
        """None where nobody can read it."""
        frame: Any = None
        with suppress(ValueError):
            frame = loads(data)
        if event == "error" or is_error_frame(frame):
            raise error_in_stream(self._label, frame, data)
        return frame if isinstance(frame, dict) else None

    def _unreadable(self, data: str) -> list[Event]:
        """Words can do without a frame that nobody can read. Arguments cannot: they might be wrong and still be valid."""
        self._unread = self._unread or data
        if self._calls.any:
            raise trouble_error(Trouble.GARBAGE, self._label, data)
        return [Skipped()]

    def _frame(self, frame: Json) -> list[Event]:
        self._count(frame.get("usage"))
        events: list[Event] = []
        for choice in rows(frame.get("choices")):
            if choice.get("index") in (None, 0):
                events += self._choice(choice)
        return events

    def _choice(self, choice: Json) -> list[Event]:
        delta = choice.get("delta")
        self._count(choice.get("usage"))
        events: list[Event] = []
        if isinstance(delta, dict):
            events += self._thoughts(delta)
            events += self._content(delta.get("content"))
            events += self._refusal(word(delta.get(REFUSAL)))
            for piece in rows(delta.get("tool_calls")):
                events += self._call(piece)
        reason = word(choice.get("finish_reason"))
        return events + self._finished(reason) if reason else events

    def _refusal(self, words: str) -> list[Event]:
        """The model's own words: an answer, whatever its server calls it."""
        self._refused = self._refused or bool(words)
        return self._text(words, REFUSAL)

    @property
    def _thinking(self) -> bool:
        return self._flow is not None and self._flow.kind is Kind.REASONING

    def _thoughts(self, delta: Json) -> list[Event]:
        """All fields are read; where a server sends several, they say the same, be it in frames of their own."""
        field = next((name for name in THOUGHTS if word(delta.get(name))), "")
        details = rows(delta.get("reasoning_details"))
        said = "".join(map(_words_in, details))
        if self._told_by_details is None and (field or said):
            self._told_by_details = not field
        words = word(delta[field]) if field else said if self._told_by_details else ""
        if words or self._thinking:
            return self._think(field, words, details) if words or details else []
        return self._seal(
            [row for row in details if row.get("data") or row.get("signature") or _words_in(row)]
        )

    def _seal(self, details: list[Json]) -> list[Event]:
        """Details without words belong to the thought before, or to the text where there was none; else they are one."""
        sealed = self._sealed or self._flow
        if sealed is None:
            return self._think("", "", details) if details else []
        for detail in details:
            sealed.add_detail(detail)
        self._amended = self._amended or (bool(details) and sealed.finished)
        return []

    def _think(self, field: str, words: str, details: list[Json]) -> list[Event]:
        if self._tags and not self._tags.begun:
            # The server has a parser after all: what it calls content is text.
            self._tags = None
        events, thought = self._grow(Kind.REASONING, field)
        thought.field = thought.field or field
        for detail in details:
            thought.add_detail(detail)
        is_known = field in THOUGHTS and self._told_by_details
        return events + thought.say("" if is_known else words, raw=words if field else "")

    def _content(self, content: Any) -> list[Event]:
        if isinstance(content, list):
            return [event for part in rows(content) for event in self._part(part)]
        text = word(content)
        if self._tags is None or not text:
            return self._text(text)
        return [event for said in self._tags.feed(text) for event in self._said(said)]

    def _part(self, part: Json) -> list[Event]:
        """Mistral's content in parts, thoughts among them."""
        thoughts = part.get("thinking")
        if part.get("type") != "thinking":
            return self._text(word(part.get("text")))
        words = word(thoughts) or "".join(word(row.get("text")) for row in rows(thoughts))
        return self._think(PARTS, words, []) if words else []

    def _said(self, said: TaggedText) -> list[Event]:
        if not said.thought:
            return self._text(said.words)
        if not said.words and not self._thinking:
            self._before += said.raw
            return []
        events, thought = self._grow(Kind.REASONING, "content")
        raw, self._before = self._before + said.raw, ""
        return events + thought.say(said.words, raw=raw)

    def _text(self, text: str, field: str = "content") -> list[Event]:
        """White space before the first word is held: alone it neither ends a thought nor is an answer."""
        if not text:
            return []
        if not self._goes_on(Kind.ASSISTANT_MESSAGE, field):
            self._blank += text
            if not text.strip() and len(self._blank) < MOST_BLANK:
                return []
            text = self._blank
        self._text_began = True
        events, item = self._grow(Kind.ASSISTANT_MESSAGE, field)
        return events + item.say(text)

    def _grow(self, kind: Kind, field: str) -> tuple[list[Event], GrowingWords]:
        if self._flow is not None and self._goes_on(kind, field):
            return [], self._flow
        events = self._close_flow()
        self._flow = GrowingWords(self._ask, self._keys.take(), kind, field)
        return [*events, self._flow.started()], self._flow

    def _goes_on(self, kind: Kind, field: str) -> bool:
        """Words and a refusal are two items: they go back in fields of their own."""
        flow = self._flow
        return flow is not None and flow.kind is kind and (flow.field == REFUSAL) == (field == REFUSAL)

    def _close_flow(self) -> list[Event]:
        self._blank = ""
        flow, self._flow = self._flow, None
        if flow is None:
            return []
        if flow.kind is Kind.REASONING or self._sealed is None:
            self._sealed = flow
        return flow.done()

    def _call(self, piece: Json) -> list[Event]:
        call = self._calls.find(piece)
        if call is not None:
            return [] if call.finished else call.add_call_piece(piece)
        if not says_something(piece):
            return []
        events = self._flush_tags() + self._close_flow()
        call = self._calls.start(piece)
        return [*events, call.started(), *call.add_call_piece(piece)]

    def _flush_tags(self) -> list[Event]:
        return [event for said in self._tags.flush() for event in self._said(said)] if self._tags else []

    def _finished(self, reason: str) -> list[Event]:
        if reason in _FAILURES:
            raise trouble_error(Trouble.BROKEN, self._label, reason, again=True)
        self._finish = self._finish or _FINISHES.get(reason, Finish.STOP)
        return (
            self._flush_tags() + self._own_up() if self._finish is Finish.STOP else []
        ) + self._close_all()

    def _own_up(self) -> list[Event]:
        """What looked like thoughts never ended, and nothing came behind it: it was the answer."""
        thought = self._flow
        if not (self._tags and self._tags.never_closed and thought and self._thinking) or self._calls.any:
            return []
        words = thought.take_back()
        return self._close_flow() + self._text(words)

    def _close_all(self) -> list[Event]:
        return self._flush_tags() + self._close_flow() + self._calls.done()

    def _amend(self) -> list[Event]:
        return [self._sealed.amended()] if self._sealed and self._amended else []

    def _end(self) -> list[Event]:
        self._ended = True
        events = [] if self._finish else self._finished("stop")
        events += self._close_all() + self._amend()
        if self._usage:
            events.append(Usage(**self._usage))
        finish = self._finish or Finish.STOP
        if finish is Finish.FILTER and self._refused:
            finish = Finish.STOP
        if finish in (Finish.STOP, Finish.TOOL_CALLS):
            # Some servers call it a stop where they call tools.
            finish = Finish.TOOL_CALLS if self._calls.any else Finish.STOP
        return [*events, ResponseEnded(finish)]

    def _count(self, usage: Any) -> None:
        """The last known numbers: usage comes with the finish, after it, or again and again."""
        if not isinstance(usage, dict):
            return
        prompt, output = (
            fields(usage.get("prompt_tokens_details")),
            fields(usage.get("completion_tokens_details")),
        )
        cached = prompt.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")
        found = {
            "input": count_in(usage.get("prompt_tokens")),
            "cached": next((count for count in map(count_in, cached) if count is not None), None),
            "cache_written": count_in(prompt.get("cache_write_tokens")),
            "output": count_in(usage.get("completion_tokens")),
            "reasoning": count_in(output.get("reasoning_tokens")),
        }
        self._usage |= {name: count for name, count in found.items() if count is not None}


def _words_in(detail: Json) -> str:
    return word(detail.get("text")) or word(detail.get("summary"))
