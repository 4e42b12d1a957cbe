"""What a program asks, whichever door it came through: the history as it tells it, the tools that it offers, what it wishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ...core.attached import Attached
from ...providers.base import NO_WISHES, ToolSpec, Wishes


class SaidBy(StrEnum):
    USER = "user"
    SYSTEM = "system"
    DEVELOPER = "developer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message that no model wrote. `wire`: as it came."""

    role: SaidBy
    parts: tuple[str | Attached, ...]
    wire: Any = None

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldThought:
    """`id` and `seal` (a signature, encrypted content, redacted data) as the program has them, from us or from elsewhere. `wire`: the
    block, item or fields in which it came, as they came, for a model of the same dialect."""

    text: str = ""
    id: str = ""
    seal: str = ""
    wire: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldWords:
    """`wire`: as they came, where a model of the same dialect knows more of them (a phase, that they refuse)."""

    text: str
    id: str = ""
    wire: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldCall:
    """`id` is what its result names; `item_id` is a second name that some doors give. `arguments` as JSON, as it came. `wire`: what else
    came with it (a thought signature), for a model of the same dialect."""

    id: str
    name: str
    arguments: str
    item_id: str = ""
    wire: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOther:
    """Of a kind that one dialect alone knows, in its place among what the model said: the searches of a provider, calls and results of
    hosted tools. Only a model of the same dialect can be given it, as it came."""

    wire: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAnswer:
    """What a model said in one response: everything between two messages, or results, of the program's."""

    parts: tuple[ToldThought | ToldWords | ToldCall | ToldOther, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldResult:
    """`wire`: as it came."""

    call_id: str
    parts: tuple[str | Attached, ...]
    failed: bool = False
    wire: Any = None

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in self.parts if isinstance(part, str))


Told = Said | ToldAnswer | ToldResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRequest:
    """`effort`: the program's word for it, OFF where it wants no thoughts, "" where it says nothing. `previous`: the response that this
    goes on from. `body`: all that came."""

    model: str
    history: tuple[Told, ...]
    stream: bool = False
    tools: tuple[ToolSpec, ...] = ()
    wishes: Wishes = NO_WISHES
    effort: str = ""
    previous: str = ""
    store: bool = False
    body: Mapping[str, Any] = field(default_factory=dict)
