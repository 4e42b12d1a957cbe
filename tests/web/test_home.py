"""The first page lists the models of every provider, and says when one does not answer."""

from __future__ import annotations

import pytest

from chatapp.providers.base import Endpoint, ModelSpec
from chatapp.providers.catalog import Catalog, Listing
from chatapp.turns import engine as engines


class ListedCatalog(Catalog):
    """Knows its listings without asking anybody."""

    def __init__(self, *listings: Listing) -> None:
        super().__init__([])
        self._listings = [*listings]

    async def models(self):
        return self._listings


@pytest.fixture
def page(client, alice, settings):
    """The first page as alice sees it, with these listings."""

    def shown(*listings):
        own = engines.engine()
        usual, own.catalog = own.catalog, ListedCatalog(*listings, DEMO)
        client.force_login(alice)
        try:
            return client.get("/").text
        finally:
            own.catalog = usual

    return shown


def model(provider, name, **more):
    return ModelSpec(provider=provider, dialect="chat", name=name, **more)


DEMO = Listing(provider="demo", label="Demo", models=(model("demo", "thinker", demo=True),))


def test_models_stand_under_their_provider(page):
    text = page(Listing(provider="openai", label="OpenAI", models=(model("openai", "gpt-5"),)))
    assert text.index("<h3>OpenAI") < text.rindex("openai:gpt-5") < text.rindex("demo:thinker")
    assert "needs no key" in text


def test_a_tiny_model_is_marked(page):
    text = page(
        Listing(provider="local", label="On this machine", models=(model("local", "smollm2", tiny=True),))
    )
    assert "tiny, answers poorly" in text


def test_a_provider_that_does_not_answer_is_shown_with_its_sentence(page):
    assert "OpenAI cannot be reached." in page(
        Listing(provider="openai", label="OpenAI", problem="OpenAI cannot be reached.")
    )


def test_a_long_list_is_folded(page):
    names = tuple(model("openrouter", f"model-{number}") for number in range(300))
    text = page(Listing(provider="openrouter", label="OpenRouter", models=names))
    assert "<summary>300 models</summary>" in text
    assert "openrouter:model-299" in text


def test_names_from_a_provider_are_text(page):
    text = page(Listing(provider="x", label="<b>x", models=(model("x", "<script>alert(1)</script>"),)))
    assert "<script>alert" not in text and "<b>x" not in text


def test_the_page_tells_how_to_get_more_and_what_is_set_up_by_half(page, settings):
    settings.INCOMPLETE_PROVIDERS = ["OpenAI is left out: OPENAI_API_KEY is not set."]
    text = page()
    assert "ANTHROPIC_API_KEY" in text
    assert "OpenAI is left out" in text


def test_no_key_of_any_provider_is_on_the_page(page, settings):
    settings.PROVIDERS = (Endpoint(name="openai", dialect="responses", key="sk-canary"),)
    assert "sk-canary" not in page()
