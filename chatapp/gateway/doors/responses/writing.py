"""Writes one response: the events of an answer in the protocol's words, and the whole of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from ....core import events
from ....core.events import Event, Finish, Usage
from ....core.items import Item, Kind
from ....core.values import word
from .. import door
from ..asked import ProgramRequest
from ..door import Frame, HowEnded, Wrong
from ..handed import Handed
from ..refusing import refuses
from .errors import in_response
from .growing import (
    GrowingCall,
    GrowingMessage,
    GrowingOutput,
    GrowingThought,
    is_other,
    others,
    wire_of,
)
from .response import completed, failed, incomplete, new_response
from .tools import in_namespaces

Json = dict[str, Any]
ENCRYPTED = "reasoning.encrypted_content"
WRITTEN = {Kind.REASONING: "rs_", Kind.ASSISTANT_MESSAGE: "msg_", Kind.TOOL_CALL: "fc_"}
INCOMPLETE = {Finish.LENGTH: "max_output_tokens", Finish.FILTER: "content_filter"}
CUT = Wrong(502, door.PROVIDER, "The provider ended the answer before it was whole.")
_PREFIX = re.compile(r"[a-z]{1,10}_")


def warmed(asked: ProgramRequest, handed: Handed, at: int) -> tuple[list[Frame], Json]:
    """The frames and the whole of a response without a word: its program only wants to go on from what it told."""
    writer = ResponseWriter(asked, asked.model, handed, at)
    frames = writer.begin() + writer.end(HowEnded(finish=Finish.STOP, usage=Usage(), at=at))
    return frames, writer.whole()


class ResponseWriter:
    def __init__(self, asked: ProgramRequest, model: str, handed: Handed, at: int) -> None:
        self._handed = handed
        self._response = new_response(asked, model, handed.response("resp_"), at)
        self._sealed = ENCRYPTED in (asked.body.get("include") or ())
        self._spelled = in_namespaces(asked.body)
        self._number = 0
        self._open: dict[str, GrowingOutput] = {}
        # Messages that have not said a word: what they are is known when they do.
        self._waiting: set[str] = set()
        self._over: set[str] = set()
        self._output: list[Json] = []

    def begin(self) -> list[Frame]:
        return [self._state("created"), self._state("in_progress")]

    def hear(self, event: Event) -> list[Frame]:
        match event:
            case events.ItemStarted():
                return self._frames(self._started(event))
            case events.ItemDelta():
                return self._frames(self._grown(event.key, event.text, refusing=event.refuses))
            case events.ItemDone() | events.ItemAmended():
                return self._frames(self._done(event.item))
            case events.Retrying():
                return self._frames(self._unfinished(event.lost))
            case (
                events.Asked()
                | events.Usage()
                | events.ResponseEnded()
                | events.Skipped()
                | events.Withheld()
                | events.Repaired()
                | events.Saving()
                | events.ItemsStored()
                | events.TurnEnded()
            ):
                return []
            case _:
                assert_never(event)

    def still_thinking(self) -> list[Frame]:
        """Said again: every client knows it, and learns nothing from it."""
        return [self._state("in_progress")]

    def end(self, ended: HowEnded) -> list[Frame]:
        if ended.finish is Finish.CUT:
            return self._failed(CUT, ended.usage)
        frames = self._frames(self._unfinished(tuple(self._open)))
        reason = INCOMPLETE.get(ended.finish)
        if reason:
            self._response |= incomplete(self._output, ended.usage, reason)
        else:
            self._response |= completed(self._output, ended.usage, ended.at)
        return [*frames, self._state(self._response["status"])]

    def fail(self, wrong: Wrong) -> list[Frame]:
        return self._failed(wrong, Usage())

    def _failed(self, wrong: Wrong, usage: Usage) -> list[Frame]:
        frames = self._frames(self._unfinished(tuple(self._open)))
        self._response |= failed(self._output, usage, in_response(wrong))
        return [*frames, self._state("failed")]

    def whole(self) -> Json:
        return self._response

    def _state(self, name: str) -> Frame:
        return self._frame({"type": f"response.{name}", "response": dict(self._response)})

    def _frames(self, said: Iterable[Json]) -> list[Frame]:
        return [self._frame(each) for each in said]

    def _frame(self, said: Json) -> Frame:
        frame = Frame(said["type"], {**said, "sequence_number": self._number})
        self._number += 1
        return frame

    def _started(self, event: events.ItemStarted) -> Iterator[Json]:
        if event.kind not in WRITTEN or event.key in self._open or event.key in self._over:
            return
        if event.kind is Kind.ASSISTANT_MESSAGE:
            self._waiting.add(event.key)
        else:
            yield self._begun(event.key, event.kind, event.name).added()

    def _grown(self, key: str, text: str, *, refusing: bool) -> Iterator[Json]:
        if key in self._waiting and text:
            yield self._begun(key, Kind.ASSISTANT_MESSAGE, refusing=refusing).added()
        if key in self._open:
            yield from self._open[key].grows(text)

    def _done(self, item: Item) -> Iterator[Json]:
        if item.kind not in WRITTEN or item.key in self._over:
            return
        if is_other(item) and item.key not in self._open:
            yield from self._of_other_kind(item)
            return
        growing = self._open.get(item.key)
        if growing is None:
            growing = self._begun(item.key, item.kind, item.name, refusing=refuses(item))
            self._name(growing, item)
            yield growing.added()
        self._name(growing, item)
        if isinstance(growing, GrowingThought) and self._sealed and not item.cut:
            growing.seal = self._handed.seal(item.key, word(wire_of(item).get("encrypted_content")))
        yield from self._ended(item.key, item)

    def _of_other_kind(self, item: Item) -> Iterator[Json]:
        prefix = _PREFIX.match(word(wire_of(item).get("id")))
        item_id = self._handed.item(prefix[0] if prefix else "item_", item.key)
        self._waiting.discard(item.key)
        self._over.add(item.key)
        given, said = others(item, item_id, len(self._output))
        self._output.append(given)
        yield from said

    def _unfinished(self, keys: Iterable[str]) -> Iterator[Json]:
        """They were seen, so they keep their places."""
        for key in keys:
            if key in self._open:
                yield from self._ended(key, None)
            self._waiting.discard(key)

    def _ended(self, key: str, item: Item | None) -> Iterator[Json]:
        growing = self._open.pop(key)
        self._over.add(key)
        said = list(growing.ends(item))
        self._output[growing.index] = said[-1]["item"]
        yield from said

    def _begun(self, key: str, kind: Kind, name: str = "", *, refusing: bool = False) -> GrowingOutput:
        growing = self._growing(key, kind, refusing=refusing)
        if isinstance(growing, GrowingCall):
            growing.namespace, growing.name = self._spelled.get(name, ("", name))
        self._waiting.discard(key)
        self._open[key] = growing
        self._output.append(growing.begun())
        return growing

    def _growing(self, key: str, kind: Kind, *, refusing: bool) -> GrowingOutput:
        item_id, index = self._handed.item(WRITTEN[kind], key), len(self._output)
        match kind:
            case Kind.REASONING:
                return GrowingThought(id=item_id, index=index)
            case Kind.TOOL_CALL:
                return GrowingCall(id=item_id, index=index, call_id=self._handed.item("call_", key))
            case _:
                return GrowingMessage(id=item_id, index=index, refuses=refusing)

    def _name(self, growing: GrowingOutput, item: Item) -> None:
        """As the program knows the function; a model of this dialect was told its namespace."""
        if isinstance(growing, GrowingCall):
            namespace, name = (word(wire_of(item).get(which)) for which in ("namespace", "name"))
            spelled = (namespace, name) if namespace else self._spelled.get(item.name, ("", item.name))
            growing.namespace, growing.name = spelled
