"""The head of an answer: a sum in words, a picture to scale, and numbers, from whatever was recorded."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from django.template.loader import render_to_string

from chatapp.core.items import Item, Kind
from chatapp.thread.timeline import timeline_of

from .answers import answer, call, facts, result, span, text, thought

THREE = {
    "reasoning_durations_ms": {"rs": 23_000, "rs_2": 11_000},
    "timings_ms": {
        "rs": span(0, 23_000),
        "fc": span(23_000, 23_500),
        "part-9": span(24_000, 25_200),
        "rs_2": span(25_200, 36_200),
        "msg": span(36_200, 50_000),
    },
    "elapsed_ms": 50_000,
    "rounds": [facts(replayed=0, dropped={})],
}
ITEMS = [thought(), call(), result(), thought("rs_2"), text()]


def made(metadata=None, items=ITEMS, label="gpt-5", **more):
    return timeline_of(answer(metadata=metadata or {}, **more), items, label)


def html(timeline) -> str:
    return render_to_string("thread/_timeline.html", {"timeline": timeline})


class Read(HTMLParser):
    """Tags in their order, each closed, or this is no page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.mark.parametrize(
    ("thoughts", "elapsed", "words"),
    [
        ({}, 31_000, "31 s in all"),
        ({"rs": 23_000}, 31_000, "31 s in all"),
        ({"rs": 23_000}, None, "Thought for 23 seconds"),
        ({"rs": 23_000, "rs_2": 18_000}, 67_000, "Thought for 41 seconds in 2 steps"),
        ({"rs": 23_000, "rs_2": None}, 67_000, "Thought for 23 seconds in 2 steps"),
        ({"rs": None}, None, "Thought"),
        ({}, None, ""),
    ],
)
def test_the_sum_in_words(thoughts, elapsed, words):
    metadata = {"reasoning_durations_ms": {key: ms for key, ms in thoughts.items() if ms is not None}}
    if elapsed is not None:
        metadata["elapsed_ms"] = elapsed
    assert made(metadata, [thought(key) for key in thoughts]).words == words


def test_an_answer_that_nothing_is_known_of_is_a_byline():
    page = html(made({}, [text()], effort="high"))
    assert page.startswith('<p class="timeline byline" id="m-')
    assert "gpt-5" in page and "high effort" in page


@pytest.mark.parametrize("status", ["queued", "running"])
def test_before_its_first_item_a_running_answer_is_a_byline(status):
    timeline = made({"rounds": [facts()], "elapsed_ms": 12}, [], status=status)
    assert not timeline.figures and not timeline.words


def test_while_it_runs_the_sum_is_no_final_one():
    running = made(THREE, status="running")
    assert running.words == "Thought for 34 seconds in 2 steps so far"
    assert made(THREE, [thought()], status="running").words == ""
    assert "still running" in html(running)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([thought(), call()], "Thought for 23 seconds, waits for you"),
        (ITEMS, "Thought for 34 seconds in 2 steps, waits for you"),
        ([call()], "Waits for you"),
    ],
)
def test_while_it_waits_it_says_for_whom(items, words):
    assert made(THREE, items, status="waiting").words == words


def test_the_head_has_the_id_that_the_stream_replaces():
    row = answer(metadata=THREE)
    for items in (ITEMS, []):
        page = Read(html(timeline_of(row, items, "gpt-5")))
        assert page.tags[0][1]["id"] == f"m-{row.pk}-head"


def test_thinking_off_is_said_and_no_effort_is_not():
    assert made(effort="off").effort == "thinking off"
    assert made().effort == ""


def test_each_item_is_a_row_and_a_result_is_its_call():
    rows = made(THREE).rows
    assert [(row.name, row.took) for row in rows] == [
        ("Thought", "23 s"),
        ("clock", "1.2 s"),
        ("Thought", "11 s"),
        ("Wrote", "14 s"),
    ]


def test_bars_stand_to_scale():
    rows = made(THREE).rows
    assert [(row.bar.x, row.bar.width) for row in rows] == [
        ("0.00", "46.00"),
        ("48.00", "2.40"),
        ("50.40", "22.00"),
        ("72.40", "27.60"),
    ]
    assert (rows[1].asked.x, rows[1].asked.width) == ("46.00", "1.00")


def test_what_took_no_time_can_still_be_seen():
    rows = made({"timings_ms": {"rs": span(0, 0), "msg": span(100_000, 100_000)}}, [thought(), text()]).rows
    assert [(row.bar.x, row.bar.width) for row in rows] == [("0.00", "0.50"), ("99.50", "0.50")]


def test_an_item_that_nobody_measured_is_unknown_and_has_no_bar():
    rows = made({"elapsed_ms": 5}, ITEMS).rows
    assert {row.took for row in rows} == {"unknown"} and not any(row.bar for row in rows)


