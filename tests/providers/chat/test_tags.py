"""Inline tags, cut in every way."""

from __future__ import annotations

import pytest

from chatapp.providers.chat.tags import TaggedText, TagReader

THINK = ("<think>", "</think>")
NO_OPEN = ("", "</think>")


def read(tags: tuple[str, str], *pieces: str) -> tuple[str, str]:
    """(thoughts, text) as people see them."""
    reader = TagReader(tags)
    said = [word for piece in pieces for word in reader.feed(piece)] + reader.flush()
    return "".join(s.words for s in said if s.thought), "".join(s.words for s in said if not s.thought)


EXAMPLES = [
    (THINK, "<think>why</think>because", ("why", "because")),
    (THINK, "\n<think>\nwhy\n</think>\n\nbecause", ("why\n", "\nbecause")),
    (THINK, "no tags at all", ("", "no tags at all")),
    (THINK, "\n    <think>b</think>", ("", "<think>b</think>")),
    (THINK, "\n\t<think>b</think>", ("", "<think>b</think>")),
    (THINK, "    \n  <think>why</think>because", ("why", "because")),
    (THINK, "<thin ice", ("", "<thin ice")),
    (THINK, "a <think>b</think>", ("", "a <think>b</think>")),
    (THINK, "```\n<think>b</think>\n```", ("", "```\n<think>b</think>\n```")),
    (THINK, "<think>a</think>b<think>c</think>", ("a", "b<think>c</think>")),
    (THINK, "<think>a </thi b", ("a </thi b", "")),
    (THINK, "<think>never closed", ("never closed", "")),
    (THINK, "<think></think>straight", ("", "straight")),
    (THINK, "<thi", ("", "<thi")),
    (THINK, "<think>a</thi", ("a</thi", "")),
    (NO_OPEN, "why</think>because", ("why", "because")),
    (NO_OPEN, "never closed <", ("never closed <", "")),
    (("◁think▷", "◁/think▷"), "◁think▷why◁/think▷because", ("why", "because")),
]


@pytest.mark.parametrize(("tags", "text", "expected"), EXAMPLES)
def test_tags_are_found_wherever_the_text_is_cut(
    tags: tuple[str, str], text: str, expected: tuple[str, str]
) -> None:
    thoughts, words = expected
    for cut in range(len(text) + 1):
        found = read(tags, text[:cut], text[cut:])
        assert (found[0], found[1].strip()) == (thoughts, words.strip())
    found = read(tags, *text)
    assert (found[0], found[1].strip()) == (thoughts, words.strip())


@pytest.mark.parametrize(("tags", "text", "_"), EXAMPLES)
def test_what_came_is_kept_whole_beside_what_is_shown(tags: tuple[str, str], text: str, _: object) -> None:
    for size in (1, 2, 3, 100):
        reader = TagReader(tags)
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        said = [word for piece in pieces for word in reader.feed(piece)] + reader.flush()
        assert "".join(s.raw for s in said) == text


def test_no_half_of_a_tag_is_ever_shown() -> None:
    reader = TagReader(THINK)
    shown = [said.words for letter in "<think>deep </b> thought</think>plain" for said in reader.feed(letter)]
    assert "".join(shown) == "deep </b> thoughtplain"
    assert not any(word.startswith(("<t", "</t")) for word in shown)


def test_without_an_opening_tag_only_what_may_be_the_closing_one_is_held_back() -> None:
    reader = TagReader(NO_OPEN)
    assert [said.words for said in reader.feed("at once")] == ["", "at once"]
    assert [said.words for said in reader.feed(" and <")] == [" and "]
    assert [said.words for said in reader.feed("b")] == ["<b"]


def test_a_call_in_the_middle_of_a_thought_lets_go_of_what_was_held() -> None:
    reader = TagReader(THINK)
    reader.feed("<think>a</th")
    assert reader.flush() == [TaggedText(True, "</th", "</th")]
    assert [said.words for said in reader.feed("b</think>c")] == ["b", "c"]


def test_text_that_only_began_like_a_tag_stays_text_afterwards() -> None:
    reader = TagReader(THINK)
    reader.feed("<thi")
    assert reader.flush() == [TaggedText(False, "<thi", "<thi")]
    assert reader.feed("<think>x") == [TaggedText(False, "<think>x", "<think>x")]
