"""What every wire is put through, and what must be true of whatever it then says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chatapp.core import verbatim
from chatapp.core.contracts import contract_for
from chatapp.core.events import (
    Event,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemStarted,
    ResponseEnded,
    Skipped,
    Usage,
    Withheld,
    as_dict,
)
from chatapp.core.history import Logged, Target, fold
from chatapp.core.items import FROM_MODEL, Item, KeyMaker, Kind, clean
from chatapp.providers.base import Ask, Endpoint, ProviderError, Wire
from chatapp.providers.sse import Decoder

STREAMS = Path(__file__).parent / "streams"
MODULES = {"responses": "openai.responses", "messages": "anthropic.messages", "chat": "chat.completions"}
PROVIDERS = {"responses": "openai", "messages": "anthropic", "chat": "compatible"}
HOSTS = {"responses": "api.openai.com", "messages": "api.anthropic.com", "chat": "chat.example.org"}

Frame = tuple[str, str]


@dataclass(frozen=True)
class Recording:
    """A stream in a file named `<dialect>-<what is special>.sse`. Its name is also the model's."""

    dialect: str
    name: str
    data: bytes

    def frames(self) -> list[Frame]:
        return Decoder().feed(self.data)

    def ask(self, branch: Iterable[Logged] = ()) -> Ask:
        provider = PROVIDERS[self.dialect]
        endpoint = Endpoint(name=provider, dialect=self.dialect, base_url=f"https://{HOSTS[self.dialect]}/v1")
        model = self.wire().model(endpoint, {"id": self.name})
        contract = contract_for(self.dialect, host=endpoint.host, model=self.name)
        target = Target(provider, self.dialect, self.name, contract)
        history = fold([*branch, _asked()], target)
        return Ask(model=model, contract=contract, history=history, conversation="c", round=2)

    def wire(self) -> Wire:
        wire: Wire = import_module(f"chatapp.providers.{MODULES[self.dialect]}").WIRE
        return wire


@dataclass(frozen=True)
class Heard:
    events: list[Event]
    error: ProviderError | None = None

    def items(self) -> list[Item]:
        """As they go into the log."""
        finished = [event.item for event in self.events if isinstance(event, ItemDone | ItemAmended)]
        return list({item.key: item for item in finished}.values())


def recordings(dialect: str = "*") -> list[Recording]:
    """Of every dialect that has a wire."""
    files = [path for path in sorted(STREAMS.glob(f"{dialect}-*.sse")) if _has_wire(_dialect(path))]
    return [Recording(_dialect(path), path.stem, path.read_bytes()) for path in files]


def _dialect(path: Path) -> str:
    return path.stem.partition("-")[0]


def _has_wire(dialect: str) -> bool:
    return find_spec(f"chatapp.providers.{MODULES[dialect]}") is not None


def hear(recorded: Recording, frames: Iterable[Frame]) -> Heard:
    """What the wire makes of these frames. Anything but events and a ProviderError comes out as it is."""
    parser, events = recorded.wire().parser(recorded.ask(), KeyMaker()), []
    try:
        for name, data in frames:
            events += parser.feed(name, data)
        events += parser.close()
    except ProviderError as error:
        return Heard(events, error)
    return Heard(events)


def assert_sound(recorded: Recording, frames: Iterable[Frame]) -> None:
    heard = hear(recorded, frames)
    assert_grammar(heard)
    _assert_ours(heard.items(), recorded.ask())
    _assert_storable(heard)
    _assert_sendable(recorded, heard.items())


def assert_grammar(heard: Heard) -> None:
    """Started before delta before done, each key once, nothing open at the end, and one end."""
    started: dict[str, Kind] = {}
    open_keys: set[str] = set()
    for event in heard.events:
        match event:
            case ItemStarted(key=key, kind=kind):
                assert key not in started and kind in FROM_MODEL
                started[key] = kind
                open_keys.add(key)
            case ItemDelta(key=key, text=text):
                assert key in open_keys and text
            case ItemDone(item=item):
                assert started[item.key] is item.kind
                open_keys.remove(item.key)
            case ItemAmended(item=item):
                assert started[item.key] is item.kind and item.key not in open_keys
            case Usage() | ResponseEnded() | Skipped() | Withheld():
                pass
            case _:
                raise AssertionError(f"a wire does not say {event}")
    ends = [n for n, event in enumerate(heard.events) if isinstance(event, ResponseEnded)]
    assert ends == ([] if heard.error else [len(heard.events) - 1])
    assert heard.error or not open_keys
    assert sum(isinstance(event, Usage) for event in heard.events) <= 1


def _assert_ours(items: list[Item], ask: Ask) -> None:
    model = ask.model
    for item in items:
        assert (item.provider, item.dialect, item.model) == (model.provider, model.dialect, model.name)
        assert item.round == ask.round
        assert item.wire is None or isinstance(item.wire, dict)
        assert not (item.cut and item.wire)


def _assert_storable(heard: Heard) -> None:
    """Any database, page and socket can hold it."""
    for event in heard.events:
        for value in as_dict(event).values():
            assert not isinstance(value, str) or value == clean(value)
        verbatim.dumps(as_dict(event))
    for item in heard.items():
        verbatim.dumps(item.wire)


def _assert_sendable(recorded: Recording, items: list[Item]) -> None:
    """Whatever was accepted can go back, verbatim to its own model and in words to another."""
    branch = [_asked(), Logged("assistant", items)]
    other = Recording(recorded.dialect, "another-model", b"")
    for ask in (recorded.ask(branch), other.ask(branch)):
        verbatim.encode(recorded.wire().body(ask))


def _asked() -> Logged:
    return Logged("user", [Item(key="part-0", kind=Kind.USER_MESSAGE, text="Why?")])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) inside a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])