def test_a_thought_that_came_in_one_piece_is_marked():
    timings = {"rs": span(0, 4_000, inferred=True)}
    timeline = made({"timings_ms": timings, "reasoning_durations_ms": {"rs": 4_000}}, [thought()])
    assert timeline.rows[0].took == "≈ 4 s" and "one piece" in timeline.note
    assert made(THREE).note == ""


def test_a_cut_item_and_a_failed_call_say_so():
    items = [thought(cut=True), call(name="read_page"), result(outcome="failed"), text()]
    timings = {"msg": span(5, 9, cut=True)}
    assert [row.name for row in made({"timings_ms": timings}, items).rows] == [
        "Thought, cut short",
        "read_page, failed",
        "Wrote, cut short",
    ]


def test_a_denied_call_is_no_time_of_a_tool():
    items = [call("a"), result("ra", outcome="denied"), call("b"), result("rb")]
    timeline = made({"timings_ms": {"rb": span(0, 2_000)}}, items)
    assert [(row.name, row.took) for row in timeline.rows] == [
        ("clock, denied", "did not run"),
        ("clock", "2.0 s"),
    ]
    assert {figure.name: figure.words for figure in timeline.figures}["Tools"] == "2.0 s, 1 call"
    alone = made({"timings_ms": {"fc": span(0, 9)}}, [call(), result(outcome="denied")])
    assert "Tools" not in {figure.name for figure in alone.figures}


def test_parallel_calls_with_one_id_each_keep_their_own_result():
    items = [call("a"), call("b"), result("ra"), result("rb")]
    timings = {"ra": span(0, 1_000), "rb": span(0, 2_000)}
    timeline = made({"timings_ms": timings}, items)
    assert [row.took for row in timeline.rows] == ["1.0 s", "2.0 s"]
    assert {figure.name: figure.words for figure in timeline.figures}["Tools"] == "2.0 s, 2 calls"


def test_the_time_that_a_person_took_is_not_counted():
    decision = Item(key="part-3", kind=Kind.PERMISSION_DECISION)
    row = made({"timings_ms": {"part-3": span(5, 5)}}, [decision]).rows[0]
    assert (row.took, row.bar) == ("not counted", None)


def test_two_hundred_items_have_two_hundred_rows_that_scroll():
    items = [thought(f"rs_{n}") for n in range(200)]
    timings = {item.key: span(n * 10, n * 10 + 5) for n, item in enumerate(items)}
    timeline = made({"timings_ms": timings}, items)
    page = html(timeline)
    assert page.count("<tr>") == 201 and "data-long" in page
    assert "data-long" not in html(made(THREE))


def test_the_picture_is_hidden_from_screen_readers_and_the_table_speaks():
    page = html(made(THREE))
    for tag, attrs in Read(page).tags:
        if tag == "svg":
            assert attrs["aria-hidden"] == "true"
    assert "<caption" in page and page.count('scope="row"') == 4 and page.count('scope="col"') == 3
    assert "after 23 s" in page and "at once" in page


def test_names_are_text_and_nothing_else():
    hostile = "<script>alert(1)</script>\"'&"
    items = [call(name=hostile, call_id=hostile), result(call_id=hostile)]
    metadata = THREE | {"rounds": [facts(model=hostile, replayed=1, dropped={hostile: 1})]}
    page = html(made(metadata, items, label=hostile, effort=hostile))
    assert "<script" not in page and "&lt;script&gt;" in page
    assert not [attrs for _, attrs in Read(page).tags if any(name.startswith("on") for name in attrs)]


def test_there_is_no_style_and_every_place_has_two_decimals():
    page = html(made(THREE))
    assert "style=" not in page
    assert all(
        re.fullmatch(r"\d+\.\d\d%", found)
        for found in re.findall(r'(?:x|[^h]width)="([^"]*%)"', page)
        if found != "100%"
    )


def test_an_import_without_times_shows_that_it_thought():
    assert made({}, [thought(), text()]).words == "Thought"


def test_fifty_answers_are_made_in_the_blink_of_an_eye():
    row, items = answer(metadata=THREE, effort="high"), [thought(), call(), result(), text()]
    html(timeline_of(row, items, "gpt-5"))

    def fifty() -> float:
        began = time.process_time()
        for _ in range(50):
            html(timeline_of(row, items, "gpt-5"))
        return time.process_time() - began

    # 0.4 ms each on a calm machine (bench/README.md); a slow and busy one may take ten times as long.
    assert min(fifty() for _ in range(5)) < 50 * 0.006


def test_without_any_moment_there_is_no_scale():
    assert made({"elapsed_ms": 5_000}).marks == ()
