"""Thinking time, measured from events at the ticks of a list, and worded for people."""

from __future__ import annotations

import time

import pytest

from chatapp.core.durations import (
    ReasoningClock,
    in_words,
    thinking_in_words,
    thought_in_words,
    thoughts_in_words,
)
from chatapp.core.events import (
    Asked,
    Event,
    Finish,
    ItemDelta,
    ItemDone,
    ItemsStored,
    ItemStarted,
    ResponseEnded,
    Retrying,
    TurnEnded,
    Usage,
)
from chatapp.core.items import Item, Kind

Tick = tuple[float, Event]


def thought(key: str = "rs") -> ItemStarted:
    return ItemStarted(key, Kind.REASONING)


def words(key: str = "msg") -> ItemStarted:
    return ItemStarted(key, Kind.ASSISTANT_MESSAGE)


def call(key: str = "fc") -> ItemStarted:
    return ItemStarted(key, Kind.TOOL_CALL, "time", key)


def more(key: str = "rs") -> ItemDelta:
    return ItemDelta(key, "…")


def done(key: str = "rs", kind: Kind = Kind.REASONING) -> ItemDone:
    return ItemDone(Item(key=key, kind=kind))


def told(*script: Tick) -> ReasoningClock:
    clock = ReasoningClock()
    for at, event in script:
        clock.observe(event, at)
    return clock


def took(*script: Tick) -> dict[str, int]:
    """Milliseconds of the thoughts, as of the last tick."""
    spans = told(*script).spans
    return {key: span.ms(script[-1][0]) for key, span in spans.items() if span.kind is Kind.REASONING}


ASKED: Tick = (0, Asked(0))


def test_a_thought_takes_from_its_first_event_to_its_done():
    assert took(ASKED, (1_000, thought()), (20_000, more()), (24_000, done())) == {"rs": 23_000}


def test_silence_inside_a_thought_is_thinking():
    assert took(ASKED, (10, thought()), (60_010, done())) == {"rs": 60_000}


def test_a_thousand_deltas_have_one_start():
    deltas = [(1_000.0 + n, more()) for n in range(1_000)]
    assert took(ASKED, (1_000, thought()), *deltas, (3_000, done())) == {"rs": 2_000}


def test_two_parts_of_a_summary_are_one_thought():
    script = (ASKED, (0, thought()), (900, more()), (901, more()), (5_000, more()), (5_500, done()))
    assert took(*script) == {"rs": 5_500}


def test_each_thought_has_its_own_time():
    first = (
        ASKED,
        (0, thought("rs_1")),
        (2_000, done("rs_1")),
        (2_000, call()),
        (2_100, done("fc", Kind.TOOL_CALL)),
    )
    second = ((9_000.0, Asked(1)), (9_000, thought("rs_2")), (14_000, done("rs_2")))
    third = ((14_000.0, thought("rs_3")), (21_000, done("rs_3")), (21_000, words()))
    assert took(*first, *second, *third) == {"rs_1": 2_000, "rs_2": 5_000, "rs_3": 7_000}


def test_done_tells_the_time_of_a_thought_and_of_nothing_else():
    clock = told(ASKED, (1_000, thought()))
    assert clock.observe(more(), 2_000) is None
    assert clock.observe(done(), 4_000) == 3_000
    assert clock.observe(words(), 4_000) is None
    assert clock.observe(done("msg", Kind.ASSISTANT_MESSAGE), 5_000) is None


# The end of a thought


@pytest.mark.parametrize("follower", [words(), call()])
def test_a_thought_ends_where_text_or_a_call_begins(follower: ItemStarted):
    script = (ASKED, (0, thought()), (3_000, follower), (9_000, more(follower.key)), (9_000, done()))
    assert took(*script) == {"rs": 3_000}


@pytest.mark.parametrize("follower", [words(), call()])
def test_a_thought_that_is_never_done_ends_all_the_same(follower: ItemStarted):
    clock = told(ASKED, (0, thought()), (3_000, follower), (9_000, ResponseEnded(Finish.STOP)))
    assert clock.spans["rs"].end == 3_000


