"""The tiny model of this machine: a process beside the server that may not be ready yet, and moves when it restarts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Protocol

from ...core.contracts import Contract
from ...core.events import Event
from ...core.items import KeyMaker
from ..base import Ask, Endpoint, HearLetters, ModelSpec, ProviderError, RequestShape, Trouble, Wire
from ..http import HttpProvider

NAME = "local"
MODEL = "smollm2"


class LocalPlace(Protocol):
    """Where the process is now: no base URL while it is not ready, and a sentence that says why."""

    @property
    def sentence(self) -> str: ...

    @property
    def base_url(self) -> str: ...

    @property
    def key(self) -> str: ...


class LocalProvider:
    def __init__(self, place: Callable[[], LocalPlace], wire: Wire, *, label: str, window: int) -> None:
        self._place, self._wire, self._label, self._window = place, wire, label, window

    @property
    def endpoint(self) -> Endpoint:
        place = self._place()
        return Endpoint(
            name=NAME, dialect=self._wire.dialect, label=self._label, base_url=place.base_url, key=place.key
        )

    def model(self, name: str) -> ModelSpec:
        return ModelSpec(
            provider=NAME,
            dialect=self._wire.dialect,
            name=name,
            label=self._label,
            window=self._window,
            tiny=True,
            sees=False,
        )

    def contract(self, model: ModelSpec) -> Contract:
        return self._http().contract(model)

    def sent(self, ask: Ask) -> RequestShape:
        return self._http().sent(ask)

    async def list_models(self) -> list[ModelSpec]:
        self._ready()
        return [self.model(MODEL)]

    async def stream(
        self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None
    ) -> AsyncGenerator[Event, None]:
        self._ready()
        async with aclosing(self._http().stream(ask, keys, hear)) as events:
            async for event in events:
                yield event

    def _http(self) -> HttpProvider:
        return HttpProvider(self.endpoint, self._wire)

    def _ready(self) -> None:
        place = self._place()
        if not place.base_url:
            raise ProviderError(Trouble.UNREACHABLE, place.sentence)
