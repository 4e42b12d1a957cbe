"""What a program calls a model, and which that is."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.gateway.models import ApiKey
from chatapp.gateway.names import NoSuchModel, known_models, model_meant, models_listed, short_name
from chatapp.providers.configured import Choices, StaffSaid
from tests.support.listed import ListedCatalog, listing

OPENAI = listing("openai", "gpt-5", "gpt-5-mini")
ANTHROPIC = listing("anthropic", "claude-opus-4-8", "claude-sonnet-4-6")
OLLAMA = listing("ollama", "qwen3:8b", "gpt-5-mini")
ROUTER = listing("router", "deepseek/deepseek-r1", "openai/gpt-4.1", "openai/gpt-5")
DEFAULT = "anthropic:claude-opus-4-8"


@pytest.fixture
def catalog():
    return ListedCatalog(OPENAI, ANTHROPIC, OLLAMA, ROUTER)


@pytest.fixture
def meant(catalog):
    known = asyncio.run(known_models(catalog))

    def meant(word, **key):
        return model_meant(word, ApiKey(**key), catalog, known=known, default=DEFAULT).id

    return meant


@pytest.mark.parametrize(
    ("word", "model"),
    [
        ("openai:gpt-5", "openai:gpt-5"),
        ("openai/gpt-5", "openai:gpt-5"),
        ("gpt-5", "openai:gpt-5"),
        (" gpt-5 ", "openai:gpt-5"),
        ("claude-opus-4-8", "anthropic:claude-opus-4-8"),
        ("qwen3:8b", "ollama:qwen3:8b"),
        ("ollama/qwen3:8b", "ollama:qwen3:8b"),
        ("deepseek/deepseek-r1", "router:deepseek/deepseek-r1"),
        ("router/deepseek/deepseek-r1", "router:deepseek/deepseek-r1"),
        ("ollama/gpt-5-mini", "ollama:gpt-5-mini"),
        ("openai/gpt-4.1", "router:openai/gpt-4.1"),
        ("thinker", "demo:thinker"),
        ("", DEFAULT),
        ("openai:gpt-5-newest", "openai:gpt-5-newest"),
        ("openai/gpt-5-newest", "openai:gpt-5-newest"),
    ],
)
def test_a_word_means_the_model_that_it_names(meant, word, model):
    assert meant(word) == model


def test_the_keys_own_names_come_first_and_hold_for_any_word(meant):
    names = {"claude-opus-4-8": "openai:gpt-5", "fast model": "demo:thinker"}
    assert meant("claude-opus-4-8", names=names) == "openai:gpt-5"
    assert meant("fast model", names=names) == "demo:thinker"
    assert meant("claude-sonnet-4-6", names=names) == "anthropic:claude-sonnet-4-6"


def test_a_key_has_a_default_of_its_own_else_one_that_it_may_ask(meant):
    assert meant("", default_model="openai:gpt-5-mini") == "openai:gpt-5-mini"
    assert meant("", models=["openai:gpt-5", "openai:gpt-5-mini"]) == "openai:gpt-5"
    assert meant("", models=["openai:gpt-5", DEFAULT]) == DEFAULT


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (
            "gpt-5-mini",
            "Several providers have “gpt-5-mini”. Say which: openai:gpt-5-mini or ollama:gpt-5-mini.",
        ),
        (
            "gpt-5-turbo",
            "No model here is called “gpt-5-turbo”. Did you mean openai:gpt-5, openai:gpt-5-mini or",
        ),
        ("claude-3", "No model here is called “claude-3”. Did you mean anthropic:claude-opus-4-8 or"),
        ("gemini", "No model here is called “gemini”. All of them are listed at /v1/models."),
        ("nobody:gpt-5", "No model here is called “nobody:gpt-5”. Did you mean openai:gpt-5"),
        ("x\u202e", "No model here is called “x⟨U+202E⟩”."),
        ("x" * 10_000, "No model here is called “xxx"),
        (":", "No model here is called “:”."),
    ],
)
def test_what_means_none_or_several_is_told_with_what_is_near(meant, word, said):
    with pytest.raises(NoSuchModel) as refused:
        meant(word)
    assert str(refused.value).startswith(said) and len(str(refused.value)) < 400


def test_what_a_key_may_not_ask_is_refused_with_what_it_may(meant):
    with pytest.raises(NoSuchModel, match=r"This key may not ask “openai:gpt-5”\. It may ask demo:thinker\."):
        meant("gpt-5", models=["demo:thinker"])
    with pytest.raises(NoSuchModel, match="may not ask"):
        meant("mine", models=["demo:thinker"], names={"mine": "openai:gpt-5"})


def test_what_staff_hid_cannot_be_asked(catalog, meant):
    catalog.take(Choices(said={"openai:gpt-5": StaffSaid(hidden=True)}))
    with pytest.raises(NoSuchModel, match="gpt-5 is not offered here any more"):
        meant("openai:gpt-5")


def test_models_are_listed_by_every_name_by_which_they_can_be_asked(catalog, meant):
    known = asyncio.run(known_models(catalog))
    key = ApiKey(names={"sonnet": "openai:gpt-5"})
    found = {name: spec.id for name, spec in models_listed(key, catalog, known=known)}
    assert found["sonnet"] == found["gpt-5"] == found["openai:gpt-5"] == "openai:gpt-5"
    assert "gpt-5-mini" not in found and {"openai:gpt-5-mini", "ollama:gpt-5-mini"} <= found.keys()
    assert {name: meant(name, names=key.names) for name in found} == found


def test_a_key_lists_what_it_may_ask_alone(catalog):
    known = asyncio.run(known_models(catalog))
    key = ApiKey(models=["openai:gpt-5", "openai:gpt-next"], names={"a": "openai:gpt-5", "b": "demo:thinker"})
    assert {name for name, _ in models_listed(key, catalog, known=known)} == {
        "a",
        "openai:gpt-5",
        "gpt-5",
        "openai:gpt-next",
    }


def test_the_shortest_name_of_a_model_means_it_and_has_no_colon_where_it_need_not(catalog, meant):
    known = asyncio.run(known_models(catalog))
    names = {spec.id: short_name(spec, catalog, known) for spec in known}
    assert {model: meant(name) for model, name in names.items()} == {model: model for model in names}
    assert names["openai:gpt-5"] == "gpt-5"
    assert names["ollama:gpt-5-mini"] == "ollama/gpt-5-mini"
    assert names["router:openai/gpt-5"] == "router/openai/gpt-5"
