"""Every example of CommonMark and GFM means the same here, but for those that mean something else on purpose."""

from __future__ import annotations

import re

from chatapp.markdown import Growing, render_blocks

from .examples import examples, ours, theirs

# By their numbers in GFM's specification.
DEVIATIONS = {
    "HTML is words, but for seven bare tags (ADR 41)": """
        118-143 145-160 170 288-289 317 327 354 484-486 500 503 532 544 632-636 642 644 647-651 653 663-664
    """,
    "a link has an address of the web or of mail; of a path or a file its words are shown (ADR 41), and what is neither, as `f[i](x)`,"
    " is no link": "163-164 169 172-173 496 501 505 507-508 510-512 528 530 588",
    "no link leads to another scheme, or to what is no host": "356 604 606-609",
    "an address in a text is a link, also where CommonMark knows none": """
        166 178 310 516 519 521 526-527 554-556 559-560 598 610 616 619-620
    """,
    "names of files look like names of hosts, so an address begins with its scheme": "621-627",
    "mail has an address where its host ends as hosts do": "629-631",
    r"`\(` and `\[` begin a formula": "308 504 506",
}


def _numbers(words: str) -> set[str]:
    found = set[str]()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", words):
        found |= {f"gfm {number}" for number in range(int(first), int(last or first) + 1)}
    return found


def test_the_examples_are_all_there():
    assert len(examples()) > 670


def test_no_example_has_two_reasons():
    assert sum(len(_numbers(words)) for words in DEVIATIONS.values()) == len(_deviations())


def _deviations() -> set[str]:
    return set().union(*map(_numbers, DEVIATIONS.values()))


def test_each_example_means_what_the_specification_says_unless_it_is_listed():
    """A listed one that agrees is listed in vain."""
    found = {each.name for each in examples() if ours(render_blocks(each.markdown)) != theirs(each.html)}
    assert found == _deviations()


def test_an_example_that_was_streamed_is_the_one_that_is_loaded():
    for each in examples():
        growing = Growing()
        told = [block for end in range(len(each.markdown)) for block in growing.feed(each.markdown[:end])]
        page = dict(enumerate(told)) | dict(growing.finish(each.markdown))
        assert [html for _, html in sorted(page.items()) if html] == render_blocks(each.markdown), each.name
