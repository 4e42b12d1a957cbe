"""The font of formulas: small, made once, with all that the usual formulas need."""

from __future__ import annotations

import os
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from fontTools.ttLib import TTFont

from chatapp.markdown import render
from chatapp.pages.fonts import finder
from tests.markdown.safe_html import words
from tests.markdown.usual_formulas import FORMULAS

MOST_BYTES = 100_000


@cache
def path() -> Path:
    return Path(finders.find(finder.NAME))


@cache
def font() -> TTFont:
    return TTFont(path())


def test_it_is_small_and_says_whose_it_is():
    assert path().stat().st_size <= MOST_BYTES
    told = " ".join(map(str, font()["name"].names))
    assert "STIX Fonts Project Authors" in told and "SIL Open Font License" in told


def test_it_has_a_form_for_every_sign_of_the_usual_formulas():
    shown = {sign for latex in FORMULAS for sign in words(render(f"$$\n{latex}\n$$"))}
    missing = {sign for sign in shown if ord(sign) not in font().getBestCmap() and not sign.isspace()}
    # Which form of a letter is meant; that has no form of its own.
    assert missing - {"\ufe00", "\ufe01"} == set()


def test_brackets_roots_and_arrows_still_grow():
    table, names = font()["MATH"].table.MathVariants, font().getBestCmap()
    upright = dict(zip(table.VertGlyphCoverage.glyphs, table.VertGlyphConstruction, strict=True))
    lying = dict(zip(table.HorizGlyphCoverage.glyphs, table.HorizGlyphConstruction, strict=True))
    for sign in "()[]{}√∑∫":
        construction = upright[names[ord(sign)]]
        assert construction.GlyphAssembly or construction.VariantCount > 1, sign
    for sign in "→←⏟⏞":
        parts = lying[names[ord(sign)]].GlyphAssembly.PartRecords
        joints = pairwise(parts)
        least = table.MinConnectorOverlap
        assert all(min(a.EndConnectorLength, b.StartConnectorLength) >= least for a, b in joints), sign


def test_no_letter_reaches_over_the_one_that_follows():
    letters = {name for sign, name in font().getBestCmap().items() if 0x1D400 <= sign < 0x1D800}
    outlines, rooms = font()["glyf"], font()["hmtx"]
    assert letters
    assert [
        name for name in letters if outlines[name].numberOfContours and outlines[name].xMax > rooms[name][0]
    ] == []


def test_it_is_made_where_it_is_missing_and_not_again(settings, tmp_path):
    settings.FONTS_ROOT = tmp_path / "made"
    finder.font_folder.cache_clear()
    try:
        made = finder.font_folder() / finder.NAME
        first = os.stat(made).st_mtime_ns
        finder.font_folder.cache_clear()
        assert finder.font_folder() / finder.NAME == made and os.stat(made).st_mtime_ns == first
        assert [each.name for each in made.parent.iterdir()] == [made.name]
    finally:
        finder.font_folder.cache_clear()


@pytest.mark.django_db
def test_it_is_served_by_our_own_address_and_pages_may_load_it_from_nowhere_else(client):
    response = client.get(f"/static/{finder.NAME}")
    assert response.status_code == 200 and response["Content-Type"] == "font/woff2"
    assert "font-src 'self'" in client.get("/accounts/login/")["Content-Security-Policy"]
