"""Finding a model among all of them, by keyboard, quickly."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.fixture
def opened(enter):
    """A tab in which all models are shown."""

    def open_one(**more):
        tab = enter(**more).open()
        tab.press("All models")
        dialog = tab.page.get_by_role("dialog", name="All models")
        expect(dialog.get_by_role("searchbox")).to_be_focused()
        return tab, dialog

    return open_one


def test_one_types_and_presses_enter(opened):
    tab, dialog = opened()
    tab.page.keyboard.type("haiku")
    expect(dialog.get_by_role("status")).to_have_text("1 model")
    tab.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(tab.page.get_by_label("Model", exact=True)).to_have_value("anthropic:claude-haiku-4-5")
    expect(tab.composer).to_be_focused()


def test_one_goes_down_with_the_arrows(opened):
    tab, dialog = opened()
    tab.page.keyboard.type("gpt-5")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
        tab.page.keyboard.press(key)
    tab.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(tab.page.get_by_label("Model", exact=True)).to_have_value("openai:gpt-5-mini")


def test_a_model_that_is_not_listed_is_asked_by_its_full_name(opened):
    tab, dialog = opened()
    tab.page.keyboard.type("openai:o99")
    tab.page.keyboard.press("Enter")
    expect(dialog.get_by_role("link", name="openai:o99")).to_be_visible()
    tab.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(tab.page.get_by_label("Model", exact=True)).to_have_value("openai:o99")
    expect(tab.page.get_by_label("Effort")).to_be_visible()


def test_a_name_of_nothing_is_told_and_all_come_back(opened):
    tab, dialog = opened()
    everything = dialog.get_by_role("link").count()
    tab.page.keyboard.type("nobody:x")
    tab.page.keyboard.press("Enter")
    expect(dialog).to_contain_text("is not configured")
    dialog.get_by_role("searchbox").fill("")
    expect(dialog.get_by_role("link")).to_have_count(everything)
    expect(dialog).not_to_contain_text("is not configured")


def test_escape_closes_it_and_changes_nothing(opened):
    tab, dialog = opened()
    model = tab.page.get_by_label("Model", exact=True)
    before = model.input_value()
    tab.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(tab.page.get_by_role("button", name="All models")).to_be_focused()
    expect(model).to_have_value(before)


def test_among_four_thousand_typing_stays_quick(opened):
    _, dialog = opened()
    dialog.locator("ul").first.evaluate(
        """list => {
            const row = list.querySelector("li");
            for (let n = 0; n < 4000; n++) {
                const copy = row.cloneNode(true);
                copy.querySelector("code").textContent = `openrouter:maker/model-${n}`;
                list.append(copy);
            }
        }"""
    )
    field = dialog.get_by_role("searchbox")
    field.fill("m")
    slowest = field.evaluate(
        """field => Math.max(...["mo", "model", "model-39", "model-3999", ""].map((words) => {
            const began = performance.now();
            field.value = words;
            field.dispatchEvent(new Event("input", { bubbles: true }));
            document.body.offsetHeight;
            return performance.now() - began;
        }))"""
    )
    assert slowest < 500
    field.fill("model-3999")
    expect(dialog.get_by_role("status")).to_have_text("1 model")


def test_the_one_that_is_chosen_now_is_marked_and_in_sight(opened):
    tab, dialog = opened(viewport={"width": 390, "height": 500})
    chosen = dialog.locator("[aria-current=true]")
    expect(chosen).to_have_attribute("data-model", "openai:gpt-5")
    last = dialog.locator("a[data-model]").last
    expect(last).not_to_be_in_viewport()
    wanted = last.get_attribute("data-model")
    last.click()
    expect(tab.page.get_by_label("Model", exact=True)).to_have_value(wanted)
    tab.press("All models")
    expect(chosen).to_have_count(1)
    expect(chosen).to_have_attribute("data-model", wanted)
    expect(chosen).to_be_in_viewport(ratio=0.9)
    expect(dialog.get_by_role("searchbox")).to_be_focused()


def test_the_settings_use_the_same_dialog(opened):
    tab, _ = opened()
    tab.open("settings/")
    tab.press("All models")
    dialog = tab.page.get_by_role("dialog", name="All models")
    expect(dialog.get_by_role("searchbox")).to_be_focused()
    tab.page.keyboard.type("haiku")
    expect(dialog.get_by_role("status")).to_have_text("1 model")
    tab.page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    tab.press("Save")
    expect(tab.page.locator("#conversations-told")).to_have_text("Saved.")
    tab.open()
    expect(tab.page.get_by_label("Model", exact=True)).to_have_value("anthropic:claude-haiku-4-5")
