"""Every pattern of the package takes time in proportion to its text: `re` holds the interpreter, so the square of a stranger's text
stops every stream."""

from __future__ import annotations

import re
from functools import partial

from chatapp.core.contracts import CONTRACTS
from chatapp.providers.anthropic import model_facts as facts_of_anthropic
from chatapp.providers.anthropic import refusals as anthropic_refusals
from chatapp.providers.chat import refusals as chat_errors
from chatapp.providers.chat.thinking import THINKING
from chatapp.providers.demo import calling, topics
from chatapp.providers.openai import model_facts as facts_of_openai
from chatapp.tools.page import kinds

from .found import ANYWHERE, compiled, compiled_late, modules, source, written_in_place
from .growth import too_steep
from .shapes import shapes

# Patterns that are written as words in a table, by where they are used.
TABLES = {
    ("chatapp.core.contracts", "self.where"): [row.where for row in CONTRACTS],
    ("chatapp.providers.anthropic.model_facts", "facts.where"): [
        row.where for row in facts_of_anthropic.FACTS
    ],
    ("chatapp.providers.openai.model_facts", "facts.where"): [row.where for row in facts_of_openai.FACTS],
    ("chatapp.providers.chat.thinking", "row.where"): [row.where for row in THINKING],
    ("chatapp.providers.chat.refusals", "pattern"): [words for _, words in chat_errors._TROUBLES],
    ("chatapp.providers.anthropic.refusals", "pattern"): [
        words for words, _ in (*anthropic_refusals.WORDS, *anthropic_refusals.REPAIRS)
    ],
}
# They are given no more than so many signs; the functions that see to it are measured whole.
SHORT = {calling._QUOTED: topics.READ, kinds._WITHIN: kinds._LOOKED_AT}
# Under another name it would not be seen.
RENAMED = re.compile(r"^\s*(?:from re import|import re as|import regex)", re.MULTILINE)
SIZES = (2_000, 4_000, 8_000, 16_000)


def patterns() -> dict[re.Pattern, set[str]]:
    found = compiled()
    for module, way, words, value in written_in_place():
        values = TABLES.get((module, words), []) if value is None else [value]
        if way != "compile":
            for each in values:
                found.setdefault(re.compile(each, re.IGNORECASE), set()).add(way)
    return found


# Words of a search, each taken as it is, with spaces between: no space is a word, so what is read once is not read again.
LATE = {"chatapp.core.signs.folded: re.compile('\\\\s+'.join(map(re.escape, term.split(' '))))"}


def test_no_pattern_is_put_together_while_the_program_runs():
    """Nobody would know what it costs."""
    places = [
        (place, words)
        for place, way, words, value in written_in_place()
        if value is None and way != "compile"
    ]
    assert {place for place in places if place not in TABLES} == set()
    assert TABLES.keys() == set(places)
    assert set(compiled_late()) == LATE


def test_every_pattern_that_is_compiled_is_found():
    known = {pattern.pattern for pattern in compiled()}
    written = {value for _, way, _, value in written_in_place() if way == "compile" and value is not None}
    assert written - known == set()
    assert [module.__name__ for module in modules() if RENAMED.search(source(module))] == []


def test_no_pattern_tries_more_than_its_text_is_long():
    steep = {
        (pattern.pattern, *found) for pattern, ways in patterns().items() if (found := _steep(pattern, ways))
    }
    assert steep == set()


def _steep(pattern, ways):
    """The first shape that is too much for it."""
    for words, work in _works(pattern, ways):
        for name, shape in shapes():
            if told := too_steep(work, partial(_text, pattern, shape), SIZES):
                return words, name, told
    return ()


def _text(pattern, shape, size):
    text = shape(min(size, SHORT.get(pattern, size)))
    return text if isinstance(pattern.pattern, str) else text.encode()


def _works(pattern, ways):
    if ways & set(ANYWHERE):
        yield "anywhere", lambda text: sum(1 for _ in pattern.finditer(text))
    for way in ways & {"match", "fullmatch"}:
        yield way, getattr(pattern, way)
