"""What is drawn once with holes says the same as its template would, each time, and never what a word makes of it."""

from __future__ import annotations

import re
from dataclasses import replace
from uuid import uuid4

import pytest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from chatapp.core.items import Kind
from chatapp.pages.stencils import MOST_WORDS, Stencil, Unsaid
from chatapp.thread.item import ShownItem
from chatapp.thread.items_so_far import ASKS, ItemSoFar
from chatapp.thread.timeline import Timeline, timeline_of
from tests.support.counting import counted
from tests.thread.answers import answer, call, facts, result, span, text, thought

HOSTILE = "<b>&amp; \"%s\" %(item.id)s {{ item.id }} '100 %'</b>"
LINE, TIMELINE = "thread/_outline_line.html", "thread/_timeline.html"


def line(words: str, width: int = 0) -> dict[str, object]:
    return {
        "line.id": "o-1",
        "line.target": "m-1",
        "line.words": words,
        "line.took": "2 s",
        "line.width": width,
    }


def pieces() -> list[ItemSoFar]:
    made = [ItemSoFar(key=HOSTILE, kind=kind, text=HOSTILE, name=HOSTILE, call_id=HOSTILE) for kind in Kind]
    made += [replace(piece, open=True, elapsed=72_000.0) for piece in made]
    made += [replace(piece, ms=ms, cut="stopped") for piece in made for ms in (0, 900, 100_000)]
    result = ItemSoFar(key="r", kind=Kind.TOOL_RESULT, text=f"{HOSTILE}\nlast", ms=1200)
    calls = [piece for piece in made if piece.kind is Kind.TOOL_CALL]
    made += [
        replace(call, result=replace(result, outcome=outcome)) for call in calls for outcome in ("", "failed")
    ]
    made += [replace(call, result=replace(result, open=True, elapsed=1500.0)) for call in calls]
    return [*made, *(replace(call, waits=ASKS) for call in calls), ItemSoFar(key="", kind=Kind.REASONING)]


@pytest.mark.parametrize("thoughts_open", [True, False])
def test_every_item_is_what_its_template_draws_of_it(thoughts_open):
    for piece in pieces():
        item = ShownItem(uuid4(), piece, ("<p>One.</p>", HOSTILE), thoughts_open)
        body = SafeString("".join(item.blocks))
        template = f"thread/_item_{piece.kind}.html"
        assert item.html() == render_to_string(template, {"item": item, "piece": piece, "body": body})


@pytest.mark.parametrize("words", ["", "Why?", HOSTILE, "100 %", "%(line.id)s"])
@pytest.mark.parametrize("width", [0, 4])
def test_a_word_stands_where_it_belongs_as_it_is_written(words, width):
    said = line(words, width)
    whole = {"line": {name.partition(".")[2]: word for name, word in said.items()}}
    stencil = Stencil(LINE)
    for _ in range(2):
        assert stencil.fill({}, said) == render_to_string(LINE, whole)


def test_it_is_drawn_once_for_each_of_its_looks(monkeypatch):
    stencil = Stencil(LINE)
    with counted(monkeypatch) as count:
        for words in ("One", "Two", "Three"):
            stencil.fill({}, line(words))
            stencil.fill({}, line(words, 8))
    assert count.renderings == [LINE, LINE]


def test_a_name_that_was_forgotten_is_no_empty_place():
    said = line("Why?")
    del said["line.width"]
    with pytest.raises(Unsaid, match=re.escape("width")):
        Stencil(LINE).fill({}, said)
    with pytest.raises(Unsaid, match="figures"):
        Stencil(TIMELINE).fill({}, {"timeline.id": "m-1-head"})


def timelines() -> list[Timeline]:
    """Of answers that took this long, with a call and without."""
    shapes = [
        [],
        [text()],
        [thought(), text()],
        [thought(), call(name=HOSTILE), result(), thought("rs_2"), text()],
    ]
    made = []
    for total in (0, 700, 50_000, 7_000_000):
        times = {"rs": span(0, total // 2), "fc": span(total // 2, total), "msg": span(total // 2, total)}
        metadata = {"timings_ms": times, "elapsed_ms": total, "rounds": [facts(), facts(shape=[HOSTILE])]}
        made += [timeline_of(answer(metadata=metadata), items, HOSTILE) for items in shapes]
    return [*made, timeline_of(answer(), [text()], "m"), timeline_of(answer(effort="high"), [text()], "m")]


def test_a_thing_that_is_made_of_words_is_what_its_template_draws_of_it():
    stencil = Stencil(TIMELINE)
    for _ in range(2):
        for line in timelines():
            assert stencil.fill_with("timeline", line) == render_to_string(TIMELINE, {"timeline": line})


def test_it_is_drawn_once_for_each_of_its_shapes(monkeypatch):
    stencil, shapes = Stencil(TIMELINE), [[text()], [thought(), text()]]
    with counted(monkeypatch) as count:
        for total in (50_000, 50_100, 50_200):
            for items in shapes:
                metadata = {"timings_ms": {"msg": span(0, total)}, "elapsed_ms": total}
                stencil.fill_with("timeline", timeline_of(answer(metadata=metadata), items, f"m {total}"))
    assert count.renderings == [TIMELINE, TIMELINE]


def test_what_has_too_many_words_is_drawn_as_it_is(monkeypatch):
    line = timeline_of(answer(metadata={"elapsed_ms": 1000}), [text(f"t{n}") for n in range(MOST_WORDS)], "m")
    with counted(monkeypatch) as count:
        first, again = (Stencil(TIMELINE).fill_with("timeline", line) for _ in range(2))
    assert first == again and len(count.renderings) == 2