def test_streaming_of_arguments_is_not_thinking():
    script = (
        ASKED,
        (0, thought()),
        (2_000, call()),
        *((2_000.0 + n, more("fc")) for n in range(0, 8_000, 100)),
    )
    assert took(*script) == {"rs": 2_000}


def test_text_that_goes_on_ends_the_thought_between():
    script = (
        ASKED,
        (0, words()),
        (1_000, more("msg")),
        (2_000, thought()),
        (5_000, more("msg")),
        (8_000, done()),
    )
    assert took(*script) == {"rs": 3_000}


def test_a_done_that_comes_whole_ends_the_thought_before():
    script = (ASKED, (0, thought()), (2_000, done("msg", Kind.ASSISTANT_MESSAGE)), (5_000, done()))
    assert took(*script) == {"rs": 2_000}


def test_text_that_is_only_done_late_ends_no_later_thought():
    late = done("msg", Kind.ASSISTANT_MESSAGE)
    assert took(ASKED, (0, words()), (1_000, thought()), (2_000, late), (4_000, done())) == {"rs": 3_000}


def test_another_thought_ends_none():
    script = (
        ASKED,
        (0, thought("rs_1")),
        (1_000, thought("rs_2")),
        (3_000, done("rs_1")),
        (6_000, done("rs_2")),
    )
    assert took(*script) == {"rs_1": 3_000, "rs_2": 5_000}


def test_results_and_news_end_no_thought():
    result = ItemStarted("part-5", Kind.TOOL_RESULT)
    news = [
        result,
        ItemDelta("part-5", "12:00"),
        Usage(),
        ItemsStored(()),
        Retrying(1, ""),
        TurnEnded("stopped"),
    ]
    clock = told(ASKED, (0, thought()), *((1_000.0, event) for event in news))
    assert clock.spans["rs"].end is None


def test_a_running_thought_has_no_end_and_grows():
    span = told(ASKED, (0, thought()), (7_000, more())).spans["rs"]
    assert (span.end, span.ms(7_000), span.ms(8_000)) == (None, 7_000, 8_000)


# Thoughts that come in one piece


def test_a_thought_in_one_piece_is_measured_from_the_request():
    clock = told((500, Asked(0)), (8_500, thought()), (8_501, done()))
    assert clock.spans["rs"].as_timing(0) == {"start": 500, "end": 8_501, "inferred": True}
    assert clock.spans["rs"].ms(0) == 8_001


def test_a_thought_in_one_piece_is_measured_from_the_end_of_the_item_before():
    script = (
        ASKED,
        (1_000, thought("rs_1")),
        (4_000, done("rs_1")),
        (9_000, thought("rs_2")),
        (9_000, done("rs_2")),
    )
    assert took(*script) == {"rs_1": 3_000, "rs_2": 5_000}


def test_a_thought_in_one_piece_after_open_text_does_not_count_the_text():
    writing = ((1_000.0 * n, more("msg")) for n in range(1, 31))
    assert took(ASKED, (0, words()), *writing, (32_000, thought()), (32_000, done())) == {"rs": 2_000}


def test_a_thought_in_one_piece_counts_from_the_last_words_of_a_text_that_is_only_now_said_to_be_done():
    text = ((1_000, words()), (2_000, more("msg")), (6_000, done("msg", Kind.ASSISTANT_MESSAGE)))
    clock = told(ASKED, *text, (6_000, thought()), (6_000, more()), (6_000, done()))
    assert clock.spans["rs"].as_timing(0) == {"start": 2_000, "end": 6_000, "inferred": True}
    assert clock.spans["msg"].as_timing(0) == {"start": 1_000, "end": 2_000}


