"""The first visit to a fresh installation, as somebody sees it."""

from __future__ import annotations

import pytest

from tests.conftest import PASSWORD


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_one_signs_up_sees_the_models_and_signs_out(server, browser, scheme):
    page = browser.new_context(color_scheme=scheme).new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    page.goto(f"{server}accounts/signup/")
    page.get_by_label("Username").fill("alice")
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("heading", name="Ready to think, alice.").wait_for()
    assert page.get_by_text("demo:thinker", exact=True).is_visible()
    assert is_dark(page) == (scheme == "dark")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/accounts/login/")
    page.context.close()
    assert wrong == []


def is_dark(page) -> bool:
    """By how bright a pixel of the page's background is."""
    bright = """() => {
        const paint = document.createElement("canvas").getContext("2d");
        paint.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
        paint.fillRect(0, 0, 1, 1);
        return paint.getImageData(0, 0, 1, 1).data[1];
    }"""
    return page.evaluate(bright) < 128
