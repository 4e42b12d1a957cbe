"""What every door is: it reads a request, and writes the answer's events in its protocol's words, as a stream or whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ...core.events import Event, Finish, Usage
from ...core.verbatim import encode
from .asked import ProgramRequest
from .handed import Handed


@dataclass(slots=True)
class Wrong(Exception):
    """Why there is no answer, or no whole one. `kind` is one of `INVALID` and its neighbours; `code`: a fixed word that programs know.
    `wait`: seconds, where trying again later helps."""

    status: int
    kind: str
    sentence: str
    code: str = ""
    param: str = ""
    wait: int | None = None

    __hash__ = Exception.__hash__

    def __str__(self) -> str:
        return self.sentence


INVALID = "invalid request"
UNKNOWN_KEY = "unknown key"
FORBIDDEN = "forbidden"
NOT_FOUND = "not found"
TOO_LARGE = "too large"
LIMITED = "limited"
OURS = "ours"
PROVIDER = "provider"
OVERLOADED = "overloaded"


def invalid(sentence: str, param: str = "", code: str = "") -> Wrong:
    return Wrong(400, INVALID, sentence, code, param)


class Frame(NamedTuple):
    """One server-sent event; over a WebSocket its data alone. `data` is JSON, or words as they are."""

    event: str
    data: Mapping[str, Any] | str


def as_sse(frame: Frame) -> bytes:
    data = frame.data.encode() if isinstance(frame.data, str) else encode(frame.data)
    name = f"event: {frame.event}\n".encode() if frame.event else b""
    return name + b"data: " + data + b"\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class HowEnded:
    """How a response ended. `at`: the moment, in seconds of the epoch."""

    finish: Finish
    usage: Usage
    at: int


class DoorWriter(Protocol):
    """Of one response. It is told each event once, in its order, and gives the frames that this makes; then `end` or `fail`, once.
    It takes any order of events that a provider's wire can make, items without an end and thoughts that were lost (`Retrying`) included."""

    def begin(self) -> list[Frame]: ...

    def hear(self, event: Event) -> list[Frame]: ...

    def still_thinking(self) -> list[Frame]:
        """Nothing has come for a while: what keeps the connection alive."""

    def end(self, ended: HowEnded) -> list[Frame]: ...

    def fail(self, wrong: Wrong) -> list[Frame]:
        """After the stream has begun."""

    def whole(self) -> dict[str, Any]:
        """The whole response, for who did not want a stream: after `end`."""


class Door(Protocol):
    def read(self, body: Any, headers: Mapping[str, str]) -> ProgramRequest:
        """Any JSON at all gives a request, or Wrong. `headers`: by names in lower case."""

    def writer(self, asked: ProgramRequest, model: str, handed: Handed, at: int) -> DoorWriter:
        """`model`: what the answer says that it is from. `at`: now, in seconds of the epoch."""

    def error(self, wrong: Wrong, request_id: str) -> dict[str, Any]:
        """The body of an answer that is none."""
