"""What programs put around somebody's words is told apart as they mark it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.attached import is_told, parts_of, role_of, told
from chatapp.core.signs.added import Added, added_to

REMINDER = "<system-reminder>\nToday is Friday.\n</system-reminder>"
PLACE = "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"
INSTRUCTIONS = "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nBe brief.\n<b>Bold</b>\n</INSTRUCTIONS>"


@pytest.mark.parametrize("block", [REMINDER, PLACE, INSTRUCTIONS, '<open_files count="2">a.py</open_files>'])
def test_blocks_before_the_words_are_no_words(block: str) -> None:
    found = added_to(f"{block}\n\nFix it.")
    assert (found.words, found.before.text, bool(found.behind)) == ("Fix it.", block, False)


def test_blocks_behind_the_words_are_none_either() -> None:
    found = added_to(f"{REMINDER}\n{PLACE}\n\nFix *it*.\n{REMINDER}\n")
    assert found.words == "Fix *it*."
    assert found.before == Added(f"{REMINDER}\n{PLACE}", ("system-reminder", "environment_context"))
    assert found.behind == Added(REMINDER, ("system-reminder",))


def test_nothing_may_be_left() -> None:
    assert added_to(PLACE).words == ""


@pytest.mark.parametrize(
    "text",
    [
        "Fix it.",
        "  Fix it.\n",
        "<b>Why</b> is this bold?",
        "Why does <system-reminder> stand there?",
        "What is <system-reminder>this</system-reminder> in the middle?",
        "<system-reminder> never ends",
        "It ends </system-reminder>",
        "</system-reminder><system-reminder>",
        "<my_tag<x>>a</my_tag>",
        "# AGENTS.md instructions are what?",
    ],
)
def test_what_somebody_may_have_written_stays_as_it_is(text: str) -> None:
    found = added_to(text)
    assert (found.words, bool(found)) == (text, False)


@given(st.lists(st.sampled_from([REMINDER, PLACE, "Fix it.", "<a_b>", "</a_b>", "</", "<", "\n", " "])))
def test_nothing_is_lost_and_nothing_is_made_up(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = added_to(text)
    whole = "".join((found.before.text, found.words, found.behind.text))
    assert "".join(whole.split()) == "".join(text.split())


def test_words_that_something_was_added_to_are_sent_as_they_came() -> None:
    text = f"{REMINDER}\n\n Fix it. "
    wire = told("user", [text])
    assert is_told(wire) and role_of(wire) == "user" and parts_of(wire) == ()
    assert told("user", ["Fix it."]) is None
