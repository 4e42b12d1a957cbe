"""Who answers for a model's name, and which models there are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from chatapp.core.contracts import Contract
from chatapp.core.events import Event
from chatapp.core.items import KeyMaker
from chatapp.providers import WIRES
from chatapp.providers.base import Ask, Endpoint, HearLetters, ModelSpec, ProviderError, Trouble
from chatapp.providers.configured import FAILURE_KEPT, KEPT, Catalog, Listing, Provider, UnknownModel
from tests.support.patience import PATIENCE

from .fake_wire import question


class Scripted:
    """A provider that lists what its script says, one entry for each time it is asked; the last one stays."""

    def __init__(self, name: str, *lists: Sequence[str] | ProviderError, tiny: bool = False) -> None:
        self.endpoint = Endpoint(name=name, dialect="chat", label=name.title())
        self.lists, self.asked, self.tiny = list(lists), 0, tiny

    def model(self, name: str) -> ModelSpec:
        return ModelSpec(provider=self.endpoint.name, dialect="chat", name=name, tiny=self.tiny)

    def contract(self, model: ModelSpec) -> Contract:
        return question().contract

    async def stream(
        self, ask: Ask, keys: KeyMaker, hear: HearLetters | None = None
    ) -> AsyncGenerator[Event, None]:
        return
        yield

    async def list_models(self) -> list[ModelSpec]:
        self.asked += 1
        names = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        if isinstance(names, ProviderError):
            raise names
        return [self.model(name) for name in names]


BUSY = ProviderError(Trouble.BUSY, "B is busy at the moment.")


def catalog(*providers: Scripted, now: list[float] | None = None) -> Catalog:
    ticks = now or [0.0]
    by_name = {provider.endpoint.name: provider for provider in providers}
    endpoints = [provider.endpoint for provider in providers]
    demo = Scripted("demo", ["thinker"])
    return Catalog(endpoints, make=lambda endpoint: by_name[endpoint.name], demo=demo, now=lambda: ticks[0])


def models(of: Catalog) -> list[Listing]:
    return asyncio.run(of.models())


def test_a_model_is_found_by_its_provider_and_its_name():
    openai = Scripted("openai", ["gpt-5"])
    provider, spec = catalog(openai).find("openai:gpt-5")
    assert (provider, spec.id) == (openai, "openai:gpt-5")


def test_a_model_need_not_be_listed():
    openai = Scripted("openai", ["gpt-5"])
    assert catalog(openai).find("openai:new-one")[1].name == "new-one"
    assert openai.asked == 0


def test_a_models_name_may_hold_colons():
    assert catalog(Scripted("a", [])).find("a:scenario:tool-loop@x")[1].name == "scenario:tool-loop@x"


def test_what_the_list_knows_of_a_model_is_kept():
    known = ModelSpec(provider="a", dialect="chat", name="big", window=1_000_000)
    a = Scripted("a", ["big"])
    a.model = lambda name: known if a.asked else ModelSpec(provider="a", dialect="chat", name=name)  # type: ignore[method-assign]
    listed = catalog(a)
    assert listed.find("a:big")[1].window is None
    models(listed)
    assert listed.find("a:big")[1].window == 1_000_000


def test_a_provider_that_is_not_configured_is_said_in_one_sentence():
    with pytest.raises(UnknownModel) as caught:
        catalog(Scripted("a", [])).find("x:y")
    assert str(caught.value) == (
        "Model 'x:y' names the provider 'x', which is not configured. Configured are: a, demo."
    )


@pytest.mark.parametrize(
    "name", ["", ":", "a:", ":y", "gpt-5", "a:\x00", "a:b\nc", "a:\ud800", "a:" + "x" * 300]
)
def test_what_is_no_models_name_is_said_so(name: str):
    with pytest.raises(UnknownModel, match="names no model"):
        catalog(Scripted("a", [])).find(name)


def test_the_demo_is_always_there_and_last():
    assert catalog().names == ["demo"]
    assert catalog(Scripted("a", []), Scripted("b", [])).names == ["a", "b", "demo"]


def test_a_provider_is_found_by_name():
    a = Scripted("a", [])
    assert catalog(a).provider("a") is a


def test_every_provider_lists_its_models_under_its_label():
    listings = models(catalog(Scripted("a", ["m", "n"]), Scripted("b", [])))
    assert [(listing.label, [spec.id for spec in listing.models]) for listing in listings] == [
        ("A", ["a:m", "a:n"]),
        ("B", []),
        ("Demo", ["demo:thinker"]),
    ]


def test_one_providers_failure_hides_no_other():
    listings = models(catalog(Scripted("a", ["m"]), Scripted("b", BUSY), Scripted("c", ["n"])))
    assert [(len(listing.models), listing.problem) for listing in listings] == [
        (1, ""),
        (0, "B is busy at the moment."),
        (1, ""),
        (1, ""),
    ]


def test_providers_are_asked_at_the_same_time():
    class Together(Scripted):
        async def list_models(self) -> list[ModelSpec]:
            await self.all_here.wait()
            return []

        all_here: asyncio.Barrier

    async def main() -> None:
        providers = [Together(name, []) for name in "abc"]
        for provider in providers:
            provider.all_here = Together.all_here
        await asyncio.wait_for(catalog(*providers).models(), PATIENCE)

    async def with_barrier() -> None:
        Together.all_here = asyncio.Barrier(3)
        await main()

    asyncio.run(with_barrier())


def test_a_list_is_kept_for_ten_minutes():
    now, a = [0.0], Scripted("a", ["old"], ["new"])
    of = catalog(a, now=now)
    names = []
    for tick in (0, KEPT - 1, KEPT + 1):
        now[0] = tick
        names.append(models(of)[0].models[0].name)
    assert (names, a.asked) == (["old", "old", "new"], 2)


def test_a_failure_is_kept_for_half_a_minute():
    now, b = [0.0], Scripted("b", BUSY, ["back"])
    of = catalog(b, now=now)
    problems = []
    for tick in (0, FAILURE_KEPT - 1, FAILURE_KEPT + 1):
        now[0] = tick
        problems.append(models(of)[0].problem)
    assert (problems, b.asked) == (["B is busy at the moment."] * 2 + [""], 2)


def test_a_failed_refresh_keeps_the_models_that_were_known():
    now, b = [0.0], Scripted("b", ["m"], BUSY, ["n"])
    of = catalog(b, now=now)
    seen = []
    for tick in (0, KEPT + 1, KEPT + 1 + FAILURE_KEPT + 1):
        now[0] = tick
        listing = models(of)[0]
        seen.append(([spec.name for spec in listing.models], listing.problem))
    assert seen == [(["m"], ""), (["m"], "B is busy at the moment."), (["n"], "")]


def test_a_provider_of_this_machine_is_asked_each_time():
    local = Scripted("local", BUSY, ["smollm2"], BUSY)
    of = Catalog([], beside=[local], demo=Scripted("demo", ["thinker"]), now=lambda: 0.0)
    assert [len(models(of)[0].models) for _ in range(3)] == [0, 1, 0]


def test_a_model_that_its_provider_cannot_have_is_unknown():
    with pytest.raises(UnknownModel, match="There is no model 'demo:nope'"):
        Catalog([]).find("demo:nope")


def default(of: Catalog, setting: str = "") -> str:
    return asyncio.run(of.default_model(setting))


def test_the_default_model_is_the_one_that_is_set():
    a = Scripted("a", ["m"])
    assert default(catalog(a), "a:other") == "a:other"
    assert a.asked == 0


def test_a_default_that_cannot_be_is_said_so():
    with pytest.raises(UnknownModel, match="not configured"):
        default(catalog(), "a:m")


def test_else_it_is_the_first_model_of_the_first_provider_that_has_one():
    assert default(catalog(Scripted("a", BUSY), Scripted("b", []), Scripted("c", ["m", "n"]))) == "c:m"


def test_else_it_is_the_demo():
    assert default(catalog()) == "demo:thinker"
    assert default(catalog(Scripted("a", BUSY))) == "demo:thinker"


def test_a_tiny_model_is_nobodys_default():
    assert default(catalog(Scripted("local", ["smollm2"], tiny=True))) == "demo:thinker"


def test_other_providers_stand_between_the_configured_and_the_demo():
    local = Scripted("local", ["smollm2"])
    of = Catalog([], beside=[local], demo=Scripted("demo", ["thinker"]))
    assert of.names == ["local", "demo"]


def test_every_dialect_has_its_wire():
    assert {dialect: wire.dialect for dialect, wire in WIRES.items()} == {
        "responses": "responses",
        "messages": "messages",
        "chat": "chat",
    }


@pytest.mark.parametrize("dialect", WIRES)
def test_an_endpoint_is_enough_for_a_provider(dialect: str):
    endpoint = Endpoint(name="mine", dialect=dialect, base_url="http://127.0.0.1:1/v1", key="sk-canary")
    provider, spec = Catalog([endpoint]).find("mine:m")
    assert (spec.provider, spec.dialect, spec.name) == ("mine", dialect, "m")
    assert provider.contract(spec).dialect == dialect
    assert "sk-canary" not in repr(provider) + repr(provider.endpoint)


def test_the_real_demo_keeps_the_providers_promises():
    provider: Provider
    provider, spec = Catalog([]).find("demo:thinker")
    assert (spec.id, spec.demo) == ("demo:thinker", True)
    assert [each.id for each in asyncio.run(provider.list_models())] == ["demo:thinker", "demo:talker"]


class Hanging(Scripted):
    """Lists its models when it is let go."""

    def __init__(self, name: str, *lists: Sequence[str] | ProviderError) -> None:
        super().__init__(name, *lists)
        self.go = asyncio.Event()

    async def list_models(self) -> list[ModelSpec]:
        await self.go.wait()
        return await super().list_models()


def test_a_page_does_not_wait_for_a_provider_that_hangs():
    async def story():
        slow = Hanging("a", ["late"])
        mine = catalog(slow, Scripted("b", ["quick"]))
        first = await mine.models_soon(0.01)
        assert [spec.id for listing in first for spec in listing.models] == ["b:quick", "demo:thinker"]
        assert first[0].problem == "A has not told its models yet."
        slow.go.set()
        assert [spec.id for spec in (await mine.models_soon(30))[0].models] == ["a:late"]
        assert slow.asked == 1

    asyncio.run(story())


def test_what_a_hanging_provider_listed_before_is_shown_meanwhile():
    async def story():
        slow, now = Hanging("a", ["old"], ["new"]), [0.0]
        mine = catalog(slow, now=now)
        slow.go.set()
        await mine.models_soon(30)
        slow.go.clear()
        now[0] += KEPT + 1
        assert [spec.name for spec in (await mine.models_soon(0.01))[0].models] == ["old"]
        slow.go.set()
        assert [spec.name for spec in (await mine.models_soon(30))[0].models] == ["new"]

    asyncio.run(story())
