"""What was cut and what its model went on with are one text: nothing twice, no word glued, no block lost."""

from __future__ import annotations

import pytest

from chatapp.thread.joining import joined

TABLE = "| City | People |\n|---|---|\n| Ghent | 265,000 |"
CODE = "So:\n\n```python\ndef due(day):\n    retu"


@pytest.mark.parametrize("at", range(1, 60, 3))
def test_what_goes_on_exactly_where_it_was_cut_is_as_if_it_had_never_been(at):
    whole = f"{TABLE}\n| Lisbon | 545,000 |\n\nBoth **by the water**, and `so` on."
    assert joined(whole[:at], whole[at:]) == whole


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("It is the sea. Look at", "the sea", "It is the sea. Look at the sea"),
        ("First,", "then", "First, then"),
        ("That is all.", "And more", "That is all. And more"),
        ("see example.", "com", "see example.com"),
        ("It costs 545", "000 euros", "It costs 545000 euros"),
        ("It is think", "ing, and thinking is good", "It is thinking, and thinking is good"),
        ("**bo", "ld**", "**bold**"),
        ("注意", "这里", "注意这里"),
        ("Half ", "whole", "Half whole"),
    ],
)
def test_words_meet_as_the_rows_tell(before, after, whole):
    assert joined(before, after) == whole


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        ("Some words", "## Then", "Some words\n\n## Then"),
        ("1. One\n2. Two", "3. Three", "1. One\n2. Two\n3. Three"),
        ("Look:", "- One\n- Two", "Look:\n\n- One\n- Two"),
        (TABLE, "| Lisbon | 545,000 |", f"{TABLE}\n| Lisbon | 545,000 |"),
        (CODE, "```\n\nDone.", f"{CODE}\n```\n\nDone."),
        (CODE, "rn day", f"{CODE}rn day"),
        ("Look:", "```py\n1\n```", "Look:\n\n```py\n1\n```"),
    ],
)
def test_what_begins_a_block_begins_a_line(before, after, whole):
    assert joined(before, after) == whole


@pytest.mark.parametrize(
    ("before", "after", "whole"),
    [
        (f"{TABLE}\n| Lisbon | 545,0", "| Lisbon | 545,000 |", f"{TABLE}\n| Lisbon | 545,000 |"),
        (TABLE, "| City | People |\n|---|---|\n| Lisbon | 1 |", f"{TABLE}\n| Lisbon | 1 |"),
        (CODE, "```python\n    return day\n```", f"{CODE.removesuffix('    retu')}    return day\n```"),
        (f"{CODE}rn day\n", "```python\nx = 1\n```", f"{CODE}rn day\nx = 1\n```"),
        (
            "All of it, once mo",
            "All of it, once more, from the start",
            "All of it, once more, from the start",
        ),
        ("One.\n\n- point tw", "- point two\n", "One.\n\n- point two\n"),
    ],
)
def test_what_is_said_once_more_stands_there_once(before, after, whole):
    assert joined(before, after) == whole


def test_a_short_line_that_is_whole_may_come_twice():
    assert joined("```\n{\n}\n", "}\n```") == "```\n{\n}\n}\n```"


@pytest.mark.parametrize(("before", "after"), [("", "words"), ("words", ""), ("  ", "words")])
def test_where_one_of_them_is_blank_nothing_is_added(before, after):
    assert joined(before, after) == before + after
