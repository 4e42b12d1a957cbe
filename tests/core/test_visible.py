"""Nothing is hidden in what a person decides about: signs that are not seen, or turn others around, stand there as numbers."""

from __future__ import annotations

import json

import pytest

from chatapp.core.pretty_json import pretty, pretty_result
from chatapp.core.signs.visible import Leave, hides, visible, visible_name
from chatapp.core.titles import one_line
from chatapp.markdown.signs import marked

HIDDEN = {
    "nothing": 0x0,
    "escape": 0x1B,
    "carriage return": 0x0D,
    "delete": 0x7F,
    "next line": 0x85,
    "space that does not break": 0xA0,
    "soft hyphen": 0xAD,
    "combining grapheme joiner": 0x34F,
    "Arabic letter mark": 0x61C,
    "Hangul filler": 0x115F,
    "Khmer vowel that is not seen": 0x17B4,
    "Mongolian vowel separator": 0x180E,
    "thin space": 0x2009,
    "zero width space": 0x200B,
    "zero width joiner": 0x200D,
    "right-to-left mark": 0x200F,
    "line separator": 0x2028,
    "right-to-left embedding": 0x202B,
    "right-to-left override": 0x202E,
    "word joiner": 0x2060,
    "invisible times": 0x2062,
    "reserved default ignorable": 0x2065,
    "right-to-left isolate": 0x2067,
    "deprecated format": 0x206E,
    "blank Braille": 0x2800,
    "ideographic space": 0x3000,
    "Hangul letter filler": 0x3164,
    "lone surrogate": 0xD800,
    "private use": 0xE000,
    "variation selector": 0xFE0F,
    "byte order mark": 0xFEFF,
    "halfwidth filler": 0xFFA0,
    "interlinear annotation": 0xFFF9,
    "no character": 0xFFFF,
    "musical nothing": 0x1D159,
    "musical beam": 0x1D173,
    "tag": 0xE0041,
    "variation selector 17": 0xE0100,
    "plane 16": 0x10FFFD,
}


@pytest.mark.parametrize("number", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_sign_that_is_not_seen_is_shown_as_its_number(number):
    assert visible(f"a{chr(number)}b") == f"a⟨U+{number:04X}⟩b"
    assert visible_name(f"a{chr(number)}b") == f"a⟨U+{number:04X}⟩b"


@pytest.mark.parametrize(
    "text", ["", "plain", "two\nlines\tand a tab", "Größe 漢字 😀 „x“ שלום مرحبا é", "⟨U+202E⟩"]
)
def test_what_is_seen_stays_as_it_is(text):
    assert visible(text) == text


WRITTEN_WITH = {
    Leave.LINES: "two\nlines\tand a tab",
    Leave.RETURNS: "one\rtwo",
    Leave.SPACES: "10\u00a0km\u3000\u2009",
    Leave.JOINERS: "\U0001f469\u200d\U0001f4bb می\u200cخواهم",
    Leave.SELECTORS: "❤\ufe0f 葛\U000e0100 ᠠ\u180b",
    Leave.ENCLOSING: "\u06dd١",
    Leave.UNKNOWN: "\ue0b0\U0001fae8",
}


@pytest.mark.parametrize(("leave", "text"), WRITTEN_WITH.items(), ids=lambda each: getattr(each, "name", ""))
def test_what_people_write_with_is_left_to_those_who_say_so(leave, text):
    assert visible(text, leave) == text == visible(text, Leave.PROSE) == marked(text)
    assert hides(text) and visible(text, Leave.PROSE & ~leave) != text


@pytest.mark.parametrize(
    "number", [0x34F, 0x202E, 0x2065, 0x3164, 0xFFF0, 0x1D159, 0x1D173, 0xE0041, 0xE0080]
)
def test_what_nobody_writes_with_is_seen_wherever_it_stands(number):
    sign = chr(number)
    assert visible(sign, Leave.PROSE) == f"⟨U+{number:04X}⟩"
    assert marked(f"a{sign}") == f"a<mark>U+{number:04X}</mark>"
    assert one_line(f"a{sign}b") == "ab"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("docs.read_page", "docs.read_page"),
        ("r\u0435ad_page", "r⟨U+0435⟩ad_page"),
        ("read page", "read⟨U+0020⟩page"),
        ("read_page\n", "read_page⟨U+000A⟩"),
        ("ｒead", "⟨U+FF52⟩ead"),
    ],
)
def test_a_name_that_only_looks_like_another_does_not_look_like_it(name, shown):
    assert visible_name(name) == shown


def test_no_sign_of_all_there_are_is_both_hidden_and_shown_as_it_is():
    import unicodedata

    everything = [chr(number) for number in range(0x110000)]
    kept = [sign for sign in everything if visible(sign) == sign]
    assert all(unicodedata.category(sign)[0] not in "CZ" or sign in " \n\t" for sign in kept)
    assert {"a", "é", "漢", "😀"} <= set(kept)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{"path":"/a"}', '{\n  "path": "/a"\n}'),
        ('{"path":"/etc/passwd","path":"/tmp/x"}', '{\n  "path": "/etc/passwd",\n  "path": "/tmp/x"\n}'),
        ('{"n":1.10,"m":1e400,"k":-0}', '{\n  "n": 1.10,\n  "m": 1e400,\n  "k": -0\n}'),
        ('{"a":[],"b":{}, "c" : [1, {"d":null}]}', None),
        ('{"words":"\\u00fcber, {not: [this]}"}', '{\n  "words": "über, {not: [this]}"\n}'),
        ('{"words":"\\u0007\\n\\"\\\\"}', '{\n  "words": "\\u0007\\n\\"\\\\"\n}'),
        ('{"half": ', '{"half": '),
        ("plain words", "plain words"),
        ("7", "7"),
        ('"a string"', '"a string"'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_json_is_laid_out_and_nothing_of_it_is_lost(text, shown):
    made = pretty(text)
    assert made == (json.dumps(json.loads(text), indent=2) if shown is None else shown)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('The answer.\n{"a":1}', 'The answer.\n{\n  "a": 1\n}'),
        ('{"a":1}', '{\n  "a": 1\n}'),
        ("[\n1\n]", "[\n  1\n]"),
        ("The answer.\nTwo lines.\n", "The answer.\nTwo lines.\n"),
        ("The answer.\n", "The answer.\n"),
        ("", ""),
    ],
)
def test_a_result_is_laid_out_below_the_line_that_says_whose_it_is(text, shown):
    assert pretty_result(text) == shown
