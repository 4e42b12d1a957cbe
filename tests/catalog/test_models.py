"""All models: a dialog over the page, or a page of its own."""

from __future__ import annotations

import time

import pytest

from tests.support.listed import EFFORTS, listing
from tests.support.page import Page, attribute, words

SCRIPT = {"HX-Request": "true"}


@pytest.fixture
def found(client, alice, models_here):
    client.force_login(alice)

    def found(search="", *listings, **how):
        models_here(*listings)
        return client.get("/models/", {"q": search} if search else {}, **how)

    return found


def models(response) -> list[str]:
    return [attribute(it, "data-model") for it in Page(response).all("a") if attribute(it, "data-model")]


OPENAI = listing("openai", "gpt-5", "gpt-5-mini", efforts=EFFORTS)


def test_they_stand_in_a_page_and_for_a_script_in_a_dialog(found):
    page, dialog = found("", OPENAI), found("", OPENAI, headers=SCRIPT)
    assert (
        models(page) == models(dialog) == ["openai:gpt-5", "openai:gpt-5-mini", "demo:thinker", "demo:talker"]
    )
    assert "<html" in page.text and "<html" not in dialog.text
    assert words(Page(dialog).one("h2")) == "All models"


def test_each_leads_to_a_conversation_with_it_and_tells_its_efforts(found):
    row = Page(found("", OPENAI)).one("a", data_model="openai:gpt-5")
    assert attribute(row, "href") == "/?model=openai%3Agpt-5"
    assert attribute(row, "data-efforts") == "off low high"


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("MINI gpt", ["openai:gpt-5-mini"]),
        ("openai", ["openai:gpt-5", "openai:gpt-5-mini"]),
        ("real model", ["demo:thinker", "demo:talker"]),
        ("nothing like it", []),
    ],
)
def test_a_search_finds_all_its_words_in_any_order(found, search, names):
    assert models(found(search, OPENAI)) == names


def test_a_model_that_is_not_listed_is_found_by_its_full_name(found):
    response = found("openai:o99", OPENAI)
    assert models(response) == ["openai:o99"]
    assert "Not listed" in response.text


@pytest.mark.parametrize(
    "name", ["nobody:x", "demo:other", "<script>alert(1)</script>", "x" * 5000, "\x00:\x00"]
)
def test_what_names_no_model_is_told_in_words(found, name):
    response = found(name, OPENAI)
    assert response.status_code == 200
    assert models(response) == []
    assert Page(response).all("p", **{"class": "error"})
    assert "<script>alert" not in response.text


def test_demo_and_tiny_models_are_marked(found):
    text = found("", listing("local", "smollm2", tiny=True)).text
    assert "tiny, answers poorly" in text and "needs no key" in text


def test_a_provider_that_does_not_answer_is_shown_with_its_sentence(found):
    assert (
        "OpenAI cannot be reached." in found("", listing("openai", problem="OpenAI cannot be reached.")).text
    )


def test_four_thousand_models_come_quickly(found):
    many = listing("openrouter", *(f"maker/model-{number}" for number in range(4000)), efforts=EFFORTS)
    found("", many)
    began = time.monotonic()
    response = found("", many, headers=SCRIPT)
    assert time.monotonic() - began < 15
    assert len(models(response)) == 4002
