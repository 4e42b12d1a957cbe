"""A conversation leaves one person's browser as a file, and goes on in another's; what ChatGPT gives is shown before it comes."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.browser.looks import on_both
from tests.browser.steered import Think, Write
from tests.exchange.test_chatgpt import ASKED, EXACT, conversation, export, node, recap, thoughts


def test_a_file_goes_out_and_another_person_goes_on_with_it(enter, upstream, tmp_path):
    upstream.plays(Think("Hm."), Write("Because."))
    tab = enter().open()
    tab.ask("Why is it so?")
    tab.expect_status("complete")
    tab.page.get_by_role("navigation", name="Conversation", exact=True).get_by_role(
        "button", name="More"
    ).click()
    tab.page.get_by_role("link", name="Export").click()
    dialog = tab.page.get_by_role("dialog", name="Export")
    on_both(tab.page, "an export")
    expect(dialog.get_by_text("about")).to_be_visible()
    dialog.get_by_label("Thoughtline’s JSON").check()
    expect(dialog.get_by_role("switch", name="With thoughts")).to_be_disabled()
    with tab.page.expect_download() as coming:
        dialog.get_by_role("button", name="Download").click()
    expect(dialog).to_have_count(0)
    file = tmp_path / "kept.json"
    coming.value.save_as(file)
    (tmp_path / "half.json").write_bytes(file.read_bytes()[:-40])

    other = enter().open("import/")
    on_both(other.page, "choosing files")
    other.page.get_by_label("Files to import").set_input_files([file, tmp_path / "half.json"])
    expect(other.page.get_by_text("Not read: it ends in the middle")).to_be_visible()
    expect(other.page.get_by_text("to the millisecond: 1")).to_be_visible()
    on_both(other.page, "what would come")
    other.press("Import 1 conversation")
    expect(other.page.get_by_role("button", name="Undo the import of")).to_be_visible()
    other.page.get_by_role("navigation", name="Conversations").get_by_role(
        "link", name="Why is it so?"
    ).click()
    expect(other.page.get_by_text("Imported from Thoughtline")).to_be_visible()
    expect(other.messages).to_have_count(2)
    before = len(upstream.requests)
    upstream.plays(Write("And so."))
    other.ask("And then?")
    expect(other.answers).to_have_count(2)
    other.expect_status("complete")
    sent = json.dumps([asked.body for asked in upstream.requests[before:]])
    assert '"reasoning"' in sent and "encrypted_content" in sent


def test_what_chatgpt_gives_is_shown_with_its_times(enter, tmp_path):
    told = conversation(
        ASKED, thoughts("t", "u", ("", "Hm.")), recap("r", "t", **EXACT), node("a", "r", text="In Norway.")
    )
    file = tmp_path / "conversations.json"
    file.write_bytes(export(told))
    tab = enter().open("import/")
    tab.page.get_by_label("Files to import").set_input_files(file)
    tab.press("Import 1 conversation")
    tab.page.get_by_role("navigation", name="Conversations").get_by_role("link", name="Bergen").click()
    expect(tab.page.get_by_text("Thought for 24 seconds").first).to_be_visible()
    expect(tab.page.get_by_text("In Norway.")).to_be_visible()
    expect(tab.composer).to_be_visible()
