"""No text of anybody becomes anything but words, in no place, in no half, in no piece."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from chatapp.markdown import Growing, GrowingPieces, render, render_blocks, render_plain, render_question
from chatapp.markdown.sanitise import sanitised
from tests.support.attacks import ATTACKS, LISTENER, REQUESTS

from .safe_html import read

GROUPS = 16


def complaints(html: str) -> list[str]:
    return read(html).wrong


def test_there_are_hundreds_of_attacks():
    assert len(set(ATTACKS)) > 400
    assert len(REQUESTS) >= 60


def test_a_renderer_that_believes_its_text_would_be_caught():
    believing = MarkdownIt("commonmark", {"html": True})
    assert sum(bool(complaints(believing.render(text))) for text in ATTACKS) > 300


@pytest.mark.parametrize(
    "show", [render, render_plain, render_question], ids=["answer or thought", "note", "question"]
)
def test_an_attack_is_shown_as_words(show):
    assert {text: found for text in ATTACKS if (found := complaints(show(text)))} == {}


@pytest.mark.parametrize(
    "frame", ["a\n\n{}\n\nb", "- x\n\n  {}", "> {}", "| a |\n|---|\n| {} |", "**{}**", "[{}](http://a.b)"]
)
def test_an_attack_is_shown_as_words_inside_other_pieces(frame):
    texts = (frame.format(text.replace("\n", "\n  ")) for text in ATTACKS)
    assert {text: found for text in texts if (found := complaints(render(text)))} == {}


@pytest.mark.parametrize(
    "frame", ["```\n{}\n```", "> {}", "- x\n- {}", "a();\nb();\n{}\nc();", "1. x\n   {}"]
)
def test_an_attack_is_shown_as_words_inside_the_pieces_of_a_question(frame):
    texts = [frame.format(text) for text in ATTACKS]
    assert {text: found for text in texts if (found := complaints(render_question(text)))} == {}


@pytest.mark.parametrize("group", range(GROUPS))
def test_half_an_attack_is_as_safe_as_the_whole(group):
    for text in ATTACKS[group::GROUPS]:
        growing, pieces = Growing(message="m", key="k"), GrowingPieces(message="m", key="k")
        for end in range(1, len(text) + 1):
            made = [html for _, html in pieces.feed(text[end - 1], growing.known)]
            assert complaints("".join(growing.feed(text[:end]) + made)) == [], text[:end]
        assert [complaints(html) for _, html in growing.finish(text) if complaints(html)] == []


def test_cleaned_html_reads_the_same_when_it_is_cleaned_again():
    """What a browser makes of it is what the cleaner saw."""
    for text in ATTACKS:
        for html in render_blocks(text):
            if "<header" not in html:
                assert sanitised(html).strip() == html, text


def test_nothing_is_fetched_without_a_click():
    for text in REQUESTS:
        html = render(text)
        for link in read(html).links:
            html = html.replace(f'href="{link["href"]}"', "").replace(f'title="{link["href"]}"', "")
        assert not any(
            f'{name}="{LISTENER}' in html for name in ("src", "href", "data", "action", "poster", "ping")
        )


def test_every_link_out_of_the_page_is_closed_behind_the_reader():
    for text in ATTACKS:
        for link in read(render(text)).links:
            if not link["href"].startswith("#"):
                assert link["rel"] == "noopener noreferrer nofollow"
                assert link["target"] == "_blank"
                assert link["title"] == link["href"]
