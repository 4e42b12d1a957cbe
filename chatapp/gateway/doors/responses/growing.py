"""Items of the answer while they grow: what each says in the stream, and what it is in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ....core.items import Item
from ....core.values import fields, rows, word
from ..refusing import REFUSAL
from .tools import DIALECT

Json = dict[str, Any]
COMPLETED, INCOMPLETE = "completed", "incomplete"
NO_ARGUMENTS = "{}"


@dataclass(slots=True, kw_only=True)
class GrowingOutput:
    """An item that was begun, at its place in the output. Events come without their number."""

    id: str
    index: int
    text: list[str] = field(default_factory=list)
    part: str = ""

    def added(self) -> Json:
        return {"type": "response.output_item.added", "output_index": self.index, "item": self.begun()}

    def grows(self, text: str) -> Iterator[Json]:
        if not text:
            return
        if not self.text:
            yield from self._opened()
        self.text.append(text)
        yield from self._delta(text)

    def ends(self, item: Item | None) -> Iterator[Json]:
        """None: it was never finished. What the stream has not said of it yet is said now."""
        said = "".join(self.text)
        text = self._final(item, said)
        if text.startswith(said):
            yield from self.grows(text[len(said) :])
        yield from self._closed(item, text)
        yield {"type": "response.output_item.done", "output_index": self.index, "item": self.done(item, text)}

    def _final(self, item: Item | None, said: str) -> str:
        return said if item is None else item.text

    def _of_item(self, event: str, **values: Any) -> Json:
        return {
            "type": f"response.{event}",
            "item_id": self.id,
            "output_index": self.index,
            **values,
        }

    def begun(self) -> Json:
        raise NotImplementedError

    def done(self, item: Item | None, text: str) -> Json:
        raise NotImplementedError

    def _opened(self) -> Iterator[Json]:
        raise NotImplementedError

    def _delta(self, text: str) -> Iterator[Json]:
        raise NotImplementedError

    def _closed(self, item: Item | None, text: str) -> Iterator[Json]:
        raise NotImplementedError


@dataclass(slots=True, kw_only=True)
class GrowingThought(GrowingOutput):
    """`seal`: what goes out in the place of its encrypted content, once it is finished; "" where none was asked for."""

    seal: str = ""

    def begun(self) -> Json:
        return {"id": self.id, "type": "reasoning", "summary": []}

    def done(self, item: Item | None, text: str) -> Json:
        sealed = {"encrypted_content": self.seal} if self.seal else {}
        return {**self.begun(), "summary": [_summary(text)] if self.text else [], **sealed}

    def _opened(self) -> Iterator[Json]:
        yield self._of_item("reasoning_summary_part.added", summary_index=0, part=_summary(""))

    def _delta(self, text: str) -> Iterator[Json]:
        yield self._of_item("reasoning_summary_text.delta", summary_index=0, delta=text)

    def _closed(self, item: Item | None, text: str) -> Iterator[Json]:
        if self.text:
            yield self._of_item("reasoning_summary_text.done", summary_index=0, text=text)
            yield self._of_item("reasoning_summary_part.done", summary_index=0, part=_summary(text))


@dataclass(slots=True, kw_only=True)
class GrowingMessage(GrowingOutput):
    """`refuses`: as its first words do."""

    refuses: bool = False

    def begun(self) -> Json:
        return self._message("in_progress", [])

    def done(self, item: Item | None, text: str) -> Json:
        content = [self._part(item, text)] if self.text else []
        return self._message(_status(item), content) | _phase(item)

    def _message(self, status: str, content: list[Json]) -> Json:
        return {
            "id": self.id,
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": content,
        }

    def _part(self, item: Item | None, text: str) -> Json:
        if self.refuses:
            return {"type": REFUSAL, REFUSAL: text}
        return {"type": "output_text", "text": text, "annotations": _annotations(item), "logprobs": []}

    def _opened(self) -> Iterator[Json]:
        yield self._of_item("content_part.added", content_index=0, part=self._part(None, ""))

    def _delta(self, text: str) -> Iterator[Json]:
        if self.refuses:
            yield self._of_item("refusal.delta", content_index=0, delta=text)
        else:
            yield self._of_item("output_text.delta", content_index=0, delta=text, logprobs=[])

    def _closed(self, item: Item | None, text: str) -> Iterator[Json]:
        if not self.text:
            return
        if self.refuses:
            yield self._of_item("refusal.done", content_index=0, refusal=text)
        else:
            yield self._of_item("output_text.done", content_index=0, text=text, logprobs=[])
        yield self._of_item("content_part.done", content_index=0, part=self._part(item, text))


@dataclass(slots=True, kw_only=True)
class GrowingCall(GrowingOutput):
    """`namespace`: where the program has the function, if it has it in one."""

    call_id: str
    name: str = ""
    namespace: str = ""

    def begun(self) -> Json:
        return self._call("in_progress", "")

    def done(self, item: Item | None, text: str) -> Json:
        return self._call(_status(item), text)

    def _call(self, status: str, arguments: str) -> Json:
        inside = {"namespace": self.namespace} if self.namespace else {}
        return {
            "id": self.id,
            "type": "function_call",
            "status": status,
            "arguments": arguments,
            "call_id": self.call_id,
            "name": self.name,
            **inside,
        }

    def _final(self, item: Item | None, said: str) -> str:
        """Programs read the arguments as JSON, where a model wrote none as well."""
        if item is None:
            return said
        return item.text if item.cut else item.text or NO_ARGUMENTS

    def _opened(self) -> Iterator[Json]:
        return iter(())

    def _delta(self, text: str) -> Iterator[Json]:
        yield self._of_item("function_call_arguments.delta", delta=text)

    def _closed(self, item: Item | None, text: str) -> Iterator[Json]:
        yield self._of_item("function_call_arguments.done", arguments=text, name=self.name)


def others(item: Item, item_id: str, index: int) -> tuple[Json, list[Json]]:
    """An item of a kind that this dialect alone knows, as it came, under our id; and what the stream says of it."""
    given = {**item.wire, "id": item_id}
    added = {"type": "response.output_item.added", "output_index": index, "item": given}
    return given, [added, added | {"type": "response.output_item.done"}]


def is_other(item: Item) -> bool:
    kind = wire_of(item).get("type")
    return isinstance(kind, str) and kind not in ("", "message", "reasoning", "function_call")


def wire_of(item: Item | None) -> Json:
    """What only a model of this dialect says."""
    return fields(item.wire) if item is not None and item.dialect == DIALECT else {}


def _summary(text: str) -> Json:
    return {"type": "summary_text", "text": text}


def _status(item: Item | None) -> str:
    return INCOMPLETE if item is None or item.cut else COMPLETED


def _phase(item: Item | None) -> Json:
    phase = word(wire_of(item).get("phase"))
    return {"phase": phase} if phase else {}


def _annotations(item: Item | None) -> list[Json]:
    """Their places are counted inside one part, so only a message of one part keeps them."""
    parts = rows(wire_of(item).get("content"))
    return rows(parts[0].get("annotations")) if len(parts) == 1 else []
