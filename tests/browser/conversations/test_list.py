"""The list of conversations in a real browser: what is done to a row changes the list at once, and the focus stays in it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.looks import PHONE, on_both

TITLES = ["Rain barrel", "Bakery in Ghent", "Release notes"]


ZONE = "Europe/Amsterdam"


@pytest.fixture
def come(enter, place):
    """Opens a tab for somebody who has been here before: their zone is known, so no list comes anew by itself."""

    def come(**look):
        tab = enter(timezone_id=ZONE, **look)
        tab.context.add_cookies([{"name": "zone", "value": ZONE, "url": place.url}])
        return tab

    return come


@pytest.fixture
def tab(come, place):
    """Somebody with three conversations, the last of these the newest, and no page open yet."""
    tab = come()
    tab.made = {
        title: place.clerk("conversation", owner=tab.person, turns=2, title=title) for title in TITLES
    }
    return tab


def titles(tab):
    return tab.page.locator(".titles > li > a")


def row(tab, title):
    return tab.page.locator(".titles > li", has_text=title)


def do(tab, title, what):
    row(tab, title).hover()
    tab.press(f"More about {title}")
    row(tab, title).get_by_text(what, exact=True).click()


def focused(tab):
    return tab.page.evaluate("document.activeElement.closest('.titles > li')?.innerText ?? ''")


def test_pinning_moves_a_row_up_and_back(tab):
    tab.open()
    expect(titles(tab)).to_have_text(["Release notes", "Bakery in Ghent", "Rain barrel"])
    do(tab, "Rain barrel", "Pin")
    expect(titles(tab)).to_have_text(["Rain barrel", "Release notes", "Bakery in Ghent"])
    expect(tab.page.get_by_role("heading", name="Pinned")).to_be_visible()
    assert "Rain barrel" in focused(tab)
    do(tab, "Rain barrel", "Unpin")
    expect(titles(tab)).to_have_text(["Release notes", "Bakery in Ghent", "Rain barrel"])


def test_renaming_changes_the_row_and_the_page(tab):
    tab.open(f"c/{tab.made['Rain barrel']}/")
    do(tab, "Rain barrel", "Rename")
    field = tab.page.get_by_label("Title")
    expect(field).to_be_focused()
    field.fill("Water <b>butt</b>")
    field.press("Enter")
    expect(row(tab, "Water <b>butt</b>")).to_be_visible()
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Water <b>butt</b>")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    assert row(tab, "Water").locator("a").first.get_attribute("aria-current") == "page"


def test_a_deleted_row_goes_comes_back_and_leaves_the_focus_in_the_list(tab):
    tab.open()
    do(tab, "Bakery in Ghent", "Delete")
    expect(titles(tab)).to_have_text(["Release notes", "Rain barrel"])
    expect(tab.page.get_by_role("status").locator("[data-toast]")).to_contain_text("Conversation deleted")
    assert "Rain barrel" in focused(tab)
    tab.press("Undo")
    expect(titles(tab)).to_have_text(["Release notes", "Bakery in Ghent", "Rain barrel"])
    expect(tab.page.locator("[data-toast]")).to_have_count(0)


def test_archiving_can_be_taken_back_there_and_from_the_archive(tab):
    tab.open()
    do(tab, "Bakery in Ghent", "Archive")
    tab.press("Undo")
    expect(titles(tab)).to_have_count(3)
    do(tab, "Bakery in Ghent", "Archive")
    expect(titles(tab)).to_have_count(2)
    tab.page.get_by_role("link", name="Archived").click()
    expect(titles(tab)).to_have_text(["Bakery in Ghent"])
    do(tab, "Bakery in Ghent", "Back to the list")
    expect(titles(tab)).to_have_count(0)


def test_deleting_the_open_conversation_leads_home_and_back(tab):
    tab.open(f"c/{tab.made['Rain barrel']}/")
    do(tab, "Rain barrel", "Delete")
    tab.page.wait_for_url(tab.url)
    expect(titles(tab)).to_have_count(2)
    tab.press("Undo")
    tab.page.wait_for_url(f"**/c/{tab.made['Rain barrel']}/")
    expect(titles(tab)).to_have_count(3)


def test_what_one_types_filters_the_list(tab):
    tab.open()
    search = tab.page.get_by_role("searchbox", name="Search conversations")
    search.press_sequentially("GHENT")
    expect(titles(tab)).to_have_text(["Bakery in Ghent"])
    search.fill("")
    expect(titles(tab)).to_have_count(3)


def test_older_conversations_come_as_one_scrolls(come, place):
    tab = come()
    for n in range(45):
        place.clerk("conversation", owner=tab.person, turns=1, title=f"Number {n}")
    tab.open()
    expect(titles(tab)).to_have_count(40)
    titles(tab).last.scroll_into_view_if_needed()
    expect(titles(tab)).to_have_count(45)
    assert tab.page.get_by_role("heading", name="Today").count() == 1


def test_the_days_are_those_of_the_browser(enter, place):
    tab = enter(timezone_id="Pacific/Kiritimati")
    place.clerk("conversation", owner=tab.person, turns=1, title="Now")
    tab.open()
    expect(tab.page.get_by_role("heading", name="Today")).to_be_visible()
    assert {it["name"]: it["value"] for it in tab.context.cookies()}["zone"] == "Pacific/Kiritimati"


def test_without_scripts_everything_can_be_done(come, place):
    tab = come(java_script_enabled=False)
    conversation = place.clerk("conversation", owner=tab.person, turns=2, title="Rain barrel")
    tab.open("conversations/")
    do(tab, "Rain barrel", "Pin")
    expect(tab.page.get_by_role("heading", name="Pinned")).to_be_visible()
    do(tab, "Rain barrel", "Rename")
    tab.page.get_by_label("Title").fill("Water butt")
    tab.press("Save")
    tab.page.wait_for_url(f"**/c/{conversation}/")
    tab.open("conversations/?q=butt")
    do(tab, "Water butt", "Delete")
    expect(tab.page.get_by_text("Conversation deleted")).to_be_visible()
    tab.press("Undo")
    tab.page.wait_for_url(f"**/c/{conversation}/")


def test_a_message_is_deleted_after_a_question_and_comes_back(tab):
    tab.open(f"c/{tab.made['Rain barrel']}/")
    expect(tab.messages).to_have_count(4)
    tab.messages.nth(1).hover()
    tab.press("More on this answer", within=tab.messages.nth(1))
    tab.press("Delete", within=tab.messages.nth(1))
    dialog = tab.page.get_by_role("dialog", name="Delete this answer?")
    expect(dialog).to_contain_text("This deletes 3 messages")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    tab.press("Cancel", within=dialog)
    expect(dialog).to_have_count(0)
    tab.press("More on this answer", within=tab.messages.nth(1))
    tab.press("Delete", within=tab.messages.nth(1))
    tab.press("Delete", within=dialog)
    expect(tab.messages).to_have_count(1)
    expect(dialog).to_have_count(0)
    expect(tab.page.get_by_role("status").locator("[data-toast]")).to_contain_text("3 messages deleted")
    tab.press("Undo")
    expect(tab.messages).to_have_count(4)
    expect(tab.page.locator("[data-toast]")).to_have_count(0)


@on_both
def test_the_list_its_menu_and_its_dialogs_are_accessible(come, place, look):
    tab = come(**look)
    place.clerk("conversation", owner=tab.person, turns=1, title="Rain barrel")
    tab.open()
    if look is PHONE:
        tab.press("Conversations")
    tab.press("More about Rain barrel")
    assert tab.grave() == []
    row(tab, "Rain barrel").get_by_text("Rename").click()
    expect(tab.page.get_by_role("dialog")).to_be_visible()
    assert tab.grave() == []
