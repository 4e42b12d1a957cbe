"""One request as an API reads it, and the answer that the API makes of a scenario's turn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from .kept import Store
from .scenario import Scenario, Speed

# An event ("e") or a delta ("d", paced) with its bytes and type, or a pause ("z") in seconds.
Frame = tuple[str, Any, str]


@dataclass(frozen=True)
class Asked:
    body: dict
    headers: Mapping[str, str]
    org: str
    scenario: Scenario
    store: Store
    # What the real service would swallow.
    notes: list[str]


class Answering(ABC):
    """Refuses what the service refuses, as soon as it is made."""

    api: ClassVar[str]
    # Where an answer that fails is an error after the content, since there is no closing event for it.
    fails_at: ClassVar[str | None]

    asked: Asked
    answers_so_far: int
    last_user: str
    tool_output: str
    out: list[dict]

    @abstractmethod
    def build(self, turn: dict, env: dict) -> None: ...

    @abstractmethod
    def frames(self, speed: Speed) -> Iterator[Frame]: ...

    @abstractmethod
    def whole(self) -> dict:
        """What is sent where nothing is streamed."""

    @staticmethod
    @abstractmethod
    def error_frame(spec: dict) -> bytes: ...

    @staticmethod
    @abstractmethod
    def unknown_frame() -> bytes: ...

    def pauses(self) -> float:
        return sum(each["_spec"]["delay"] for each in self.out if each.get("_spec", {}).get("delay"))


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return str(content.get("text") or "")
    return " ".join(text_of(each) for each in content or [])


def last(texts: list[Any]) -> str:
    return text_of(texts[-1:])
