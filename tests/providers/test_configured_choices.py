"""What staff choose while the server runs: it counts at once, and disturbs nobody who asks already."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.providers.base import Endpoint, ModelSpec, UnknownModel
from chatapp.providers.configured import NOTHING, Catalog, Choices, StaffSaid

from .test_configured import BUSY, Hanging, Scripted


class Known(Scripted):
    """Its models have efforts, and names of their own."""

    def model(self, name: str) -> ModelSpec:
        return ModelSpec(
            provider=self.endpoint.name,
            dialect="chat",
            name=name,
            label=f"The {name}",
            efforts=("off", "low"),
        )


def chosen(*providers: Scripted, **more) -> Choices:
    return Choices(endpoints=tuple(provider.endpoint for provider in providers), **more)


def catalog(own: list[Scripted], added: list[Scripted] = ()) -> Catalog:
    """Can make each of them."""
    by_name = {provider.endpoint.name: provider for provider in [*added, *own]}
    demo = Scripted("demo", ["thinker"])
    return Catalog(
        [provider.endpoint for provider in own],
        make=lambda endpoint: by_name[endpoint.name],
        demo=demo,
        now=lambda: 0.0,
    )


def offered(of: Catalog) -> list[str]:
    return [spec.id for listing in asyncio.run(of.models()) for spec in listing.models]


def test_what_staff_add_stands_after_the_configured_and_before_the_demo():
    a, b = Scripted("a", ["x"]), Scripted("b", ["y"])
    of = catalog([a], [b])
    of.take(chosen(b))
    assert of.names == ["a", "b", "demo"]
    assert offered(of) == ["a:x", "b:y", "demo:thinker"]
    of.take(NOTHING)
    assert of.names == ["a", "demo"]


def test_a_name_that_is_there_already_is_nobody_elses():
    a = Scripted("a", ["x"])
    of = catalog([a])
    of.take(Choices(endpoints=(Endpoint(name="a", dialect="chat"), Endpoint(name="demo", dialect="chat"))))
    assert of.provider("a") is a
    assert of.names == ["a", "demo"]


def test_what_has_not_changed_is_neither_made_nor_asked_again():
    made = []

    def make(endpoint: Endpoint) -> Scripted:
        made.append(endpoint.name)
        provider = Scripted(endpoint.name, ["m"])
        provider.endpoint = endpoint
        return provider

    of = Catalog([], make=make, demo=Scripted("demo", ["thinker"]), now=lambda: 0.0)
    b, other = Endpoint(name="b", dialect="chat", key="k"), Endpoint(name="c", dialect="chat")
    of.take(Choices(endpoints=(b,)))
    offered(of)
    first = of.provider("b")
    of.take(Choices(endpoints=(b, other), said={"b:m": StaffSaid(label="M")}))
    offered(of)
    assert of.provider("b") is first and first.asked == 1
    of.take(Choices(endpoints=(Endpoint(name="b", dialect="chat", key="other"), other)))
    offered(of)
    assert of.provider("b") is not first and of.provider("b").asked == 1
    assert made == ["b", "c", "b"]


def test_a_list_that_comes_after_a_change_is_not_kept():
    async def story():
        old, new = Hanging("b", ["old"]), Scripted("b", ["new"])
        makes = [old, new]
        of = Catalog([], make=lambda _: makes.pop(0), demo=Scripted("demo", ["thinker"]))
        of.take(Choices(endpoints=(Endpoint(name="b", dialect="chat", base_url="http://one"),)))
        await of.models_soon(0.01)
        of.take(Choices(endpoints=(Endpoint(name="b", dialect="chat", base_url="http://two"),)))
        assert [spec.name for spec in (await of.models_soon(30))[0].models] == ["new"]
        old.go.set()
        await asyncio.sleep(0.01)
        assert [spec.name for spec in (await of.models_soon(30))[0].models] == ["new"]

    asyncio.run(story())


def test_a_provider_that_is_switched_off_is_told_by_what_people_call_it():
    of = catalog([])
    of.take(Choices(off={"b": "Acme"}))
    with pytest.raises(UnknownModel, match=r"^Acme is switched off here\. Choose another model\.$"):
        of.find("b:m")


def test_a_model_has_the_name_that_staff_gave_it_there_or_not():
    a = Known("a", ["x", "y"])
    of = catalog([], [a])
    of.take(chosen(a, said={"a:x": StaffSaid(label="Mine"), "gone:z": StaffSaid(label="Old one")}))
    offered(of)
    assert [of.label(name) for name in ("a:x", "a:y", "gone:z", "gone:w")] == [
        "Mine",
        "The y",
        "Old one",
        "w",
    ]
    assert of.find("a:x")[1].label == "Mine"
    of.take(Choices(off={"a": "A"}, said={"a:x": StaffSaid(label="Mine")}))
    assert [of.label(name) for name in ("a:x", "a:y")] == ["Mine", "The y"]


def test_a_hidden_model_is_found_but_not_offered():
    a = Known("a", ["x", "y"])
    of = catalog([a])
    of.take(Choices(said={"a:x": StaffSaid(hidden=True), "a:unlisted": StaffSaid(hidden=True)}))
    assert offered(of) == ["a:y", "demo:thinker"]
    assert [spec.id for spec in of.listed()] == ["a:y", "demo:thinker"]
    assert of.find("a:x")[1].hidden
    for name in ("a:x", "a:unlisted"):
        with pytest.raises(UnknownModel, match="is not offered here any more"):
            of.offered(name)
    assert of.label("a:x") == "The x"
    raw = asyncio.run(of.listings_soon())
    assert [spec.id for spec in raw[0].models] == ["a:x", "a:y"]


def test_an_effort_is_proposed_where_the_model_has_it():
    of = catalog([Known("a", ["x", "y"])])
    of.take(Choices(said={"a:x": StaffSaid(effort="low"), "a:y": StaffSaid(effort="max")}))
    assert (of.find("a:x")[1].effort, of.find("a:y")[1].effort) == ("low", "")


def default(of: Catalog, setting: str = "") -> str:
    return asyncio.run(of.default_model(setting))


def test_the_default_is_the_setting_then_that_of_staff_then_the_first_that_is_offered():
    of = catalog([Scripted("a", ["x", "y"])])
    of.take(Choices(default="a:y"))
    assert (default(of, "a:z"), default(of)) == ("a:z", "a:y")
    of.take(Choices(default="gone:y"))
    assert default(of) == "a:x"
    of.take(Choices(default="a:y", said={"a:y": StaffSaid(hidden=True), "a:z": StaffSaid(hidden=True)}))
    assert (default(of), default(of, "a:z")) == ("a:x", "a:x")


def test_with_everything_hidden_the_demo_is_named_and_refused():
    of = catalog([])
    of.take(Choices(said={"demo:thinker": StaffSaid(hidden=True)}))
    assert default(of) == "demo:thinker"
    with pytest.raises(UnknownModel, match="not offered"):
        of.offered(default(of))


def test_looking_asks_whatever_is_kept():
    a = Scripted("a", ["x"], BUSY, ["y"])
    of = catalog([a])

    async def story():
        assert (await of.look("a")).models[0].name == "x"
        assert (await of.look("a")).problem == "B is busy at the moment."
        assert (await of.models_soon(30))[0].models[0].name == "x"
        assert (await of.look("a")).models[0].name == "y"
        with pytest.raises(KeyError):
            await of.look("nobody")

    asyncio.run(story())
