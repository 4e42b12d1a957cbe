"""What somebody is writing is not lost: by a reload, a failed send, or a sign-in."""

from __future__ import annotations

from playwright.sync_api import expect

from .steered import Write

WORDS = "A long question,\nthought about for an hour"


def test_it_survives_a_reload_and_belongs_to_its_conversation(enter, upstream):
    upstream.always(Write("Because."))
    tab = enter().open()
    tab.composer.fill("for a new one")
    tab.reload()
    expect(tab.composer).to_have_value("for a new one")
    tab.ask("Why?")
    expect(tab.composer).to_have_value("")
    tab.composer.fill(WORDS)
    tab.reload()
    expect(tab.composer).to_have_value(WORDS)
    tab.open()
    expect(tab.composer).to_have_value("")
    tab.page.go_back()
    expect(tab.composer).to_have_value(WORDS)


def test_it_survives_a_send_that_failed_and_can_be_sent_then(enter, proxy, upstream):
    upstream.always(Write("Because."))
    tab = enter(to=proxy)
    tab.forgive("WebSocket", "ERR_", "htmx:")
    tab.open()
    tab.ask("Why?")
    tab.expect_status("complete")
    with proxy.away():
        tab.composer.fill(WORDS)
        tab.composer.press("Enter")
        expect(tab.page.get_by_role("alert").first).to_contain_text("The server cannot be reached.")
        expect(tab.composer).to_have_value(WORDS)
    tab.composer.press("Enter")
    expect(tab.questions).to_have_count(2)
    expect(tab.composer).to_have_value("")
    tab.expect_as_loaded()
    assert len(upstream.requests) == 2


def test_it_is_gone_from_this_browser_after_signing_out(enter, upstream):
    tab = enter().open()
    tab.composer.fill(WORDS)
    tab.page.get_by_role("button", name="Sign out").click()
    tab.page.wait_for_url("**/accounts/login/")
    assert tab.page.evaluate("JSON.stringify(localStorage)").find("thought about") == -1
