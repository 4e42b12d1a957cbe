"""Which providers are configured, which models they have, and who answers for a model's name."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..core.contracts import Contract
from ..core.events import Event
from ..core.items import KeyMaker
from ..core.model_name import ModelName
from ..core.signs.visible import hides
from . import WIRES
from .base import Ask, Endpoint, HearLetters, ModelSpec, ProviderError, RequestShape, UnknownModel
from .demo import DemoProvider
from .http import HttpProvider

__all__ = ["NOTHING", "Catalog", "Choices", "Listing", "Provider", "StaffSaid", "UnknownModel"]

KEPT = 600.0
FAILURE_KEPT = 30.0
# A page that shows models waits so long for those who list them.
PATIENCE = 1.0
NAME_CAP = 200
LAST = "demo:thinker"


class Provider(Protocol):
    """Whoever can answer: over HTTP, or in this process."""

    @property
    def endpoint(self) -> Endpoint: ...

    def model(self, name: str) -> ModelSpec:
        """What is known of a model, whether or not the provider lists it. UnknownModel where there can be no such model."""

    def contract(self, model: ModelSpec) -> Contract: ...

    def sent(self, ask: Ask) -> RequestShape:
        """What the request is made of, as it goes out."""

    def stream(
        self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None
    ) -> AsyncGenerator[Event, None]:
        """One response as events. Closing the generator ends the request at once. What `hear` is told of is not given again; whoever
        has all events at hand may give them all."""

    async def list_models(self) -> list[ModelSpec]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The models of one provider. With a problem they are those of an earlier listing, or none; `raw` is what the provider said."""

    provider: str
    label: str
    models: tuple[ModelSpec, ...] = ()
    problem: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffSaid:
    """What staff said of a model. An effort that it does not have says nothing."""

    label: str = ""
    effort: str = ""
    hidden: bool = False

    def of(self, spec: ModelSpec) -> ModelSpec:
        effort = self.effort if self.effort in spec.efforts else ""
        return replace(spec, label=self.label or spec.label, effort=effort, hidden=self.hidden)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What staff chose while the server runs: providers that they added, those that are switched off by name with
    their labels, what they said of models, and the model that is asked when nobody chose."""

    endpoints: tuple[Endpoint, ...] = ()
    off: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, StaffSaid] = field(default_factory=dict)
    default: str = ""


NOTHING = Choices()


def http_provider(endpoint: Endpoint) -> Provider:
    return HttpProvider(endpoint, WIRES[endpoint.dialect])


class Catalog:
    """The configured providers in their order, those that staff added, those `beside` them, the demo last. What they list
    is kept for a while. What staff choose is taken in all at once: whoever asks already goes on as before."""

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
        self._first, self._last = _by_name(map(make, endpoints)), _by_name([*near, demo or DemoProvider()])
        self._make, self._added, self._choices = make, dict[str, Provider](), NOTHING
        # These live on this machine, and come and go with their process: they are asked each time.
        self._beside = {provider.endpoint.name for provider in near}
        self._providers = self._first | self._last
        self._kept: dict[str, tuple[float, Listing]] = {}
        self._asking: dict[str, tuple[Provider, asyncio.Task[Listing]]] = {}
        self._now = now

    def take(self, choices: Choices) -> None:
        """From any thread. A name that is there without staff stays what it is."""
        own = self._first.keys() | self._last.keys()
        added = {each.name: self._provider_at(each) for each in choices.endpoints if each.name not in own}
        for name, provider in added.items():
            if self._added.get(name) is not provider:
                self._kept.pop(name, None)
        self._added, self._choices = added, choices
        self._providers = self._first | added | self._last

    def _provider_at(self, endpoint: Endpoint) -> Provider:
        before = self._added.get(endpoint.name)
        return before if before and before.endpoint == endpoint else self._make(endpoint)

    def is_own(self, name: str) -> bool:
        """Whether a provider is there without staff having added it."""
        return name in self._first or name in self._last

    @property
    def names(self) -> list[str]:
        return list(self._providers)

    def provider(self, name: str) -> Provider:
        """KeyError where it is not configured."""
        return self._providers[name]

    def find(self, model: str) -> tuple[Provider, ModelSpec]:
        """Who answers for `provider:model id`, which need be neither listed nor offered."""
        name = ModelName.of(model)
        shown = f"{model[:NAME_CAP]!r}"
        if not name.is_whole or hides(model) or len(model) > NAME_CAP:
            raise UnknownModel(f"{shown} names no model. A model is named like openai:gpt-5.")
        provider = self._providers.get(name.provider)
        if provider is None:
            raise UnknownModel(self._missing(shown, name.provider))
        return provider, self._as_said(self._listed(name) or provider.model(name.own))

    def offered(self, model: str) -> tuple[Provider, ModelSpec]:
        """As `find`, for somebody who chooses it now."""
        provider, spec = self.find(model)
        if spec.hidden:
            raise UnknownModel(
                f"{spec.label or spec.name} is not offered here any more. Choose another model."
            )
        return provider, spec

    def _missing(self, model: str, provider: str) -> str:
        if provider in self._choices.off:
            return f"{self._choices.off[provider]} is switched off here. Choose another model."
        known = ", ".join(self._providers)
        return f"Model {model} names the provider {provider!r}, which is not configured. Configured are: {known}."

    def _as_said(self, spec: ModelSpec) -> ModelSpec:
        said = self._choices.said.get(spec.id)
        return said.of(spec) if said else spec

    def _listed(self, name: ModelName) -> ModelSpec | None:
        """A provider's list may tell more of a model than its name does."""
        _, listing = self._kept.get(name.provider, (0.0, None))
        return next((spec for spec in listing.models if spec.name == name.own), None) if listing else None

    def label(self, model: str) -> str:
        """What people call a model, whether or not it can still be asked."""
        said = self._choices.said.get(model)
        if said and said.label:
            return said.label
        try:
            spec = self.find(model)[1]
        except UnknownModel:
            return self._remembered(model) or ModelName.of(model).own or model
        return spec.label or spec.name

    def _remembered(self, model: str) -> str:
        listed = self._listed(ModelName.of(model))
        return listed.label if listed else ""

    def listed(self) -> list[ModelSpec]:
        """Every model that is offered in the listings that are kept, without asking anybody."""
        kept = [listing for _, listing in list(self._kept.values()) if listing.provider in self._providers]
        return [spec for listing in kept for spec in self._offered(listing).models]

    def _offered(self, listing: Listing) -> Listing:
        hidden = {name for name, said in self._choices.said.items() if said.hidden}
        offered = (spec for spec in listing.models if spec.id not in hidden)
        return replace(listing, models=tuple(map(self._as_said, offered)))

    async def models(self) -> list[Listing]:
        """Every provider's models that are offered; all are asked at once, and one that fails hides no other."""
        return list(map(self._offered, await asyncio.gather(*map(self._listing, self._providers.values()))))

    async def models_soon(self, patience: float = PATIENCE) -> list[Listing]:
        """As `models`, for those who do not wait for a provider that hangs: what it listed before is shown meanwhile."""
        return list(map(self._offered, await self.listings_soon(patience)))

    async def listings_soon(self, patience: float = PATIENCE) -> list[Listing]:
        """As the providers tell it, whatever staff said of it."""
        providers = list(self._providers.values())
        asked = list(map(self._asked_for, providers))
        await asyncio.wait(asked, timeout=patience)
        return [
            task.result() if task.done() else self._meanwhile(provider)
            for task, provider in zip(asked, providers, strict=True)
        ]

    async def look(self, name: str) -> Listing:
        """Asks a provider now, whatever is kept. KeyError where it is not configured."""
        return await self._asked(self._providers[name])

    def _asked_for(self, provider: Provider) -> asyncio.Task[Listing]:
        """One request at a time for each provider, whoever asks."""
        name = provider.endpoint.name
        whom, task = self._asking.get(name, (None, None))
        if task is None or task.done() or whom is not provider:
            # It outlives the page that asked first.
            task = asyncio.create_task(self._listing(provider), context=contextvars.Context())
            self._asking[name] = provider, task
        return task

    def _meanwhile(self, provider: Provider) -> Listing:
        name, label = provider.endpoint.name, provider.endpoint.who
        _, kept = self._kept.get(name, (0.0, None))
        return kept or Listing(provider=name, label=label, problem=f"{label} has not told its models yet.")

    async def _listing(self, provider: Provider) -> Listing:
        name = provider.endpoint.name
        if name in self._beside:
            return await _ask_for_models(provider)
        until, kept = self._kept.get(name, (0.0, None))
        return kept if kept is not None and self._now() < until else await self._asked(provider)

    async def _asked(self, provider: Provider) -> Listing:
        name, listing = provider.endpoint.name, await _ask_for_models(provider)
        # It may have been changed meanwhile: then this is news of yesterday.
        if self._providers.get(name) is provider and name not in self._beside:
            _, kept = self._kept.get(name, (0.0, None))
            if listing.problem and kept is not None:
                listing = replace(listing, models=kept.models)
            self._kept[name] = (self._now() + (FAILURE_KEPT if listing.problem else KEPT), listing)
        return listing

    async def default_model(self, setting: str = "", *, soon: bool = False) -> str:
        """The setting, else what staff chose, else the first model of the first configured provider that has one, else the
        demo's. A tiny model answers too poorly to be anyone's default. `soon`: for a page, which waits for nobody long."""
        if setting and not (spec := self.find(setting)[1]).hidden:
            return spec.id
        with suppress(UnknownModel):
            return self.offered(self._choices.default)[1].id
        listings = await (self.models_soon() if soon else self.models())
        return next((spec.id for listing in listings for spec in listing.models if not spec.tiny), LAST)


def _by_name(providers: Iterable[Provider]) -> dict[str, Provider]:
    return {provider.endpoint.name: provider for provider in providers}


async def _ask_for_models(provider: Provider) -> Listing:
    endpoint = provider.endpoint
    listing = Listing(provider=endpoint.name, label=endpoint.who)
    try:
        return replace(listing, models=tuple(await provider.list_models()))
    except ProviderError as error:
        return replace(listing, problem=error.sentence, raw=error.raw)
