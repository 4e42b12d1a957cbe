"""The first page: which models are there, what can be asked, and how to get more."""

from __future__ import annotations

import pytest

from chatapp.pages.preferences import save_preference
from chatapp.providers.base import Endpoint
from tests.support.listed import listing
from tests.support.page import Page, attribute, words


@pytest.fixture
def page(client, alice, models_here):
    """The first page as alice sees it, with these listings."""

    def shown(*listings, address="/"):
        models_here(*listings)
        client.force_login(alice)
        return client.get(address).text

    return shown


def test_models_stand_beside_their_provider(page):
    text = page(listing("openai", "gpt-5"))
    assert text.index("<dt>Openai") < text.index("<code>openai:gpt-5") < text.index("<code>demo:thinker")
    assert "needs no key" in text


def test_a_tiny_model_is_marked(page):
    assert "tiny, answers poorly" in page(listing("local", "smollm2", tiny=True))


def test_a_provider_that_does_not_answer_is_shown_with_its_sentence(page):
    assert "OpenAI cannot be reached." in page(listing("openai", problem="OpenAI cannot be reached."))


def test_of_many_models_a_few_are_named_and_the_others_counted(page):
    text = page(listing("openrouter", *(f"model-{number}" for number in range(300))))
    assert "and 297 more" in text
    assert text.count("openrouter:model-299") == 0


def test_names_from_a_provider_are_text(page):
    text = page(listing("<b>x", "<script>alert(1)</script>"))
    assert "<script>alert" not in text and "<b>x" not in text and "<B>x" not in text


def test_whoever_runs_the_server_is_told_how_to_get_more_and_what_is_set_up_by_half(client, dana, settings):
    settings.INCOMPLETE_PROVIDERS = ["OpenAI is left out: OPENAI_API_KEY is not set."]
    client.force_login(dana)
    text = client.get("/").text
    assert "ANTHROPIC_API_KEY" in text and "while the server runs" in text
    assert "OpenAI is left out" in text


def test_nobody_else_reads_the_variables_of_the_server(page, settings):
    settings.INCOMPLETE_PROVIDERS = ["OpenAI is left out: OPENAI_API_KEY is not set."]
    text = page()
    assert "_API_KEY" not in text and "_BASE_URL" not in text


def test_no_key_of_any_provider_is_on_the_page(page, settings):
    settings.PROVIDERS = (Endpoint(name="openai", dialect="responses", key="sk-canary"),)
    assert "sk-canary" not in page()


def test_three_examples_send_the_composer_as_it_is(client, alice):
    client.force_login(alice)
    examples = Page(client.get("/")).all("button", name="example", form="composer", type="submit")
    assert len({attribute(example, "value") for example in examples}) == 3
    assert all(attribute(example, "value") in words(example) for example in examples)


def test_a_link_chooses_the_model(client, alice, models_here):
    models_here(listing("openai", "gpt-5", "gpt-5-mini"))
    client.force_login(alice)
    assert Page(client.get("/?model=openai:gpt-5-mini")).chosen("model") == "openai:gpt-5-mini"
    assert Page(client.get("/?model=nobody:x")).chosen("model") == "openai:gpt-5"


def test_the_composer_follows_the_settings(client, alice, models_here):
    models_here(listing("openai", "gpt-5"))
    save_preference(alice, default_model="demo:thinker", instructions="Be brief.", enter_sends=False)
    client.force_login(alice)
    page = Page(client.get("/"))
    assert page.chosen("model") == "demo:thinker"
    assert words(page.one("textarea", name="instructions")) == "Be brief."
    assert not page.all("textarea", data_enter_sends="")


def test_a_default_model_that_is_gone_gives_way(client, alice):
    save_preference(alice, default_model="closed:model")
    client.force_login(alice)
    assert Page(client.get("/")).chosen("model") == "demo:thinker"
