"""Which providers are configured, which models they have, and who answers for a model's name."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from ..core.contracts import Contract
from ..core.events import Event
from ..core.items import KeyMaker
from . import WIRES
from .base import Ask, Endpoint, ModelSpec, ProviderError, UnknownModel
from .demo import DemoProvider
from .failures import label_of
from .http import HttpProvider

__all__ = ["Catalog", "Listing", "Provider", "UnknownModel"]

KEPT = 600.0
FAILURE_KEPT = 30.0
# A page that shows models waits so long for those who list them.
PATIENCE = 1.0
NAME_CAP = 200


class Provider(Protocol):
    """Whoever can answer: over HTTP, or in this process."""

    @property
    def endpoint(self) -> Endpoint: ...

    def model(self, name: str) -> ModelSpec:
        """What is known of a model, whether or not the provider lists it. UnknownModel where there can be no such model."""

    def contract(self, model: ModelSpec) -> Contract: ...

    def shape(self, ask: Ask) -> list[str]:
        """What the request is made of, in short lines without its words."""

    def stream(self, ask: Ask, keys: KeyMaker) -> AsyncGenerator[Event, None]:
        """One response as events. Closing the generator ends the request at once."""

    async def list_models(self) -> list[ModelSpec]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The models of one provider. With a problem they are those of an earlier listing, or none."""

    provider: str
    label: str
    models: tuple[ModelSpec, ...] = ()
    problem: str = ""


def http_provider(endpoint: Endpoint) -> Provider:
    return HttpProvider(endpoint, WIRES[endpoint.dialect])


class Catalog:
    """The configured providers in their order, then those `beside` them, the demo last. What they list is kept for a while."""

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        *,
        make: Callable[[Endpoint], Provider] = http_provider,
        beside: Iterable[Provider] = (),
        demo: Provider | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        near = list(beside)
        providers = [*map(make, endpoints), *near, demo or DemoProvider()]
        # These live on this machine, and come and go with their process: they are asked each time.
        self._beside = {provider.endpoint.name for provider in near}
        self._providers = {provider.endpoint.name: provider for provider in providers}
        self._kept: dict[str, tuple[float, Listing]] = {}
        self._asking: dict[str, asyncio.Task[Listing]] = {}
        self._now = now

    @property
    def names(self) -> list[str]:
        return list(self._providers)

    def provider(self, name: str) -> Provider:
        """KeyError where it is not configured."""
        return self._providers[name]

    def find(self, model: str) -> tuple[Provider, ModelSpec]:
        """Who answers for `provider:model id`, which need not be listed."""
        name, _, rest = model.partition(":")
        shown = f"{model[:NAME_CAP]!r}"
        if not (name and rest and model.isprintable() and len(model) <= NAME_CAP):
            raise UnknownModel(f"{shown} names no model. A model is named like openai:gpt-5.")
        if name not in self._providers:
            known = ", ".join(self._providers)
            raise UnknownModel(
                f"Model {shown} names the provider {name!r}, which is not configured. Configured are: {known}."
            )
        provider = self._providers[name]
        return provider, self._listed(name, rest) or provider.model(rest)

    def _listed(self, provider: str, name: str) -> ModelSpec | None:
        """A provider's list may tell more of a model than its name does."""
        _, listing = self._kept.get(provider, (0.0, None))
        return next((spec for spec in listing.models if spec.name == name), None) if listing else None

    def label(self, model: str) -> str:
        """What people call a model, whether or not it can still be asked."""
        try:
            spec = self.find(model)[1]
        except UnknownModel:
            return model.partition(":")[2] or model
        return spec.label or spec.name

    def listed(self) -> list[ModelSpec]:
        """Every model of the listings that are kept, without asking anybody."""
        return [spec for _, listing in self._kept.values() for spec in listing.models]

    async def models(self) -> list[Listing]:
        """Every provider's models; all are asked at once, and one that fails hides no other."""
        return list(await asyncio.gather(*map(self._listing, self._providers.values())))

    async def models_soon(self, patience: float = PATIENCE) -> list[Listing]:
        """As `models`, for those who do not wait for a provider that hangs: what it listed before is shown meanwhile."""
        asked = [self._asked_for(provider) for provider in self._providers.values()]
        await asyncio.wait(asked, timeout=patience)
        return [
            task.result() if task.done() else self._meanwhile(provider)
            for task, provider in zip(asked, self._providers.values(), strict=True)
        ]

    def _asked_for(self, provider: Provider) -> asyncio.Task[Listing]:
        """One request at a time for each provider, whoever asks."""
        name = provider.endpoint.name
        task = self._asking.get(name)
        if task is None or task.done():
            # It outlives the page that asked first.
            task = asyncio.create_task(self._listing(provider), context=contextvars.Context())
            self._asking[name] = task
        return task

    def _meanwhile(self, provider: Provider) -> Listing:
        name, label = provider.endpoint.name, label_of(provider.endpoint)
        _, kept = self._kept.get(name, (0.0, None))
        return kept or Listing(provider=name, label=label, problem=f"{label} has not told its models yet.")

    async def _listing(self, provider: Provider) -> Listing:
        name = provider.endpoint.name
        if name in self._beside:
            return await _ask_for_models(provider)
        until, kept = self._kept.get(name, (0.0, None))
        if kept is not None and self._now() < until:
            return kept
        listing = await _ask_for_models(provider)
        if listing.problem and kept is not None:
            listing = replace(listing, models=kept.models)
        self._kept[name] = (self._now() + (FAILURE_KEPT if listing.problem else KEPT), listing)
        return listing

    async def default_model(self, setting: str = "", *, soon: bool = False) -> str:
        """The setting, else the first model of the first configured provider that has one, else the demo's.
        A tiny model answers too poorly to be anyone's default. `soon`: for a page, which waits for nobody long."""
        if setting:
            return self.find(setting)[1].id
        listings = await (self.models_soon() if soon else self.models())
        return next(spec.id for listing in listings for spec in listing.models if not spec.tiny)


async def _ask_for_models(provider: Provider) -> Listing:
    endpoint = provider.endpoint
    listing = Listing(provider=endpoint.name, label=label_of(endpoint))
    try:
        return replace(listing, models=tuple(await provider.list_models()))
    except ProviderError as error:
        return replace(listing, problem=error.sentence)
