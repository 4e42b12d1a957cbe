"""What every wire speaks of: endpoints, models, a question to a model, and the errors that people can act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol
from urllib.parse import urlsplit

from ..core.contracts import Contract
from ..core.events import Event, ItemDelta
from ..core.history import History, Repair
from ..core.items import KeyMaker
from ..core.model_name import ModelName

OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a provider is reached, and how. The key is never shown: not in logs, not in tracebacks. `public`: only in the
    public web. `problem`: why it cannot be asked."""

    name: str
    dialect: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    label: str = ""
    public: bool = False
    problem: str = ""

    @property
    def who(self) -> str:
        """The provider, in a sentence."""
        return self.label or self.name

    @property
    def host(self) -> str:
        """What dated rows know it by: with its port, where that is not the usual one. Its name is anybody's choice."""
        try:
            url = urlsplit(self.base_url)
            return f"{url.hostname or ''}:{url.port}" if url.port else url.hostname or ""
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model as people choose it: `provider:name`. `efforts` may hold OFF; empty means that there is nothing to set.
    `thinking` names how its wire asks for thoughts (a word of that wire's own table); `thinks`: a row or its provider's list
    knows that it does. `effort` is the one that staff proposes; a `hidden` one is not offered. `sees`: pictures and files
    may be sent to it."""

    provider: str
    dialect: str
    name: str
    label: str = ""
    efforts: tuple[str, ...] = ()
    thinking: str = ""
    thinks: bool = False
    window: int | None = None
    max_output: int | None = None
    tiny: bool = False
    demo: bool = False
    effort: str = ""
    hidden: bool = False
    sees: bool = True

    @property
    def id(self) -> str:
        return str(ModelName(self.provider, self.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model reads it. `schema` is the JSON schema of its arguments; `strict`: whether they must follow it, where that was
    said. `wire`: how a program of this `dialect` words it, with all that it says of it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    strict: bool | None = None
    dialect: str = ""
    wire: Mapping[str, Any] | None = None


class Choice(StrEnum):
    """What a model may do with its tools."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What the answer's text must be: JSON of this schema, or any JSON where there is none."""

    name: str = ""
    description: str = ""
    schema: Mapping[str, Any] | None = None
    strict: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a program may want of one request beyond what the chat does; what is empty was not said. `call`: the one tool that it must call.
    `extras`: the other fields of a request in this `dialect`, as they came; `hosted`: its tools of other kinds than functions; `betas`:
    what Anthropic's clients ask for by header; `hides_thoughts`: nobody reads what is thought."""

    temperature: float | None = None
    top_p: float | None = None
    most_output: int | None = None
    stop: tuple[str, ...] = ()
    choice: Choice | None = None
    call: str = ""
    parallel: bool | None = None
    form: Form | None = None
    dialect: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    hosted: tuple[Mapping[str, Any], ...] = ()
    betas: tuple[str, ...] = ()
    hides_thoughts: bool = False


NO_WISHES = Wishes()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request to one model, before any wire has worded it. `label` is what people call the provider."""

    model: ModelSpec
    contract: Contract
    history: History
    label: str = ""
    conversation: str = ""
    instructions: str = ""
    tools: Sequence[ToolSpec] = ()
    effort: str = ""
    may_call: bool = True
    round: int = 0
    repairs: frozenset[Repair] = frozenset()
    wishes: Wishes = NO_WISHES

    @property
    def who(self) -> str:
        """The provider, in a sentence."""
        return self.label or self.model.provider


class Trouble(StrEnum):
    """What went wrong, as a fixed word that scripts, counters and the page can rely on."""

    KEY = "key"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    BUSY = "busy"
    BROKEN = "broken"
    UNREACHABLE = "unreachable"
    SILENT = "silent"
    GARBAGE = "garbage"
    TOO_LARGE = "too large"
    TOO_LONG = "too long"
    REFUSED = "refused"
    FILTERED = "filtered"
    EMPTY = "empty"
    CREDIT = "credit"


class UnknownModel(LookupError):
    """Its words are for the person who asked for the model."""


@dataclass(slots=True)
class ProviderError(Exception):
    """`sentence` is for the person, `raw` are the provider's own words. `again`: the same request may go out once more,
    after `wait` seconds where the provider said so. `repair`: it may go out changed."""

    trouble: Trouble
    sentence: str
    raw: str = ""
    status: int | None = None
    again: bool = False
    wait: float | None = None
    repair: Repair | None = None

    __hash__ = Exception.__hash__

    def __str__(self) -> str:
        return self.sentence


# Told of letters in the moment in which they arrive, without anybody being woken for them.
HearLetters = Callable[[ItemDelta], None]


class Parser(Protocol):
    """Reads one response of a wire. Any input at all gives events or a ProviderError, nothing else."""

    def feed(self, event: str, data: str) -> list[Event]:
        """One server-sent event."""

    def close(self) -> list[Event]:
        """The stream is over: the last events, or the error that it ended too early."""


@dataclass(frozen=True, slots=True)
class RequestShape:
    """What a request is made of, in short lines without its words, and how many thoughts are in it."""

    shape: tuple[str, ...] = ()
    thoughts: int = 0


class Wire(Protocol):
    """One protocol. All of it is pure: bytes come and go in `http.py`."""

    dialect: str

    def path(self, endpoint: Endpoint) -> str:
        """Address of the answers, relative to the base URL."""

    def headers(self, endpoint: Endpoint, ask: Ask) -> dict[str, str]: ...

    def body(self, ask: Ask) -> dict[str, Any]: ...

    def thoughts(self, ask: Ask, body: Mapping[str, Any]) -> int:
        """How many of the history's thoughts are in this body."""

    def parser(self, ask: Ask, keys: KeyMaker) -> Parser: ...

    def refusal(self, label: str, status: int, headers: Mapping[str, str], text: str) -> ProviderError:
        """An answer that is not 200, in words. `label`: whose it is."""

    def models_path(self, endpoint: Endpoint) -> str: ...

    def model(self, endpoint: Endpoint, row: Mapping[str, Any]) -> ModelSpec:
        """What is known of a model: from the provider's list (`row`, at least {"id": …}) and from our own dated rows."""
