"""What the tests of this door say, and how they hear it: requests, items, and a client that accumulates a stream."""

from __future__ import annotations

from typing import Any

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, Usage
from chatapp.core.items import Item, Kind
from chatapp.gateway.doors.door import Frame, HowEnded, Wrong
from chatapp.gateway.doors.handed import Handed
from chatapp.gateway.doors.responses import DOOR

Json = dict[str, Any]
SECRET = "0123456789abcdefghjkmnpqrs"
AT = 1_764_967_971
USED = Usage(input=10, cached=4, output=7, reasoning=3)
ENCRYPTED = ["reasoning.encrypted_content"]


def read(**body: Any):
    return DOOR.read({"model": "m", "input": "Hello", **body}, {})


def read_items(*items: Json):
    return read(input=list(items)).history


def refusal(**body: Any) -> Wrong:
    try:
        read(**body)
    except Wrong as wrong:
        return wrong
    raise AssertionError("it was read")


def item(key: str, kind: Kind = Kind.ASSISTANT_MESSAGE, text: str = "", **more: Any) -> Item:
    return Item(key=key, kind=kind, text=text, dialect=more.pop("dialect", "chat"), **more)


def message(key: str, *pieces: str) -> list[Event]:
    return streamed(item(key, Kind.ASSISTANT_MESSAGE, "".join(pieces)), *pieces)


def thought(key: str, *pieces: str, **more: Any) -> list[Event]:
    return streamed(item(key, Kind.REASONING, "".join(pieces), **more), *pieces)


def call(key: str, name: str, *pieces: str, **more: Any) -> list[Event]:
    return streamed(item(key, Kind.TOOL_CALL, "".join(pieces), name=name, call_id="theirs", **more), *pieces)


def streamed(whole: Item, *pieces: str) -> list[Event]:
    started = ItemStarted(whole.key, whole.kind, whole.name, whole.call_id)
    return [started, *(ItemDelta(whole.key, piece) for piece in pieces), ItemDone(whole)]


def written(heard: list[Event], *, finish: Finish = Finish.STOP, fail: Wrong | None = None, **body: Any):
    """The frames of a response, and the whole of it."""
    writer = DOOR.writer(read(**body), "provider:m", Handed(secret=SECRET), AT)
    frames = [*writer.begin(), *(frame for event in heard for frame in writer.hear(event))]
    frames += writer.fail(fail) if fail else writer.end(HowEnded(finish=finish, usage=USED, at=AT + 2))
    return frames, writer.whole()


def names(frames: list[Frame]) -> list[str]:
    return [frame.event.removeprefix("response.") for frame in frames]


class Client:
    """Builds the answer out of the stream's pieces alone, as clients do that show what comes; strict in what it takes."""

    def __init__(self) -> None:
        self.output: dict[int, Json] = {}
        self.open: set[int] = set()
        self.parts: dict[int, str] = {}
        self.last: Json = {}

    def hear(self, frames: list[Frame]) -> list[Json]:
        for number, frame in enumerate(frames):
            assert isinstance(frame.data, dict)
            assert frame.event == frame.data["type"]
            assert frame.data["sequence_number"] == number
            self._hear(frame.data)
        assert not self.open and not self.parts
        return [self.output[index] for index in range(len(self.output))]

    def _hear(self, said: Json) -> None:
        name = said["type"].removeprefix("response.")
        if "response" in said:
            self.last = said
            return
        index = said["output_index"]
        if name == "output_item.added":
            assert index == len(self.output)
            self.output[index] = said["item"]
            self.open.add(index)
            return
        assert index in self.open
        assert name == "output_item.done" or said["item_id"] == self.output[index]["id"]
        self._in_item(name, index, said)

    def _in_item(self, name: str, index: int, said: Json) -> None:
        match name:
            case "reasoning_summary_part.added" | "content_part.added":
                assert index not in self.parts
                self.parts[index] = ""
            case "function_call_arguments.delta":
                self.parts[index] = self.parts.get(index, "") + said["delta"]
            case "reasoning_summary_text.delta" | "output_text.delta" | "refusal.delta":
                assert said["delta"]
                self.parts[index] += said["delta"]
            case "reasoning_summary_text.done" | "output_text.done":
                self.parts[index] = said["text"]
            case "refusal.done":
                self.parts[index] = said["refusal"]
            case "function_call_arguments.done":
                self.parts[index] = said["arguments"]
            case "reasoning_summary_part.done" | "content_part.done":
                assert (said["part"].get("text") or said["part"].get("refusal") or "") == self.parts[index]
            case "output_item.done":
                self._done(index, said["item"])
            case _:
                raise AssertionError(name)

    def _done(self, index: int, item: Json) -> None:
        assert item["id"] == self.output[index]["id"] and item["type"] == self.output[index]["type"]
        assert text_of(item) == self.parts.pop(index, "")
        self.output[index] = item
        self.open.remove(index)


def text_of(item: Json) -> str:
    match item["type"]:
        case "reasoning":
            return "".join(part["text"] for part in item["summary"])
        case "message":
            return "".join(part.get("text") or part.get("refusal") or "" for part in item["content"])
        case "function_call":
            return item["arguments"]
        case _:
            return ""
