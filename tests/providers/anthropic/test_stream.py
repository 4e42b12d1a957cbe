"""What the Messages API streams, as events."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.core.events import Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Usage
from chatapp.core.items import ITEM_CAP, Item, KeyMaker, Kind
from chatapp.core.verbatim import dumps
from chatapp.providers.anthropic.stream import MessagesParser
from chatapp.providers.base import ProviderError, Trouble
from tests.providers.fuzz import Heard, hear, recordings

RECORDED = {recorded.name: recorded for recorded in recordings("messages")}

THINKING = {"type": "thinking", "thinking": "", "signature": ""}
TEXT = {"type": "text", "text": ""}
CALL = {"type": "tool_use", "id": "toolu_01", "name": "get_time", "input": {}}
SIGNED = {"type": "signature_delta", "signature": "sig=="}
END = {"type": "message_stop"}


def heard(name: str) -> Heard:
    return hear(RECORDED[name], RECORDED[name].frames())


def parser() -> MessagesParser:
    return MessagesParser(RECORDED["messages-thinking"].ask(), KeyMaker())


def start(first: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": first}


def delta(given: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": given}


def thought(words: str) -> dict[str, Any]:
    return delta({"type": "thinking_delta", "thinking": words})


def said(words: str) -> dict[str, Any]:
    return delta({"type": "text_delta", "text": words})


def argued(piece: str) -> dict[str, Any]:
    return delta({"type": "input_json_delta", "partial_json": piece})


STOP = {"type": "content_block_stop", "index": 0}


def read(*frames: dict[str, Any] | str) -> list[Any]:
    """Events of these frames; a string is a frame that is no JSON."""
    reading = parser()
    return [
        event
        for frame in frames
        for event in reading.feed("", frame if isinstance(frame, str) else dumps(frame))
    ]


def items(*frames: dict[str, Any] | str) -> list[Item]:
    return [event.item for event in read(*frames) if isinstance(event, ItemDone)]


def test_a_thought_and_a_text_become_items_in_order() -> None:
    words = "The sky is blue because short waves scatter more. 🙂"
    wire = {"type": "thinking", "thinking": words, "signature": "EqUCsignature+one/A=="}
    ours = {"provider": "anthropic", "dialect": "messages", "model": "messages-thinking", "round": 2}
    text = {"type": "text", "text": "Short waves scatter more."}
    assert heard("messages-thinking").events == [
        ItemStarted("part-0", Kind.REASONING),
        ItemDelta("part-0", "The sky is blue because "),
        ItemDelta("part-0", "short waves scatter more. 🙂"),
        ItemDone(Item(key="part-0", kind=Kind.REASONING, text=words, wire=wire, **ours)),
        ItemStarted("part-1", Kind.ASSISTANT_MESSAGE),
        ItemDelta("part-1", "Short waves "),
        ItemDelta("part-1", "scatter more."),
        ItemDone(Item(key="part-1", kind=Kind.ASSISTANT_MESSAGE, text=text["text"], wire=text, **ours)),
        Usage(input=521, cached=400, cache_written=100, output=58, reasoning=40),
        ResponseEnded(Finish.STOP),
    ]


def test_a_redacted_thought_has_no_words_and_keeps_its_data() -> None:
    hidden, call = heard("messages-redacted-tool").items()
    assert (hidden.kind, hidden.text) == (Kind.REASONING, "")
    assert hidden.wire == {"type": "redacted_thinking", "data": "EmwKredacted+data=="}
    assert (call.key, call.call_id, call.name) == ("toolu_01weather", "toolu_01weather", "get_weather")
    assert call.text == '{"city": "Florence"}'
    assert heard("messages-redacted-tool").events[-1] == ResponseEnded(Finish.TOOL_CALLS)


def test_a_call_keeps_everything_that_its_provider_said_of_it() -> None:
    call = heard("messages-redacted-tool").items()[1]
    whole = {"name": "get_weather", "input": {"city": "Florence"}, "caller": {"type": "direct"}}
    assert call.wire == {"type": "tool_use", "id": "toolu_01weather", **whole}


def test_thoughts_between_parallel_calls_keep_their_places() -> None:
    found = heard("messages-parallel-tools").items()
    assert [item.kind for item in found] == [
        Kind.REASONING,
        Kind.ASSISTANT_MESSAGE,
        Kind.TOOL_CALL,
        Kind.REASONING,
        Kind.TOOL_CALL,
    ]
    assert [item.text for item in found if item.kind is Kind.TOOL_CALL] == [
        "{}",
        '{"city":"Rome", "days": 2}',
    ]


def test_a_call_without_arguments_says_so_while_it_streams() -> None:
    deltas = [event for event in heard("messages-parallel-tools").events if isinstance(event, ItemDelta)]
    assert ItemDelta("toolu_01time", "{}") in deltas


def test_a_thought_that_is_not_shown_is_still_a_thought() -> None:
    unseen, text = heard("messages-omitted").items()
    assert unseen.text == ""
    assert unseen.wire == {
        "type": "thinking",
        "thinking": "",
        "signature": "EqUCsignature+of+an+unseen+thought==",
    }
    assert text.text == "Forty-two."
    assert heard("messages-omitted").events[-2] == Usage(input=12, output=300, reasoning=290)


def test_an_error_in_the_middle_ends_the_response() -> None:
    broken = heard("messages-error")
    assert broken.events[-1] == ItemDelta("part-0", "This will not ")
    assert broken.error is not None
    assert (broken.error.trouble, broken.error.again) == (Trouble.BUSY, True)
    assert "Overloaded" in broken.error.raw


def test_what_is_unknown_or_blank_leaves_no_trace() -> None:
    found = heard("messages-odd").items()
    assert [item.text for item in found] == ["One thought.", "As found."]
    assert heard("messages-odd").events[-1] == ResponseEnded(Finish.PAUSE)


def test_a_later_signature_replaces_the_earlier_one() -> None:
    assert heard("messages-odd").items()[0].wire["signature"] == "EqUCsecond=="


def test_citations_stay_with_their_text() -> None:
    wire = heard("messages-odd").items()[1].wire
    assert wire["text"] == "As found."
    assert [citation["cited_text"] for citation in wire["citations"]] == ["found"]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", Finish.STOP),
        ("stop_sequence", Finish.STOP),
        ("tool_use", Finish.TOOL_CALLS),
        ("max_tokens", Finish.LENGTH),
        ("model_context_window_exceeded", Finish.LENGTH),
        ("pause_turn", Finish.PAUSE),
        ("refusal", Finish.REFUSAL),
        ("a reason of tomorrow", Finish.STOP),
        (None, Finish.STOP),
    ],
)
def test_every_stop_reason_has_a_finish(reason: str | None, finish: Finish) -> None:
    assert read({"type": "message_delta", "delta": {"stop_reason": reason}}, END) == [ResponseEnded(finish)]


def test_an_unknown_reason_after_a_call_means_that_the_call_waits() -> None:
    assert read(start(CALL), STOP, END)[-1] == ResponseEnded(Finish.TOOL_CALLS)


def test_usage_is_a_sum_that_is_reported_again_and_again() -> None:
    first = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
    later = [{"type": "message_delta", "usage": {"output_tokens": sum_}} for sum_ in (3, 9)]
    assert read(first, *later, END)[0] == Usage(input=5, output=9)


@pytest.mark.parametrize("broken", ['{"a": ', "[1]", '"text"', "{'a': 1}", '{"a": NaN}', "9" * 5000])
def test_arguments_that_are_no_object_are_kept_as_words_and_go_back_as_nothing(broken: str) -> None:
    (call,) = items(start(CALL), argued(broken), STOP)
    assert call.text == broken
    assert call.wire == CALL


def test_half_a_character_in_arguments_does_not_go_back() -> None:
    (call,) = items(start(CALL), argued('{"a": "\\ud83d", "b": "\\ud83d\\ude42"}'), STOP)
    assert call.wire["input"] == {"a": "\ufffd", "b": "🙂"}


def test_arguments_may_come_with_the_announcement() -> None:
    (call,) = items(start({**CALL, "input": {"zone": "UTC"}}), STOP)
    assert (call.text, call.wire["input"]) == ('{"zone": "UTC"}', {"zone": "UTC"})


@pytest.mark.parametrize("odd", [{"id": "toolu\x00"}, {"id": ""}, {"id": 7}, {"name": ""}, {"name": "a b"}])
def test_a_call_that_could_not_go_back_as_it_is_has_no_wire_and_still_an_id(odd: dict[str, Any]) -> None:
    (call,) = items(start({**CALL, **odd}), STOP)
    assert call.wire is None
    assert call.call_id


def test_a_finished_thought_without_a_signature_is_kept_as_it_came() -> None:
    """Open servers sign nothing. Who gets it back, the contract says."""
    (unsigned,) = items(start(THINKING), thought("Plain"), STOP)
    assert (unsigned.text, unsigned.wire) == (
        "Plain",
        {"type": "thinking", "thinking": "Plain", "signature": ""},
    )


def test_a_thought_of_nothing_at_all_never_goes_back() -> None:
    (nothing,) = items(start(THINKING), STOP)
    assert (nothing.text, nothing.wire) == ("", None)


def test_a_thought_that_may_have_lost_something_never_goes_back() -> None:
    (first, second) = items(
        start(THINKING), thought("A"), '{"type": "content_bl', thought("C"), delta(SIGNED), STOP,
        start(TEXT), said("Words."), "not json either", said(" More."), STOP,
    )  # fmt: skip
    assert (first.text, first.wire) == ("AC", None)
    assert second.text == "Words. More."


REDACTED = {"type": "redacted_thinking", "data": "c2VhbGVk"}


@pytest.mark.parametrize("lost", ["not json", "[]", '{"type": "content_block_delta", "ind'])
def test_a_redacted_thought_around_something_lost_never_goes_back(lost: str) -> None:
    (whole,) = items(start(REDACTED), STOP)
    (damaged,) = items(start(REDACTED), lost, STOP)
    assert (whole.wire, damaged.wire) == (REDACTED, None)


@pytest.mark.parametrize("piece", [None, 7, ["C"]])
def test_a_thought_of_which_a_piece_is_no_text_never_goes_back(piece: object) -> None:
    odd = delta({"type": "thinking_delta", "thinking": piece})
    (damaged,) = items(start(THINKING), thought("A"), odd, thought("B"), delta(SIGNED), STOP)
    assert (damaged.text, damaged.wire) == ("AB", None)


def test_a_call_that_may_have_lost_something_is_not_made() -> None:
    with pytest.raises(ProviderError) as caught:
        read(start(CALL), argued('{"path": "/tmp'), '{"type": "content_bl')
    assert caught.value.trouble is Trouble.GARBAGE


def test_a_block_that_was_never_closed_is_finished_at_the_end() -> None:
    assert [item.text for item in items(start(TEXT), said("Almost"), END)] == ["Almost"]


def test_an_announcement_that_comes_twice_is_one_item() -> None:
    assert len(items(start(CALL), start(CALL), argued("{}"), STOP, STOP, END)) == 1


def test_a_text_begins_with_its_first_words_and_loses_nothing() -> None:
    events = read(start(TEXT), said("\n"), said("\n"), said("Hi"), STOP)
    assert events[:2] == [ItemStarted("part-0", Kind.ASSISTANT_MESSAGE), ItemDelta("part-0", "\n\nHi")]
    assert events[2].item.text == events[2].item.wire["text"] == "\n\nHi"


def test_a_character_cut_in_two_is_shown_when_it_is_whole() -> None:
    events = read(start(TEXT), said("a\ud83d"), said("\ude42b"), said("\ud83d"), STOP)
    shown = [event.text for event in events if isinstance(event, ItemDelta)]
    assert shown == ["a", "🙂b", "\ufffd"]
    assert events[-1].item.text == "".join(shown)


@pytest.mark.parametrize("first", [THINKING, TEXT, CALL])
def test_an_item_over_its_cap_ends_the_response_in_words(first: dict[str, Any]) -> None:
    half = "x" * (ITEM_CAP // 2)
    with pytest.raises(ProviderError) as caught:
        read(start(first), thought(half), said(half), argued(half), thought(half), said(half), argued(half))
    assert caught.value.trouble is Trouble.TOO_LARGE


def test_nothing_counts_after_the_end() -> None:
    assert read(END, END, start(TEXT), said("late"), "garbage") == [ResponseEnded(Finish.STOP)]


def test_a_stream_without_an_end_is_broken_and_may_be_tried_again() -> None:
    reading = parser()
    reading.feed("", dumps(start(TEXT)))
    with pytest.raises(ProviderError) as caught:
        reading.close()
    assert (caught.value.trouble, caught.value.again) == (Trouble.BROKEN, True)


def test_an_event_is_known_by_its_name_where_its_data_has_no_type() -> None:
    reading = parser()
    assert reading.feed("ping", "pong") == []
    assert reading.feed("message_stop", "{}") == [ResponseEnded(Finish.STOP)]
    assert reading.close() == []


def test_an_error_may_come_without_json() -> None:
    with pytest.raises(ProviderError) as caught:
        parser().feed("error", "upstream went away")
    assert (caught.value.trouble, caught.value.raw) == (Trouble.BROKEN, "upstream went away")
