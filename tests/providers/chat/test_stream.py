"""What the parser makes of each server's way to stream a chat completion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from chatapp.core.events import (
    Event,
    Finish,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemStarted,
    ResponseEnded,
    Skipped,
    Usage,
)
from chatapp.core.items import ITEM_CAP, Item, KeyMaker, Kind
from chatapp.providers.base import Ask, ProviderError, Trouble
from chatapp.providers.chat.completions import WIRE
from tests.providers.fake_wire import question
from tests.providers.fuzz import Recording, hear, recordings

Frame = dict[str, Any]
THOUGHT, TEXT, CALL = Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL


def delta(**fields: Any) -> Frame:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def finish(reason: str = "stop", **more: Any) -> Frame:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], **more}


def call(
    index: int | None = 0, call_id: str | None = None, name: str | None = None, arguments: str = ""
) -> Frame:
    piece = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return delta(tool_calls=[piece])


def events_of(frames: Sequence[Frame], ask: Ask | None = None) -> list[Event]:
    parser = WIRE.parser(ask or question(), KeyMaker())
    events = [event for frame in frames for event in parser.feed("", json.dumps(frame))]
    return events + parser.feed("", "[DONE]") + parser.close()


def items_of(*frames: Frame, ask: Ask | None = None) -> list[Item]:
    """In the order in which they started."""
    events = events_of([*frames, finish()], ask)
    done = {event.item.key: event.item for event in events if isinstance(event, ItemDone)}
    return [done[event.key] for event in events if isinstance(event, ItemStarted)]


def said(items: Sequence[Item]) -> list[tuple[Kind, str]]:
    return [(item.kind, item.text) for item in items]


def recording(name: str) -> Recording:
    return next(found for found in recordings("chat") if found.name == f"chat-{name}")


def recorded(name: str) -> list[Event]:
    found = recording(name)
    heard = hear(found, found.frames())
    assert heard.error is None
    return heard.events


def recorded_items(name: str) -> list[Item]:
    started = [event.key for event in recorded(name) if isinstance(event, ItemStarted)]
    done = {event.item.key: event.item for event in recorded(name) if isinstance(event, ItemDone)}
    return [done[key] for key in started]


TIDE = '{"port":"Brest"}'
WHERE_AND_WHAT = [
    (
        "deepseek",
        [
            (THOUGHT, "The tide depends on the moon.\nLook it up."),
            (TEXT, "Let me look."),
            (CALL, '{"port": "Brest"}'),
        ],
        Usage(input=120, cached=64, output=40, reasoning=22),
        Finish.TOOL_CALLS,
    ),
    (
        "kimi",
        [(THOUGHT, "Two ports, two calls."), (CALL, TIDE), (CALL, '{"port":"Calais"}')],
        Usage(input=80, cached=16, output=30),
        Finish.TOOL_CALLS,
    ),
    (
        "glm",
        [(THOUGHT, "Think first."), (TEXT, "One moment. "), (CALL, TIDE)],
        Usage(input=90, cached=0, output=25, reasoning=9),
        Finish.TOOL_CALLS,
    ),
    (
        "vllm",
        [(THOUGHT, "High water is at six."), (TEXT, "\n\nAt six o’clock 🌊.")],
        Usage(input=20, output=18),
        Finish.STOP,
    ),
    (
        "openrouter",
        [(THOUGHT, "The moon pulls."), (CALL, TIDE)],
        Usage(input=60, cached=8, cache_written=4, output=21, reasoning=12),
        Finish.TOOL_CALLS,
    ),
    (
        "gemini",
        [(CALL, TIDE), (CALL, '{"port":"Calais"}')],
        Usage(input=33, output=44),
        Finish.TOOL_CALLS,
    ),
    ("ollama", [(THOUGHT, "Short thought."), (CALL, TIDE)], Usage(input=12, output=9), Finish.TOOL_CALLS),
    ("llamacpp", [(THOUGHT, "Say it."), (TEXT, "Six o’clock.")], Usage(input=9, output=7), Finish.STOP),
    ("mistral", [(THOUGHT, "Tides first."), (TEXT, "At six.")], Usage(input=15, output=8), Finish.STOP),
    (
        "think-tags",
        [(THOUGHT, "The moon pulls.\n"), (TEXT, "At six. A `<think>` stays.")],
        Usage(input=10, output=20),
        Finish.STOP,
    ),
    (
        "think-noopen",
        [(THOUGHT, "The moon pulls. < is no tag.\n"), (TEXT, "At six.")],
        Usage(input=10, output=20),
        Finish.STOP,
    ),
    ("parallel", [(CALL, TIDE), (CALL, '{"place":"Brest"}')], None, Finish.TOOL_CALLS),
    (
        "interleaved",
        [
            (THOUGHT, "One."),
            (TEXT, "First. "),
            (THOUGHT, "Two."),
            (CALL, TIDE),
            (CALL, "not JSON"),
            (TEXT, "Done."),
        ],
        None,
        Finish.TOOL_CALLS,
    ),
    ("refusal", [(TEXT, "I cannot help with that.")], None, Finish.STOP),
    ("length", [(THOUGHT, "On and on")], Usage(input=5, output=4096, reasoning=4096), Finish.LENGTH),
]


@pytest.mark.parametrize(
    ("name", "items", "usage", "end"), WHERE_AND_WHAT, ids=[row[0] for row in WHERE_AND_WHAT]
)
def test_each_server_is_understood(
    name: str, items: list[tuple[Kind, str]], usage: Usage | None, end: Finish
) -> None:
    events = recorded(name)
    assert said(recorded_items(name)) == items
    assert [event for event in events if isinstance(event, Usage)] == ([usage] if usage else [])
    assert events[-1] == ResponseEnded(end)


@pytest.mark.parametrize("name", [row[0] for row in WHERE_AND_WHAT])
def test_what_was_streamed_is_what_is_stored(name: str) -> None:
    streamed: dict[str, str] = {}
    for event in recorded(name):
        if isinstance(event, ItemDelta):
            streamed[event.key] = streamed.get(event.key, "") + event.text
    assert streamed == {item.key: item.text for item in recorded_items(name) if item.text}


def test_the_log_keeps_what_each_server_sent() -> None:
    thought, text, tide = recorded_items("deepseek")
    assert thought.wire == {"reasoning_content": "The tide depends on the moon.\nLook it up."}
    assert text.wire == {"content": "Let me look."}
    function = {"name": "get_tide", "arguments": '{"port": "Brest"}'}
    assert tide.wire == {"id": "call_0_a1", "type": "function", "function": function}
    assert recorded_items("vllm")[0].wire == {"reasoning": "High water is at six."}


def test_reasoning_details_are_put_together_piece_by_piece() -> None:
    text = {
        "type": "reasoning.text",
        "text": "The moon pulls.",
        "format": "anthropic-claude-v1",
        "index": 0,
        "signature": "c2lnbmVk",
    }
    sealed = {
        "type": "reasoning.encrypted",
        "data": "c2VhbGVk",
        "id": "tool_1",
        "format": "anthropic-claude-v1",
        "index": 0,
    }
    assert recorded_items("openrouter")[0].wire == {
        "reasoning_details": [text, sealed],
        "reasoning": "The moon pulls.",
    }


def test_a_thought_may_be_sealed_and_without_words() -> None:
    sealed = {"type": "reasoning.encrypted", "data": "eA==", "index": 0}
    thought, _ = items_of(delta(reasoning=None, reasoning_details=[sealed]), delta(content="Hi"))
    assert (thought.kind, thought.text, thought.wire) == (THOUGHT, "", {"reasoning_details": [sealed]})


def test_empty_details_are_no_thought() -> None:
    empty = [{"type": "reasoning.text", "text": "", "index": 0}]
    assert said(items_of(delta(content="Hi", reasoning_details=empty))) == [(TEXT, "Hi")]


def test_words_that_are_only_in_the_details_are_shown() -> None:
    summary = [{"type": "reasoning.summary", "summary": "Short.", "index": 0}]
    assert said(items_of(delta(reasoning_details=summary), delta(content="Hi"))) == [
        (THOUGHT, "Short."),
        (TEXT, "Hi"),
    ]


def text_detail(words: str) -> dict[str, Any]:
    return {"type": "reasoning.text", "text": words, "index": 0}


@pytest.mark.parametrize("before", ["the words", "the details"])
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_words_that_come_once_more_as_details_are_said_once(before: str, field: str) -> None:
    frames = list[Frame]()
    for words in ("The tide ", "turns."):
        both = [delta(**{field: words}), delta(reasoning_details=[text_detail(words)])]
        frames += both if before == "the words" else both[::-1]
    thought, text = items_of(*frames, delta(content="Hi"))
    assert said([thought, text]) == [(THOUGHT, "The tide turns."), (TEXT, "Hi")]
    assert thought.wire == {
        field: "The tide turns.",
        "reasoning_details": [text_detail("The tide turns.")],
    }


def test_details_that_say_all_of_it_again_at_the_end_are_no_second_thought() -> None:
    whole = delta(reasoning_details=[text_detail("The tide turns.")])
    words = [delta(reasoning_content="The tide "), delta(reasoning_content="turns."), delta(content="Hi")]
    thought, text = amended(*words, whole)
    assert said([thought, text]) == [(THOUGHT, "The tide turns."), (TEXT, "Hi")]
    assert thought.wire == {
        "reasoning_content": "The tide turns.",
        "reasoning_details": [text_detail("The tide turns.")],
    }


SEAL = {"type": "reasoning.encrypted", "data": "eA==", "index": 0}


def amended(*frames: Frame) -> list[Item]:
    """The items as they go into the log."""
    last: dict[str, Item] = {}
    for event in events_of([*frames, finish()]):
        if isinstance(event, ItemDone | ItemAmended):
            last[event.item.key] = event.item
    return list(last.values())


@pytest.mark.parametrize("late", ["in the middle of the text", "after it"])
def test_details_without_words_belong_to_the_thought_before(late: str) -> None:
    words = [delta(content="It "), delta(content="is.")]
    words.insert(1 if late == "in the middle of the text" else 2, delta(content="", reasoning_details=[SEAL]))
    thought, text = amended(delta(reasoning="a"), *words)
    assert said([thought, text]) == [(THOUGHT, "a"), (TEXT, "It is.")]
    assert thought.wire == {"reasoning_details": [SEAL], "reasoning": "a"}
    assert text.wire == {"content": "It is."}


def test_a_signature_that_comes_late_completes_its_entry() -> None:
    entry = {"type": "reasoning.text", "text": "a", "index": 0}
    signed = {"type": "reasoning.text", "signature": "s", "index": 0}
    thought, _ = amended(
        delta(reasoning="a", reasoning_details=[entry]), delta(content="b"), delta(reasoning_details=[signed])
    )
    assert thought.wire == {"reasoning_details": [entry | {"signature": "s"}], "reasoning": "a"}


@pytest.mark.parametrize("after", [[], [call(0, "c", "f", "{}")]])
def test_without_a_thought_before_they_belong_to_the_text(after: list[Frame]) -> None:
    text, *_ = amended(delta(content="b"), *after, delta(reasoning_details=[SEAL]))
    assert (text.kind, text.text) == (TEXT, "b")
    assert text.wire == {"reasoning_details": [SEAL], "content": "b"}


def test_mistrals_thoughts_are_kept_as_the_parts_they_were() -> None:
    def part(words: str) -> Frame:
        return delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": words}]}])

    thought, text = items_of(
        part("Tides "),
        part("first."),
        delta(content=[{"type": "text", "text": "At "}]),
        delta(content="six."),
    )
    assert said([thought, text]) == [(THOUGHT, "Tides first."), (TEXT, "At six.")]
    words = [{"type": "text", "text": "Tides first."}]
    assert thought.wire == {"content": [{"type": "thinking", "thinking": words, "closed": True}]}
    assert text.wire == {"content": "At six."}


def test_details_of_two_ids_stay_two_entries() -> None:
    first, second = ({"type": "reasoning.encrypted", "data": d, "index": 0, "id": d} for d in "ab")
    (thought,) = items_of(delta(reasoning_details=[first]), delta(reasoning_details=[second]))
    assert thought.wire == {"reasoning_details": [first, second]}


def test_a_signature_is_kept_when_later_pieces_come_without() -> None:
    tide, other = recorded_items("gemini")
    assert tide.wire["extra_content"] == {"google": {"thought_signature": "c2lnbmF0dXJl"}}
    assert "extra_content" not in other.wire


def test_of_two_fields_the_documented_one_is_read() -> None:
    (thought,) = items_of(delta(reasoning_content="A", reasoning="B"))
    assert thought.wire == {"reasoning_content": "A"}


@pytest.mark.parametrize("content", [None, "", "\n"])
def test_nothing_and_white_space_do_not_end_a_thought(content: str | None) -> None:
    items = items_of(delta(reasoning="a", content=content), delta(content=content), delta(reasoning="b"))
    assert said(items) == [(THOUGHT, "ab")]


def test_white_space_before_a_call_is_no_answer() -> None:
    items = items_of(delta(content="\n\n"), call(0, "c", "f", "{}"))
    assert said(items) == [(CALL, "{}")]


def test_a_thought_is_done_before_the_text_starts() -> None:
    events = events_of([delta(reasoning="a"), delta(content="b"), finish()])
    assert [type(event) for event in events[:4]] == [ItemStarted, ItemDelta, ItemDone, ItemStarted]


def test_a_thought_is_done_before_a_call_starts() -> None:
    events = events_of([delta(reasoning="a"), call(0, "c", "f"), finish()])
    assert [type(event) for event in events[:4]] == [ItemStarted, ItemDelta, ItemDone, ItemStarted]


def test_keys_are_taken_in_the_order_of_starting() -> None:
    items = items_of(delta(reasoning="a"), delta(content="b"), call(0, "c", "f"), call(1, "d", "g"))
    assert [item.key for item in items] == ["part-0", "part-1", "part-2", "part-3"]


def test_items_say_who_made_them() -> None:
    (item,) = items_of(delta(content="a"), ask=replace(question(), round=4))
    assert (item.provider, item.dialect, item.model, item.round) == ("fake", "chat", "m", 4)


def test_calls_without_ids_get_one_that_names_their_round_and_place() -> None:
    ask = replace(question(), round=3)
    first, second = items_of(call(0, None, "f", "{}"), call(1, "", "g", "{}"), ask=ask)
    assert (first.call_id, second.call_id) == ("call_3_0", "call_3_1")


def test_a_repeated_id_and_name_belong_to_the_same_call() -> None:
    (item,) = items_of(call(0, "c", "f", '{"a"'), call(0, "c", "f", ":1}"))
    assert (item.call_id, item.name, item.text) == ("c", "f", '{"a":1}')


def test_calls_of_the_same_index_are_told_apart_by_their_ids() -> None:
    items = items_of(call(0, "c", "f", "{}"), call(0, "d", "g", "{}"), call(0, None, None, " "))
    assert [(item.call_id, item.name, item.text) for item in items] == [("c", "f", "{}"), ("d", "g", "{} ")]


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    items = items_of(call(None, "c", "f", "{"), call(None, "d", "g", "{}"), call(None, "c", None, "}"))
    assert [(item.call_id, item.text) for item in items] == [("c", "{}"), ("d", "{}")]


def test_a_piece_that_says_nothing_is_no_call() -> None:
    assert items_of(delta(content="a", tool_calls=[{"index": 0, "function": {}}]))[0].text == "a"


def test_a_name_that_comes_late_is_kept() -> None:
    (item,) = items_of(call(0, "c", None), call(0, None, "f", "{}"))
    assert item.name == "f"


def test_arguments_that_are_an_object_are_written_as_json() -> None:
    piece = {"index": 0, "id": "c", "function": {"name": "f", "arguments": {"a": "é"}}}
    (item,) = items_of(delta(tool_calls=[piece]))
    assert item.text == item.wire["function"]["arguments"] == '{"a":"é"}'


def test_unknown_fields_of_a_call_go_into_the_log() -> None:
    piece = {"index": 0, "id": "c", "type": "function", "x": [1], "function": {"name": "f", "strict": True}}
    (item,) = items_of(delta(tool_calls=[piece]))
    function = {"name": "f", "strict": True, "arguments": ""}
    assert item.wire == {"id": "c", "type": "function", "x": [1], "function": function}


def test_other_choices_than_the_first_are_left_out() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
    assert said(items_of(delta(content="yes"), other)) == [(TEXT, "yes")]


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("stop", Finish.STOP),
        ("tool_calls", Finish.STOP),
        ("length", Finish.LENGTH),
        ("content_filter", Finish.FILTER),
        ("eos", Finish.STOP),
    ],
)
def test_the_finish_without_calls(reason: str, end: Finish) -> None:
    assert events_of([delta(content="a"), finish(reason), finish(reason)])[-1] == ResponseEnded(end)


@pytest.mark.parametrize(("reason", "end"), [("stop", Finish.TOOL_CALLS), ("length", Finish.LENGTH)])
def test_the_finish_with_calls(reason: str, end: Finish) -> None:
    assert events_of([call(0, "c", "f"), finish(reason)])[-1] == ResponseEnded(end)


def test_usage_counts_once_with_its_last_numbers() -> None:
    early = finish(usage={"prompt_tokens": 1, "completion_tokens": 1})
    late = {"choices": [], "usage": {"completion_tokens": 7}}
    usage = [event for event in events_of([delta(content="a"), early, late]) if isinstance(event, Usage)]
    assert usage == [Usage(input=1, output=7)]


def test_usage_that_is_no_number_is_not_known() -> None:
    events = events_of([finish(usage={"prompt_tokens": True, "completion_tokens": -1, "total_tokens": "x"})])
    assert not any(isinstance(event, Usage) for event in events)


def test_a_missing_end_marker_is_fine_after_a_finish() -> None:
    parser = WIRE.parser(question(), KeyMaker())
    parser.feed("", json.dumps(delta(content="a")))
    assert isinstance(parser.feed("", json.dumps(finish()))[-1], ItemDone)
    assert parser.close() == [ResponseEnded(Finish.STOP)]
    assert parser.close() == []


def test_an_end_marker_is_fine_without_a_finish() -> None:
    assert events_of([delta(content="a")])[-1] == ResponseEnded(Finish.STOP)


@pytest.mark.parametrize("said", [delta(content="a"), call(0, "c", "f", "{")])
def test_an_answer_that_just_ends_counts_as_far_as_it_came(said: Frame) -> None:
    parser = WIRE.parser(question(), KeyMaker())
    parser.feed("", json.dumps(said))
    *_, done, ended = parser.close()
    assert isinstance(done, ItemDone)
    assert ended == ResponseEnded(Finish.CUT)


@pytest.mark.parametrize("said", [delta(reasoning="a"), delta(content=" "), delta(content="<think>a")])
def test_a_stream_that_just_ends_before_the_answer_is_broken(said: Frame) -> None:
    parser = WIRE.parser(question(), KeyMaker())
    parser.feed("", json.dumps(said))
    with pytest.raises(ProviderError) as caught:
        parser.close()
    assert (caught.value.trouble, caught.value.again) == (Trouble.BROKEN, True)


ERRORS: list[tuple[str, str, Trouble]] = [
    ("", '{"error":{"message":"Rate limit reached","type":"x","code":"rate_limit_exceeded"}}', Trouble.BUSY),
    ("", '{"error":{"message":"Internal","type":"server_error","code":null}}', Trouble.BROKEN),
    ("", '{"error":"out of memory"}', Trouble.BROKEN),
    ("", '{"object":"error","message":"bad","type":"BadRequestError","code":400}', Trouble.REFUSED),
    ("", '{"error":{"code":402,"message":"Insufficient credits"},"choices":[]}', Trouble.CREDIT),
    ("", '{"choices":[{"index":0,"delta":{},"error":{"code":502,"message":"x"}}]}', Trouble.BROKEN),
    ("", '[{"error":{"code":429,"message":"x","status":"RESOURCE_EXHAUSTED"}}]', Trouble.BUSY),
    ("", '{"code":"InvalidParameter","message":"x","request_id":"r"}', Trouble.BROKEN),
    ("", '{"detail":"Not Found"}', Trouble.BROKEN),
    ("", '{"type":"error","message":"maximum context length is 8192 tokens"}', Trouble.TOO_LONG),
    ("error", "upstream went away", Trouble.BROKEN),
    (
        "",
        '{"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}',
        Trouble.BROKEN,
    ),
]


@pytest.mark.parametrize(("event", "data", "trouble"), ERRORS)
def test_an_error_inside_the_stream_is_an_error(event: str, data: str, trouble: Trouble) -> None:
    parser = WIRE.parser(question(), KeyMaker())
    with pytest.raises(ProviderError) as caught:
        parser.feed(event, data)
    assert caught.value.trouble is trouble


@pytest.mark.parametrize("data", ["not json", "7", "[]"])
def test_words_go_on_after_a_frame_that_nobody_can_read(data: str) -> None:
    parser = WIRE.parser(question(), KeyMaker())
    before, after = (json.dumps({"choices": [{"delta": {"content": words}}]}) for words in ("It ", "is."))
    events = [
        *parser.feed("", before),
        *parser.feed("", data),
        *parser.feed("", after),
        *parser.feed("", "[DONE]"),
    ]
    assert [event.item.text for event in events if isinstance(event, ItemDone)] == ["It is."]
    assert events.count(Skipped()) == 1


def test_a_call_with_an_unreadable_frame_is_never_made() -> None:
    parser = WIRE.parser(question(), KeyMaker())
    call = {"index": 0, "id": "call_1", "function": {"name": "pay", "arguments": '{"sum": 1'}}
    parser.feed("", json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}))
    with pytest.raises(ProviderError) as caught:
        parser.feed("", "not json")
    assert caught.value.trouble is Trouble.GARBAGE


def test_a_stream_of_nothing_but_rubbish_is_garbage() -> None:
    parser = WIRE.parser(question(), KeyMaker())
    parser.feed("", "not json")
    with pytest.raises(ProviderError) as caught:
        parser.close()
    assert (caught.value.trouble, caught.value.raw) == (Trouble.GARBAGE, "not json")


@pytest.mark.parametrize(
    ("name", "trouble"), [("error-vllm", Trouble.BUSY), ("error-openrouter", Trouble.BROKEN)]
)
def test_recorded_errors_end_the_answer(name: str, trouble: Trouble) -> None:
    found = recording(name)
    error = hear(found, found.frames()).error
    assert error is not None and error.trouble is trouble and error.again


@pytest.mark.parametrize("data", ["", " ", "{}", '{"object":"ping"}', '{"error":null}', '{"choices":null}'])
def test_frames_that_say_nothing_are_skipped(data: str) -> None:
    assert WIRE.parser(question(), KeyMaker()).feed("", data) == []


def test_nothing_counts_after_the_end() -> None:
    parser = WIRE.parser(question(), KeyMaker())
    parser.feed("", "[DONE]")
    assert parser.feed("", json.dumps(delta(content="late"))) == []


@pytest.mark.parametrize("field", ["content", "reasoning"])
def test_an_item_has_a_largest_size(field: str) -> None:
    piece = delta(**{field: "x" * (ITEM_CAP // 4)})
    with pytest.raises(ProviderError) as caught:
        events_of([piece] * 5)
    assert caught.value.trouble is Trouble.TOO_LARGE


def test_a_long_thought_in_small_pieces_is_not_too_large() -> None:
    detail = {"type": "reasoning.text", "text": "word", "format": "anthropic-claude-v1", "index": 0}
    thought, _ = items_of(*[delta(reasoning="word", reasoning_details=[detail])] * 30_000, delta(content="a"))
    assert len(thought.text) == 120_000


def test_an_answer_has_a_largest_number_of_calls() -> None:
    pieces = [{"index": n, "id": f"c{n}", "function": {"name": "f"}} for n in range(1001)]
    with pytest.raises(ProviderError) as caught:
        events_of([delta(tool_calls=pieces)])
    assert caught.value.trouble is Trouble.TOO_LARGE


def test_a_character_cut_in_two_is_shown_whole() -> None:
    events = events_of([delta(content="a\ud83d"), delta(content="\ude00b"), finish()])
    assert [event.text for event in events if isinstance(event, ItemDelta)] == ["a", "😀b"]


def test_half_a_character_at_the_end_is_replaced_for_people_and_kept_for_the_provider() -> None:
    (item,) = items_of(delta(content="a\x00\ud83d"))
    assert item.text == "a\ufffd\ufffd"
    assert item.wire == {"content": "a\x00\ud83d"}


@pytest.mark.parametrize("name", ["think", "thinking", "thought", "reasoning"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_tags_at_the_very_start_of_an_answer_hold_a_thought_however_it_is_cut(name: str, size: int) -> None:
    text = f"\n<{name}>\na < b</{name}>\n\nIt is. A `<{name}>` stays."
    items = items_of(*[delta(content=text[at : at + size]) for at in range(0, len(text), size)])
    assert said(items) == [(THOUGHT, "a < b"), (TEXT, f"It is. A `<{name}>` stays.")]


@pytest.mark.parametrize(
    "text",
    [
        "```\n<think>a</think>\n```",
        "`<think>` is a tag",
        "So: <think>a</think>b",
        "<thinker>a</thinker>",
        "<b>",
    ],
)
def test_tags_that_come_later_or_in_code_are_text(text: str) -> None:
    assert said(items_of(delta(content=text))) == [(TEXT, text)]


def test_tags_are_text_where_a_row_says_so() -> None:
    ask = question()
    ask = replace(ask, contract=replace(ask.contract, tags=()))
    assert said(items_of(delta(content="<think>a</think>b"), ask=ask)) == [(TEXT, "<think>a</think>b")]


def test_what_opened_like_a_thought_and_never_ended_was_the_answer() -> None:
    thought, text = items_of(delta(content="<think> is "), delta(content="a tag."))
    assert (thought.text, thought.wire) == ("", None)
    assert (text.kind, text.text) == (TEXT, "<think> is a tag.")


def test_at_the_limit_an_open_thought_is_one() -> None:
    events = events_of([delta(content="<think>on and on"), finish("length")])
    (item,) = [event.item for event in events if isinstance(event, ItemDone)]
    assert (item.kind, item.text) == (THOUGHT, "on and on")


def test_the_log_keeps_the_tags_as_they_came() -> None:
    thought, text = items_of(delta(content="\n<think>\na</think>\n\nb"))
    assert thought.wire == {"content": "<think>\na</think>\n\n"}
    assert text.wire == {"content": "b"}


def test_empty_tags_are_no_thought() -> None:
    assert said(items_of(delta(content="<think>\n\n</think>\n\nb"))) == [(TEXT, "b")]


def test_a_call_inside_unclosed_tags_ends_the_thought() -> None:
    items = items_of(delta(content="<think>a</t"), call(0, "c", "f", "{}"))
    assert said(items) == [(THOUGHT, "a</t"), (CALL, "{}")]


def test_a_server_that_parses_thoughts_itself_has_no_tags() -> None:
    ask = question()
    ask = replace(ask, contract=replace(ask.contract, tags=(("", "</think>"),)))
    items = items_of(delta(reasoning_content="a"), delta(content="The tag </think> ends."), ask=ask)
    assert said(items) == [(THOUGHT, "a"), (TEXT, "The tag </think> ends.")]
