"""How a test enters: somebody new is signed in, through the faulty network too, and what the server gets wrong is not overlooked."""

from __future__ import annotations

from playwright.sync_api import expect


def test_somebody_new_is_signed_in_and_everybody_is_somebody_else(enter):
    one, other = enter(), enter()
    again = enter(one)
    for tab in (one, other, again):
        tab.open("settings/")
        expect(tab.page.get_by_text(tab.person, exact=True)).to_be_visible()
    assert one.person == again.person != other.person


def test_what_they_prefer_and_how_they_look_is_theirs(enter):
    tab = enter(prefers={"theme": "dark"}, viewport={"width": 390, "height": 700}).open("settings/")
    assert tab.page.locator("html").get_attribute("data-theme") == "dark"
    assert tab.page.evaluate("innerWidth") == 390


def test_the_way_can_lead_through_the_faulty_network(enter, proxy):
    tab = enter(to=proxy).open("settings/")
    expect(tab.page.get_by_text(tab.person, exact=True)).to_be_visible()
    with proxy.away():
        assert not tab.page.evaluate("fetch('/').then(() => true, () => false)")
    assert tab.page.evaluate("fetch('/health/live').then(() => true, () => false)")
    # The page itself may have been asking for its list meanwhile.
    tab.forgive("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "before receiving a handshake response", "htmx:")