def test_text_ends_with_its_last_words_however_late_it_is_told():
    late = (9_000.0, done("msg", Kind.ASSISTANT_MESSAGE))
    clock = told(ASKED, (0, words()), (4_000, more("msg")), late, (9_000, thought()), (9_000, done()))
    assert clock.spans["msg"].as_timing(0) == {"start": 0, "end": 4_000}
    assert clock.spans["rs"].ms(0) == 5_000


def test_a_call_ends_where_it_is_told():
    clock = told(
        ASKED, (0, call()), (4_000, more("fc")), (5_000, done("fc", Kind.TOOL_CALL)), (6_000, done())
    )
    assert clock.spans["fc"].as_timing(0) == {"start": 0, "end": 5_000}
    assert clock.spans["rs"].ms(0) == 1_000


def test_what_is_told_late_does_not_hide_what_came_between():
    script = (ASKED, (0, words()), (1_000, more("msg")), (2_000, call()), (3_000, more("fc")))
    assert took(*script, (8_000, done("msg", Kind.ASSISTANT_MESSAGE)), (8_000, done())) == {"rs": 5_000}


def test_a_thought_in_one_piece_that_text_follows_at_once_is_measured_too():
    script = (ASKED, (6_000, thought()), (6_000, more()), (6_000, words()), (9_000, done()))
    assert took(*script) == {"rs": 6_000}


def test_a_redacted_thought_without_text_has_its_time():
    assert took(ASKED, (2_500, done())) == {"rs": 2_500}


def test_two_pieces_after_one_silence_share_it():
    both = (
        ASKED,
        (6_000, thought("rs_1")),
        (6_000, done("rs_1")),
        (6_000, thought("rs_2")),
        (6_000, done("rs_2")),
    )
    assert took(*both) == {"rs_1": 6_000, "rs_2": 0}
    mixed = (
        ASKED,
        (6_000, thought("rs_1")),
        (6_000, thought("rs_2")),
        (6_000, done("rs_1")),
        (6_000, done("rs_2")),
    )
    assert sum(took(*mixed).values()) == 6_000


def test_a_later_round_counts_from_its_own_request():
    script = (
        ASKED,
        (1_000, call()),
        (1_000, done("fc", Kind.TOOL_CALL)),
        (60_000, Asked(1)),
        (63_000, done("rs")),
    )
    assert took(*script) == {"rs": 3_000}


def test_waiting_for_a_busy_provider_is_not_thinking():
    script = (ASKED, (100, Retrying(4, "Busy.")), (7_100, done()))
    assert took(*script) == {"rs": 3_000}
    assert told(*script).first_sign == 3_000


def test_a_thought_that_streamed_is_not_inferred():
    clock = told(ASKED, (5_000, thought()), (5_100, more()), (5_200, done()))
    assert clock.spans["rs"].as_timing(0) == {"start": 5_000, "end": 5_200}


def test_only_thoughts_are_inferred():
    clock = told(ASKED, (5_000, words()), (5_000, done("msg", Kind.ASSISTANT_MESSAGE)))
    assert clock.spans["msg"].as_timing(0) == {"start": 5_000, "end": 5_000}


# Odd clocks and odd streams


def test_a_clock_that_steps_back_gives_no_negative_time():
    hour = 3_600_000
    script = (
        ASKED,
        (hour, thought()),
        (5, more()),
        (5, done()),
        (7, words()),
        (1, done("msg", Kind.ASSISTANT_MESSAGE)),
    )
    clock = told(*script)
    assert all(span.ms(at) >= 0 for span in clock.spans.values() for at in (-1, 0, hour))
    assert all(
        timing["start"] <= timing["end"] for timing in (span.as_timing(-1) for span in clock.spans.values())
    )
    assert clock.first_sign is not None and clock.first_sign >= 0


def test_a_running_time_is_not_negative_either():
    span = told(ASKED, (5_000, thought())).spans["rs"]
    assert span.ms(4_000) == 0
    assert span.as_timing(4_000) == {"start": 5_000, "end": 5_000}


