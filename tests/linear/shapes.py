"""Texts that pump: a few signs again and again, which a pattern that tries too much reads again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

PUMPS = (
    *("a", " ", "\n", " \n", "\t", "\r\n", "a ", "a\n", "\n\n", "\\n", "\0", "\ufeff", "Ā"),
    *(
        "a.a.",
        "a-",
        "a_",
        "a:",
        "a/",
        "a@",
        "http://",
        "http://a.bc/?",
        "www.a.",
        "//",
        "@",
        "%41",
        "?a=",
        "#",
    ),
    *(
        "[",
        "![",
        "](",
        "[a](",
        "[^1]",
        "*a",
        "**",
        "_a_",
        "~~",
        "`",
        "<",
        "<!--",
        "<think>",
        "</",
        "|",
        "|-|\n",
    ),
    *("<sub>", "<details>\n", r"\ce{", r"\begin{split}"),
    *("> ", "- ", "- a\n\n", "1. ", "#\n", "=\n", "[a]: b\n"),
    *("1", "1.", "1,", "0x", "1e1", "-", "(", "((1+", "$", "$a ", r"\(", "\\", r"\frac{", "{", "}{"),
    *('"', '{"a":', '["', '\\"', r"\u0041", "'", "&amp;", "&#", ";", "data: a\n", "data: {}\n\n"),
    *("e\u0301", "\u0301", "\u200d", "\u202e", "\U0001f468\u200d", "ａ。", "о.", "\u00a0"),
)
# What fails only at its end is tried from many beginnings.
AROUND = (("", ""), ("a\n\n", "\nb"), ("x", "\x01"))


def shapes() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Each with what it is called, and how it is made in about some length."""
    for pump in PUMPS:
        for before, after in AROUND:
            yield f"{before!r} + {pump!r} … + {after!r}", partial(shape, before, pump, after)


def each_pump_once() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Each stands in one of the surroundings, those like it in the others: for functions, whose patterns are tried in all of them."""
    for number, (name, made) in enumerate(shapes()):
        if number % len(AROUND) == number // len(AROUND) % len(AROUND):
            yield name, made


def shape(before: str, pump: str, after: str, size: int) -> str:
    return f"{before}{pump * (size // len(pump))}{after}"
