"""A conversation leaves one person's browser as a file, and goes on in another's; what ChatGPT gives is shown before it comes."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.browser.looks import PHONE, on_both
from tests.browser.steered import Think, Write
from tests.exchange.test_chatgpt import ASKED, EXACT, conversation, export, node, recap, thoughts


def ask(tab, words: str) -> None:
    """On a phone Enter breaks the line."""
    tab.page.wait_for_load_state()
    tab.composer.fill(words)
    tab.press("Send")


def opened(tab, look, title: str) -> None:
    """From the list, which a phone has behind a button."""
    if look is PHONE:
        tab.press("Conversations")
    tab.page.get_by_role("navigation", name="Conversations").get_by_role("link", name=title).click()


def fits(tab) -> bool:
    return bool(tab.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))


@on_both
def test_a_file_goes_out_and_another_person_goes_on_with_it(enter, upstream, tmp_path, look):
    upstream.plays(Think("Hm."), Write("Because."))
    tab = enter(**look).open()
    ask(tab, "Why is it so?")
    tab.expect_status("complete")
    tab.page.get_by_role("navigation", name="Conversation", exact=True).get_by_role(
        "button", name="More"
    ).click()
    tab.page.get_by_role("link", name="Export").click()
    dialog = tab.page.get_by_role("dialog", name="Export")
    assert tab.grave() == []
    expect(dialog.get_by_text("why-is-it-so.md, under 1 kB")).to_be_visible()
    dialog.get_by_label("Thoughtline’s JSON").check()
    expect(dialog.get_by_role("switch", name="With thoughts")).to_be_disabled()
    with tab.page.expect_download() as coming:
        dialog.get_by_role("button", name="Download").click()
    expect(dialog).to_have_count(0)
    file = tmp_path / "kept.json"
    coming.value.save_as(file)
    (tmp_path / "half.json").write_bytes(file.read_bytes()[:-40])

    other = enter(**look).open("import/")
    assert other.grave() == [] and fits(other)
    other.page.get_by_label("Files to import").set_input_files([file, tmp_path / "half.json"])
    expect(other.page.get_by_text("Not read: it ends in the middle")).to_be_visible()
    expect(other.page.get_by_text("to the millisecond: 1")).to_be_visible()
    assert other.grave() == [] and fits(other)
    other.press("Import 1 conversation")
    expect(other.page.get_by_role("button", name="Undo the import of")).to_be_visible()
    assert other.grave() == [] and fits(other)
    opened(other, look, "Why is it so?")
    expect(other.page.get_by_text("Imported from Thoughtline")).to_be_visible()
    expect(other.messages).to_have_count(2)
    before = len(upstream.requests)
    upstream.plays(Write("And so."))
    ask(other, "And then?")
    expect(other.answers).to_have_count(2)
    other.expect_status("complete")
    sent = json.dumps([asked.body for asked in upstream.requests[before:]])
    assert '"reasoning"' in sent and "encrypted_content" in sent


@on_both
def test_what_chatgpt_gives_is_shown_before_it_comes_and_with_its_times(enter, tmp_path, look):
    told = conversation(
        ASKED, thoughts("t", "u", ("", "Hm.")), recap("r", "t", **EXACT), node("a", "r", text="In Norway.")
    )
    file = tmp_path / "conversations.json"
    file.write_bytes(export(told))
    tab = enter(**look).open("import/")
    tab.page.get_by_label("Files to import").set_input_files(file)
    expect(tab.page.get_by_role("heading", name="What would be imported")).to_be_visible()
    expect(tab.page.get_by_text("to the millisecond: 1")).to_be_visible()
    expect(tab.page.get_by_text("ChatGPT, ")).to_be_visible()
    tab.press("Import 1 conversation")
    expect(tab.page.get_by_role("button", name="Undo the import of conversations.json")).to_be_visible()
    opened(tab, look, "Bergen")
    expect(tab.page.get_by_text("Thought for 24 seconds").first).to_be_visible()
    expect(tab.page.get_by_text("In Norway.")).to_be_visible()
    expect(tab.composer).to_be_visible()


@on_both
def test_everything_goes_out_as_a_zip_that_comes_in_again(enter, upstream, tmp_path, look):
    upstream.plays(Think("Hm."), Write("Because."))
    tab = enter(**look).open()
    ask(tab, "Why is it so?")
    tab.expect_status("complete")
    tab.open("settings/export/")
    assert tab.grave() == [] and fits(tab)
    tab.press("Prepare the zip")
    link = tab.page.get_by_role("link", name="Download")
    expect(link).to_be_visible()
    assert tab.grave() == [] and fits(tab)
    with tab.page.expect_download() as coming:
        link.click()
    coming.value.save_as(tmp_path / "all.zip")
    other = enter(**look).open("import/")
    other.page.get_by_label("Files to import").set_input_files(tmp_path / "all.zip")
    other.press("Import 1 conversation")
    expect(other.page.get_by_role("button", name="Undo the import of all.zip")).to_be_visible()
    opened(other, look, "Why is it so?")
    expect(other.page.get_by_text("Imported from Thoughtline")).to_be_visible()
    other.open("import/")
    other.press("Undo the import of all.zip")
    expect(other.page.get_by_role("button", name="Undo the import of all.zip")).to_have_count(0)