def test_the_first_sign_of_a_round_is_that_of_its_first_item():
    clock = told((1_000, Asked(0)), (1_400, thought()), (3_000, words()))
    assert clock.first_sign == 400
    clock.observe(Asked(1), 5_000)
    assert clock.first_sign is None


def test_news_of_an_unknown_item_is_passed_over():
    assert told(ASKED, (1, more("nobody")), (2, ItemsStored(("nobody",)))).spans == {}


def test_an_answer_without_thoughts_has_no_times_of_thoughts():
    assert took(ASKED, (0, words()), (2_000, done("msg", Kind.ASSISTANT_MESSAGE))) == {}


def test_done_twice_changes_nothing():
    assert took(ASKED, (1_000, thought()), (2_000, done()), (9_000, done())) == {"rs": 1_000}


def test_ten_thousand_thoughts_are_no_burden_for_the_words_that_follow():
    script = [
        ASKED,
        *((n, done(f"rs_{n}")) for n in range(10_000)),
        *((n, more("msg")) for n in range(10_000)),
    ]
    began = time.process_time()
    told(*script[:10_001], (10_000, words()), *script[10_001:])
    assert time.process_time() - began < 5


# Words

FINAL = [
    (-1, "1 second"),
    (0, "1 second"),
    (1, "1 second"),
    (499, "1 second"),
    (999, "1 second"),
    (1_000, "1 second"),
    (1_001, "2 seconds"),
    (22_001, "23 seconds"),
    (23_000, "23 seconds"),
    (59_000, "59 seconds"),
    (59_001, "1 min"),
    (59_999, "1 min"),
    (60_000, "1 min"),
    (60_001, "1 min 1 s"),
    (65_000, "1 min 5 s"),
    (89_999, "1 min 30 s"),
    (119_999, "2 min"),
    (3_599_000, "59 min 59 s"),
    (3_599_999, "1 h"),
    (3_600_000, "1 h"),
    (3_600_001, "1 h 1 min"),
    (3_720_000, "1 h 2 min"),
    (86_400_000, "24 h"),
]


@pytest.mark.parametrize(("ms", "words"), FINAL)
def test_a_finished_time_in_words(ms: int, words: str):
    assert in_words(ms) == words


RUNNING = [
    (-5, "1 s"),
    (0, "1 s"),
    (999, "1 s"),
    (1_999, "1 s"),
    (2_000, "2 s"),
    (7_000, "7 s"),
    (59_999, "59 s"),
    (60_000, "1 min"),
    (65_999, "1 min 5 s"),
    (3_599_999, "59 min 59 s"),
    (3_600_000, "1 h"),
    (3_779_999, "1 h 2 min"),
]


@pytest.mark.parametrize(("ms", "words"), RUNNING)
def test_a_running_time_in_words(ms: int, words: str):
    assert thinking_in_words(ms) == f"Thinking for {words}"


@pytest.mark.parametrize(
    ("ms", "cut", "said"),
    [
        (23_000, "", "Thought for 23 seconds"),
        (0, "", "Thought for 1 second"),
        (None, "", "Thought"),
        (4_000, "stopped", "Thought for 4 seconds, stopped"),
        (None, "interrupted", "Thought, interrupted"),
    ],
)
def test_a_thought_says_how_long_it_took_and_how_it_ended(ms: int | None, cut: str, said: str):
    assert thought_in_words(ms, cut=cut) == said


@pytest.mark.parametrize(
    ("durations", "said"),
    [
        ([5_000], "Thought for 5 seconds"),
        ([2_000, 5_000], "Thought for 7 seconds in 2 steps"),
        ([400, 400, 400], "Thought for 3 seconds in 3 steps"),
        ([30_000, None, 11_000], "Thought for 41 seconds in 3 steps"),
        ([None], "Thought"),
        ([None, None], "Thought in 2 steps"),
        ([0, None], "Thought for 1 second in 2 steps"),
    ],
)
def test_several_thoughts_say_one_sum(durations: list[int | None], said: str):
    assert thoughts_in_words(durations) == said
