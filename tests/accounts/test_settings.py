"""The settings: each section is saved by itself, with a quiet word."""

from __future__ import annotations

import pytest

from chatapp.pages.models import Preference
from chatapp.pages.preferences import load_preference, save_preference
from tests.support.listed import listing
from tests.support.page import Page, words

SCRIPT = {"HX-Request": "true"}
APPEARANCE = {"section": "appearance", "theme": "dark", "thoughts_open": "on"}
CONVERSATIONS = {
    "section": "conversations",
    "default_model": "demo:thinker",
    "instructions": "Be brief.\r\nMetric.",
}


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


@pytest.mark.both
def test_what_is_chosen_is_kept_and_shown(signed_in, alice):
    saved = signed_in.post("/settings/", APPEARANCE)
    assert (saved.status_code, saved["Location"]) == (302, "/settings/?saved=appearance#appearance")
    signed_in.post("/settings/", CONVERSATIONS)
    kept = load_preference(alice)
    assert (kept.theme, kept.thoughts_open, kept.enter_sends) == ("dark", True, False)
    assert (kept.default_model, kept.instructions) == ("demo:thinker", "Be brief.\nMetric.")
    page = Page(signed_in.get(saved["Location"]))
    assert page.chosen("default_model") == "demo:thinker"
    assert page.one("input", type="radio", value="dark", checked="")
    assert words(page.one("p", id="appearance-told")) == "Saved."


def test_a_section_leaves_the_others_alone(signed_in, alice):
    signed_in.post("/settings/", CONVERSATIONS)
    signed_in.post("/settings/", APPEARANCE)
    assert load_preference(alice).instructions == "Be brief.\nMetric."


def test_a_chosen_theme_is_on_every_page(signed_in):
    signed_in.post("/settings/", APPEARANCE)
    assert Page(signed_in.get("/")).one("html", data_theme="dark")
    signed_in.post("/settings/", APPEARANCE | {"theme": ""})
    assert not Page(signed_in.get("/")).all("html", data_theme="dark")


def test_a_script_gets_a_word(signed_in):
    assert signed_in.post("/settings/", APPEARANCE, headers=SCRIPT).text == "Saved."


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (APPEARANCE | {"theme": "pink"}, "not one of the available choices"),
        (CONVERSATIONS | {"default_model": "nobody:x"}, "is not configured"),
        (CONVERSATIONS | {"instructions": "ü" * 16385}, "at most 32 kB"),
    ],
)
@pytest.mark.parametrize("headers", [{}, SCRIPT])
def test_what_cannot_be_is_refused_in_words_and_changes_nothing(signed_in, sent, sentence, headers):
    response = signed_in.post("/settings/", sent, headers=headers)
    assert response.status_code == 400
    assert sentence in response.text
    assert ("<html" in response.text) is not headers
    assert not Preference.objects.exists()


@pytest.mark.parametrize("section", ["", "account", "appearance\x00"])
def test_a_section_that_there_is_not_is_refused(signed_in, section):
    assert signed_in.post("/settings/", {"section": section, "theme": "dark"}).status_code == 400
    assert not Preference.objects.exists()


def test_nobody_sets_anything_for_somebody_else(signed_in, alice, bob):
    signed_in.post("/settings/", APPEARANCE | {"user": bob.pk, "user_id": bob.pk, "pk": bob.pk})
    assert [row.user for row in Preference.objects.all()] == [alice]


def test_a_default_model_that_is_gone_is_still_named(signed_in, alice, models_here):
    models_here(listing("openai", "gpt-5"))
    save_preference(alice, default_model="closed:model")
    response = signed_in.get("/settings/")
    assert Page(response).chosen("default_model") == "closed:model"
    assert "cannot be asked here any more" in response.text


def test_the_usual_model_is_called_as_everywhere(signed_in):
    assert "As this server has it (Demo (not a real model))" in signed_in.get("/settings/").text


def test_the_way_to_the_administration_is_there_for_staff_alone(client, alice, bob, dana):
    for person, there in ((alice, False), (bob, False), (dana, True)):
        client.force_login(person)
        assert ('href="/admin/"' in client.get("/settings/").text) is there


def test_the_keys_of_the_keyboard_are_on_every_page(signed_in):
    for path in ("/", "/settings/", "/models/"):
        dialog = Page(signed_in.get(path)).one("dialog", id="keys")
        assert "Edit the last question" in words(dialog)
