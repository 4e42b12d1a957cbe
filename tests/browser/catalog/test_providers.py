"""An administrator adds a provider and looks after its models in a real browser, and everybody else meets what came of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.looks import PHONE
from tests.browser.served import Served, serving, with_tables
from tests.browser.steered import Think, Write

PROVIDERS, MODELS = "admin/chatapp/modelprovider/", "admin/chatapp/knownmodel/"


@pytest.fixture
def own_house(tmp_path, upstream) -> Iterator[Served]:
    """A server that knows the key of one provider more."""
    environment = upstream.environment | {"DEFAULT_MODEL": "openai:gpt-5", "ACME_API_KEY": "sk-org-acme"}
    with serving(with_tables(tmp_path), environment) as served:
        yield served
        upstream.settle()


@pytest.fixture
def administrator(enter, own_house):
    def come(**look):
        tab = enter(**look)
        own_house.clerk("promote", name=tab.person)
        return tab

    return come


def add_provider(tab, upstream) -> None:
    tab.open(f"{PROVIDERS}add/")
    tab.page.get_by_label("Name:").fill("acme")
    tab.page.get_by_label("Label").fill("Acme")
    tab.page.get_by_label("Protocol").select_option(label="OpenAI Responses")
    tab.page.get_by_label("Base URL").fill(upstream.url)
    tab.page.get_by_label("Key variable").fill("ACME_API_KEY")
    tab.press("Save")
    expect(tab.page.locator(".errorlist")).to_contain_text("tick “In a private network”")
    tab.page.get_by_label("In a private network").check()
    tab.press("Save")
    expect(tab.page.get_by_role("row", name="Acme")).to_contain_text("It answers.")


def say(tab, model: str, **said: str) -> None:
    tab.open(f"{MODELS}model/?name={model}")
    if "label" in said:
        tab.page.get_by_label("Name:").fill(said["label"])
    if "effort" in said:
        tab.page.get_by_label("Effort").select_option(said["effort"])
    tab.press("Save")
    expect(tab.page.locator(".messagelist")).to_contain_text("is saved.")


def test_a_provider_is_added_and_a_person_asks_one_of_its_models(administrator, enter, upstream):
    staff = administrator()
    add_provider(staff, upstream)
    staff.press("Look now at Acme")
    expect(staff.page.locator(".messagelist")).to_contain_text("lists 3 models.")
    say(staff, "acme:gpt-5-mini", label="Little one")
    upstream.always(Think("Hm."), Write("Because."))
    tab = enter().open()
    tab.page.get_by_label("Model", exact=True).select_option("acme:gpt-5-mini")
    tab.ask("Why?")
    tab.expect_status("complete")
    expect(tab.answer).to_contain_text("Little one")
    (asked,) = upstream.requests
    assert (asked.model, asked.headers.get("authorization")) == ("gpt-5-mini", "Bearer sk-org-acme")


def test_a_proposed_effort_goes_with_its_model_and_a_chosen_one_stays(administrator, upstream):
    staff = administrator()
    say(staff, "openai:gpt-5", effort="high")
    say(staff, "openai:gpt-5-mini", effort="low")
    staff.open()
    model, effort = staff.page.get_by_label("Model", exact=True), staff.page.get_by_label("Effort")
    expect(effort).to_have_value("high")
    model.select_option("openai:gpt-5-mini")
    expect(effort).to_have_value("low")
    model.select_option("openai:gpt-4.1")
    expect(effort).to_be_hidden()
    model.select_option("openai:gpt-5")
    expect(effort).to_have_value("high")
    effort.select_option("medium")
    model.select_option("openai:gpt-5-mini")
    expect(effort).to_have_value("medium")
    effort.select_option("")
    model.select_option("openai:gpt-5")
    expect(effort).to_have_value("")


def test_a_model_of_the_dialog_brings_its_proposed_effort(administrator, upstream):
    staff = administrator()
    say(staff, "openai:o99", effort="low")
    staff.open()
    staff.press("All models")
    expect(staff.page.get_by_role("dialog").get_by_role("searchbox")).to_be_focused()
    staff.page.keyboard.type("openai:o99")
    staff.page.keyboard.press("Enter")
    expect(staff.page.get_by_role("link", name="openai:o99")).to_be_visible()
    staff.page.keyboard.press("Enter")
    expect(staff.page.get_by_label("Model", exact=True)).to_have_value("openai:o99")
    expect(staff.page.get_by_label("Effort")).to_have_value("low")


def test_the_pages_have_no_grave_finding(administrator, upstream):
    staff = administrator()
    # What looks for findings styles what it looks at.
    staff.forgive("Applying inline style", "Couldn't load preload assets", r"status of 404.*widgets")
    add_provider(staff, upstream)
    for path in (
        PROVIDERS,
        f"{PROVIDERS}1/change/",
        f"{MODELS}?provider=acme",
        f"{MODELS}model/?name=acme:gpt-5",
    ):
        staff.open(path)
        assert staff.grave() == [], path


def test_on_a_phone_wide_tables_scroll_inside_themselves(administrator, upstream):
    staff = administrator(**PHONE)
    add_provider(staff, upstream)
    for path in (PROVIDERS, MODELS, f"{MODELS}model/?name=acme:gpt-5"):
        staff.open(path)
        assert staff.page.evaluate("document.scrollingElement.scrollWidth") <= 390, path
