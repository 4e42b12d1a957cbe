"""The Responses wire: what it asks, how it reads the recorded streams, and what it makes of refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chatapp.core import verbatim
from chatapp.core.contracts import Contract, Repair
from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Usage
from chatapp.core.history import History, Logged, Question, Response, Result, SendableItem, Target, fold
from chatapp.core.items import ITEM_CAP, Item, KeyMaker, Kind
from chatapp.providers.base import OFF, Ask, Endpoint, ModelSpec, ProviderError, ToolSpec, Trouble
from chatapp.providers.openai.responses import WIRE
from chatapp.providers.sse import Decoder
from tests.providers.fuzz import STREAMS

OPENAI = Endpoint(
    name="openai", dialect="responses", base_url="https://api.example/v1", key="sk-1", label="OpenAI"
)
SEALED = Contract(where="", dialect="responses", since="", source="", sealed=True, blank_text=True)
PLAIN = Contract(where="", dialect="responses", since="", source="")
GPT = ModelSpec(provider="openai", dialect="responses", name="gpt-5")
CLOCK = ToolSpec(name="clock", description="The time.", schema={"type": "object", "properties": {}})


def ask(*steps: Question | Response, **more: Any) -> Ask:
    return Ask(**{"model": GPT, "contract": SEALED, "history": History(steps), **more})


def body(*steps: Question | Response, **more: Any) -> dict[str, Any]:
    return WIRE.body(ask(*steps, **more))


def part(wire: dict[str, Any], kind: Kind, *, with_id: bool = True, **more: Any) -> SendableItem:
    return SendableItem(Item(key="k", kind=kind, wire=wire), verbatim=True, with_id=with_id, **more)


def read(name: str, **more: Any) -> list[Event]:
    return hear(*Decoder().feed((STREAMS / f"responses-{name}.sse").read_bytes()), **more)


def hear(*frames: tuple[str, str], **more: Any) -> list[Event]:
    parser = WIRE.parser(ask(**more), KeyMaker())
    return [event for name, data in frames for event in parser.feed(name, data)] + parser.close()


def frame(kind: str, **values: Any) -> tuple[str, str]:
    return kind, verbatim.dumps({"type": kind, **values})


def items(events: list[Event]) -> list[Item]:
    return [event.item for event in events if isinstance(event, ItemDone)]


def shown(events: list[Event]) -> dict[str, str]:
    texts = {event.key: "" for event in events if isinstance(event, ItemStarted)}
    for event in events:
        if isinstance(event, ItemDelta):
            texts[event.key] += event.text
    return texts


def failure(name: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        read(name)
    return caught.value


# What is asked


def test_nothing_is_left_with_the_provider_and_thoughts_come_back_sealed() -> None:
    assert body(Question("Hi"), conversation="c1", instructions="Be kind.") == {
        "model": "gpt-5",
        "store": False,
        "stream": True,
        "stream_options": {"include_obfuscation": False},
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "instructions": "Be kind.",
        "prompt_cache_key": "c1",
        "input": [{"role": "user", "content": "Hi"}],
    }


@pytest.mark.parametrize(
    ("effort", "repairs", "reasoning"),
    [
        ("", (), {"summary": "auto"}),
        ("high", (), {"summary": "auto", "effort": "high"}),
        (OFF, (), {"summary": "auto", "effort": "none"}),
        ("low", (Repair.NO_SUMMARY,), {"effort": "low"}),
        ("", (Repair.NO_SUMMARY,), None),
        ("", (Repair.STALE,), {"summary": "auto"}),
    ],
)
def test_effort_and_summary(
    effort: str, repairs: tuple[Repair, ...], reasoning: dict[str, str] | None
) -> None:
    said = body(effort=effort, repairs=frozenset(repairs))
    assert said.get("reasoning") == reasoning
    assert said["include"] == ["reasoning.encrypted_content"]


def test_a_model_that_does_not_think_is_not_asked_about_thoughts() -> None:
    plain = WIRE.model(OPENAI, {"id": "gpt-4o"})
    for said in (body(model=plain, effort="high"), body(repairs=frozenset({Repair.FORBIDDEN}))):
        assert not {"reasoning", "include"} & said.keys()
        assert said["store"] is False


def test_tools_stay_in_the_list_when_none_may_be_called() -> None:
    free, bound = body(tools=[CLOCK]), body(tools=[CLOCK], may_call=False)
    assert free["tools"] == [
        {
            "type": "function",
            "name": "clock",
            "description": "The time.",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        }
    ]
    assert free["parallel_tool_calls"] is True
    assert bound == {**free, "tool_choice": "none"}
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & body().keys()


def test_what_a_server_refuses_is_left_out() -> None:
    contract = replace(SEALED, refuses=frozenset({"prompt_cache_key", "stream_options"}))
    assert not {"prompt_cache_key", "stream_options"} & body(conversation="c", contract=contract).keys()


THOUGHT = {
    "new": {"z": 1, "a": [None]},
    "id": "rs_1",
    "type": "reasoning",
    "status": "completed",
    "summary": [],
}
CALL = {
    "type": "function_call",
    "arguments": '{ "a" : 1.0 }',
    "call_id": "c1",
    "name": "f",
    "id": "fc_1",
    "status": "x",
}
TEXT = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "phase": "commentary"}
SEARCH = {"id": "ws_1", "type": "web_search_call", "status": "completed"}


def without(wire: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in wire.items() if name not in names}


@pytest.mark.parametrize(("with_id", "left_out"), [(True, ()), (False, ("id",))])
def test_items_go_back_as_they_came_in_order_with_results_behind(
    with_id: bool, left_out: tuple[str, ...]
) -> None:
    said = Response(
        (
            part(THOUGHT, Kind.REASONING, with_id=with_id),
            part(TEXT, Kind.ASSISTANT_MESSAGE, with_id=with_id),
            part(CALL, Kind.TOOL_CALL, with_id=with_id, call_id="c1"),
        ),
        (Result("c1", "f", "42"),),
    )
    sent = body(Question("a"), said, Question("b"))["input"]
    expected = [
        {"role": "user", "content": "a"},
        without(THOUGHT, "status", *left_out),
        without(TEXT, *left_out),
        without(CALL, *left_out),
        {"type": "function_call_output", "call_id": "c1", "output": "42"},
        {"role": "user", "content": "b"},
    ]
    assert verbatim.dumps(sent) == verbatim.dumps(expected)


def test_what_another_model_said_goes_back_in_plain_words() -> None:
    text = SendableItem(Item(key="a", kind=Kind.ASSISTANT_MESSAGE, text="Hello"), verbatim=False)
    call = SendableItem(
        Item(key="b", kind=Kind.TOOL_CALL, name="f", call_id="toolu_1"), verbatim=False, call_id="call00001"
    )
    assert body(Response((text, call), (Result("call00001", "f", "42"),)))["input"] == [
        {"role": "assistant", "content": "Hello"},
        {"type": "function_call", "call_id": "call00001", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call00001", "output": "42"},
    ]


def test_an_item_of_an_unknown_kind_goes_back_whole_or_not_at_all() -> None:
    assert body(Response((part(SEARCH, Kind.ASSISTANT_MESSAGE),)))["input"] == [SEARCH]
    assert body(Response((part(SEARCH, Kind.ASSISTANT_MESSAGE, with_id=False),)))["input"] == []


def test_addresses_and_key() -> None:
    assert (WIRE.path(OPENAI), WIRE.models_path(OPENAI)) == ("/responses", "/models")
    assert WIRE.headers(OPENAI, ask()) == {"authorization": "Bearer sk-1"}
    assert WIRE.headers(replace(OPENAI, key=""), ask()) == {}


# What is heard


def test_thoughts_and_answer() -> None:
    events = read("thoughts-and-answer", round=3)
    thought, answer = items(events)
    assert (thought.key, thought.kind, thought.round) == ("rs_07a1", Kind.REASONING, 3)
    assert (thought.provider, thought.dialect, thought.model) == ("openai", "responses", "gpt-5")
    assert thought.text == "**Weighing it**\n\nNothing hard.\n\n**Choosing**\n\nBrief is best: naïve 🎈"
    assert (answer.kind, answer.text) == (Kind.ASSISTANT_MESSAGE, "Grüße – forty-two 🎈.")
    assert answer.wire["phase"] == "final_answer"
    assert shown(events) == {thought.key: thought.text, answer.key: answer.text}
    assert events[-2:] == [Usage(120, 64, 8, 90, 60), ResponseEnded(Finish.STOP)]


def test_the_blob_of_the_finished_item_counts_and_no_other() -> None:
    thought = items(read("thoughts-and-answer"))[0]
    assert thought.wire["encrypted_content"] == "gAAAAAfinished"


def test_what_was_heard_goes_back_as_it_was_sent() -> None:
    sent = [
        verbatim.loads(data)
        for _, data in Decoder().feed((STREAMS / "responses-commentary-and-calls.sse").read_bytes())
    ]
    done = [said["item"] for said in sent if said["type"] == "response.output_item.done"]
    heard = items(read("commentary-and-calls"))
    assert [item.wire for item in heard] == done
    history = fold([Logged("assistant", heard)], Target("openai", "responses", "gpt-5", SEALED))
    again = WIRE.body(ask(*history.steps))["input"]
    assert verbatim.dumps([without(item, "id") for item in again[:6]]) == verbatim.dumps(
        [without(item, "id") for item in done]
    )
    assert [item["call_id"] for item in again[6:]] == ["call_Aa1", "call_Bb2", "call_Cc3"]


def test_a_repeated_id_makes_two_items_with_keys_of_their_own() -> None:
    events = read("commentary-and-calls")
    assert [item.key for item in items(events)] == [
        "rs_07b1",
        "msg_07b2",
        "fc_07b3",
        "fc_07b4",
        "part-4",
        "fc_07b6",
    ]
    assert [item.text for item in items(events) if item.kind is Kind.REASONING] == ["", "**And**"]
    assert events[-1] == ResponseEnded(Finish.TOOL_CALLS)


def test_arguments_stay_the_string_that_the_model_wrote() -> None:
    events = read("commentary-and-calls")
    call = items(events)[2]
    assert (call.name, call.call_id, call.text) == (
        "get_weather",
        "call_Aa1",
        '{ "city" : "Zürich", "days": 1.0 }',
    )
    assert shown(events)[call.key] == call.text
    assert ItemStarted(call.key, Kind.TOOL_CALL, "get_weather", "call_Aa1") in events


def test_plain_thoughts_of_an_open_model() -> None:
    events = read("plain-thoughts")
    thought = items(events)[0]
    assert thought.text == shown(events)[thought.key] == "We need to answer. Plain thoughts."
    history = fold([Logged("assistant", items(events))], Target("openai", "responses", "gpt-5", PLAIN))
    assert WIRE.body(ask(*history.steps))["input"][0] == without(thought.wire, "status")


def test_a_server_that_does_not_count_its_items() -> None:
    events = read("uncounted")
    assert [(item.key, item.text) for item in items(events)] == [
        ("rs_l1", "Hm, tools."),
        ("msg_l2", "Asking."),
        ("part-2", '{"q":1}'),
    ]
    assert list(shown(events).values()) == [item.text for item in items(events)]
    assert events[-2:] == [Usage(input=9, output=7), ResponseEnded(Finish.TOOL_CALLS)]


def test_a_refusal_is_shown_as_what_the_model_said() -> None:
    events = read("refusal")
    assert (
        [item.text for item in items(events)] == list(shown(events).values()) == ["I cannot help with that."]
    )
    assert events[-1] == ResponseEnded(Finish.STOP)


def test_an_answer_that_ran_out_of_tokens() -> None:
    events = read("out-of-tokens")
    assert [item.text for item in items(events)] == ["**Long**", "Half an ans"]
    assert events[-1] == ResponseEnded(Finish.LENGTH)


def test_an_answer_that_the_filter_ended() -> None:
    response = {"incomplete_details": {"reason": "content_filter"}}
    assert hear(frame("response.incomplete", response=response)) == [ResponseEnded(Finish.FILTER)]


def test_oddities_cost_nothing() -> None:
    events = read("odd")
    assert [(item.key, item.kind, item.text) for item in items(events)] == [
        ("rs_07j1", Kind.REASONING, "**Calm**"),
        ("ws_07j2", Kind.ASSISTANT_MESSAGE, ""),
        ("msg_07j3", Kind.ASSISTANT_MESSAGE, "Never announced."),
        ("msg_07j4", Kind.ASSISTANT_MESSAGE, "Known only at the end."),
    ]
    assert not any(item.cut for item in items(events))
    assert events[-1] == ResponseEnded(Finish.STOP)


def test_an_event_that_comes_twice_counts_once() -> None:
    frames = Decoder().feed((STREAMS / "responses-thoughts-and-answer.sse").read_bytes())
    assert hear(*(again for frame in frames for again in (frame, frame))) == read("thoughts-and-answer")


ADDED = {"output_index": 0, "item": {"id": "m", "type": "message", "content": []}}
DELTA = {"output_index": 0, "content_index": 0, "sequence_number": -1}


def done(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "m", "type": "message", "content": [{"type": "output_text", "text": text}], **more}


def test_a_server_whose_sequence_number_stands_still_loses_no_event() -> None:
    events = hear(
        frame("response.output_item.added", **ADDED, sequence_number=-1),
        frame("response.output_text.delta", delta="Hal", **DELTA),
        frame("response.output_text.delta", delta="lo", **DELTA),
        frame("response.output_item.done", output_index=0, item=done("Hallo"), sequence_number=-1),
        frame("response.completed", response={}, sequence_number=-1),
    )
    assert shown(events) == {"m": "Hallo"}
    assert events[-1] == ResponseEnded(Finish.STOP)


def test_the_finished_text_wins_over_what_was_streamed() -> None:
    events = hear(
        frame("response.output_item.added", **ADDED),
        frame("response.output_text.delta", output_index=0, delta="Hxllo"),
        frame("response.output_item.done", output_index=0, item=done("Hello")),
        frame("response.completed", response={}),
    )
    assert (shown(events)["m"], items(events)[0].text) == ("Hxllo", "Hello")


def test_ids_that_change_with_every_event_make_one_item() -> None:
    events = hear(
        frame("response.output_item.added", **ADDED),
        frame("response.output_text.delta", output_index=0, item_id="x", delta="Hello"),
        frame("response.output_item.done", output_index=0, item={**done("Hello"), "id": "y"}),
        frame("response.completed", response={"output": [{**done("Hello"), "id": "z"}]}),
    )
    assert [(item.key, item.wire["id"]) for item in items(events)] == [("m", "y")]
    assert shown(events) == {"m": "Hello"}


def test_a_text_that_was_never_finished_is_kept_as_cut() -> None:
    events = hear(
        frame("response.output_item.added", **ADDED),
        frame("response.output_text.delta", output_index=0, delta="Half"),
        frame("response.completed", response={"output": []}),
    )
    item = items(events)[0]
    assert (item.text, item.cut, item.wire) == ("Half", True, None)


def test_a_call_that_was_never_finished_is_never_made() -> None:
    added = {"output_index": 0, "item": {"type": "function_call", "id": "fc", "call_id": "c", "name": "f"}}
    with pytest.raises(ProviderError) as caught:
        hear(frame("response.output_item.added", **added), frame("response.completed", response={}))
    assert caught.value.trouble is Trouble.GARBAGE


@pytest.mark.parametrize(
    "broken", [{"call_id": None}, {"name": 7}, {"arguments": {"a": 1}}, {"call_id": "a\x00"}]
)
def test_a_call_that_cannot_be_made_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(ProviderError) as caught:
        hear(frame("response.output_item.done", output_index=0, item={**CALL, **broken}))
    assert caught.value.trouble is Trouble.GARBAGE


def test_a_call_that_waits_for_what_nobody_here_can_give_is_left_out() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "f", "input": "x"}
    assert hear(
        frame("response.output_item.done", output_index=0, item=item),
        frame("response.completed", response={}),
    ) == [ResponseEnded(Finish.STOP)]


def test_text_is_cleaned_for_people_and_kept_for_the_provider() -> None:
    events = hear(
        frame("response.output_item.added", **ADDED),
        frame("response.output_text.delta", output_index=0, delta="a\x00"),
        frame("response.output_item.done", output_index=0, item=done("a\x00\ud83d")),
        frame("response.completed", response={}),
    )
    assert shown(events)["m"] == "a\ufffd"
    assert items(events)[0].text == "a\ufffd\ufffd"
    assert items(events)[0].wire == done("a\x00\ud83d")


@pytest.mark.parametrize("item", [done("x" * (ITEM_CAP + 1)), done("x", extra="y" * ITEM_CAP)])
def test_an_item_over_the_cap_ends_the_answer(item: dict[str, Any]) -> None:
    with pytest.raises(ProviderError) as caught:
        hear(frame("response.output_item.done", output_index=0, item=item))
    assert caught.value.trouble is Trouble.TOO_LARGE


def test_deltas_over_the_cap_end_the_answer() -> None:
    delta = frame("response.output_text.delta", output_index=0, delta="x" * (ITEM_CAP // 2))
    with pytest.raises(ProviderError) as caught:
        hear(frame("response.output_item.added", **ADDED), delta, delta, delta)
    assert caught.value.trouble is Trouble.TOO_LARGE


def test_nothing_counts_after_the_end() -> None:
    end = frame("response.completed", response={})
    assert hear(end, end, frame("error", code="server_error")) == [ResponseEnded(Finish.STOP)]


# What is refused


@pytest.mark.parametrize(
    ("name", "trouble", "wait"),
    [
        ("failed", Trouble.BROKEN, None),
        ("error-nested", Trouble.BUSY, 7.0),
        ("error-flat", Trouble.BUSY, None),
    ],
)
def test_failures_inside_a_stream(name: str, trouble: Trouble, wait: float | None) -> None:
    error = failure(name)
    assert (error.trouble, error.again, error.wait, error.repair) == (trouble, True, wait, None)
    assert error.sentence.startswith("openai ")
    assert "message" in error.raw


def test_a_stream_without_its_closing_event_is_broken() -> None:
    with pytest.raises(ProviderError) as caught:
        hear(frame("response.output_item.done", output_index=0, item=done("All of it.")))
    assert (caught.value.trouble, caught.value.again) == (Trouble.BROKEN, True)


def test_a_stale_thought_that_is_noticed_inside_the_stream_can_be_repaired() -> None:
    said = {"error": {"type": "invalid_request_error", "code": "invalid_encrypted_content", "message": "No."}}
    with pytest.raises(ProviderError) as caught:
        hear(frame("error", **said))
    assert (caught.value.trouble, caught.value.repair, caught.value.again) == (
        Trouble.REFUSED,
        Repair.STALE,
        False,
    )


def test_an_error_without_a_type_is_an_error_all_the_same() -> None:
    with pytest.raises(ProviderError) as caught:
        hear(("", '{"error":{"message":"Slow down.","code":"too_many_requests"}}'))
    assert caught.value.trouble is Trouble.BUSY


def refusal(status: int, text: str, **headers: str) -> ProviderError:
    return WIRE.refusal(OPENAI.who, status, headers, text)


def error_body(message: str, code: str | None = None, param: str | None = None) -> str:
    return verbatim.dumps(
        {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}
    )


NO_STORE = "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again"


@pytest.mark.parametrize(
    ("status", "text", "repair"),
    [
        (
            400,
            error_body("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
            Repair.STALE,
        ),
        (
            400,
            error_body("Item 'fc_1' was provided without its required 'reasoning' item: 'rs_1'."),
            Repair.STALE,
        ),
        (404, error_body(NO_STORE, param="input"), Repair.STALE),
        (400, error_body("The encrypted content gAAA...abcd could not be verified."), Repair.STALE),
        (400, error_body("Reason: organization_id did not match", "invalid_encrypted_content"), Repair.STALE),
        (400, error_body("reasoning `encrypted_content` was not issued to this caller"), Repair.STALE),
        (400, error_body("Duplicate item found with id rs_1. Remove duplicate items"), Repair.STALE),
        (
            400,
            error_body("Invalid 'input[6].id': 'item_1'. Expected an ID that begins with 'rs'."),
            Repair.STALE,
        ),
        (400, error_body("Encrypted content is not supported."), Repair.STALE),
        (
            400,
            error_body("Encrypted content is not supported with this model.", param="include"),
            Repair.FORBIDDEN,
        ),
        (
            400,
            error_body("Unsupported parameter: 'reasoning.effort' is not supported with this model."),
            Repair.FORBIDDEN,
        ),
        (
            400,
            error_body("Your organization must be verified", "unsupported_value", "reasoning.summary"),
            Repair.NO_SUMMARY,
        ),
        (400, "the encrypted content could not be verified", Repair.STALE),
    ],
)
def test_refusals_that_a_changed_request_cures(status: int, text: str, repair: Repair) -> None:
    error = refusal(status, text)
    assert (error.repair, error.trouble, error.again, error.raw) == (repair, Trouble.REFUSED, False, text)


@pytest.mark.parametrize(
    ("status", "text", "trouble"),
    [
        (
            400,
            error_body("Your input exceeds the context window of this model.", "context_length_exceeded"),
            Trouble.TOO_LONG,
        ),
        (
            400,
            '{"error":{"code":400,"message":"too big","type":"exceed_context_size_error"}}',
            Trouble.TOO_LONG,
        ),
        (429, error_body("You exceeded your current quota", "insufficient_quota"), Trouble.CREDIT),
        (401, error_body("Incorrect API key provided", "invalid_api_key"), Trouble.KEY),
        (403, "", Trouble.FORBIDDEN),
        (404, error_body("The model does not exist", "model_not_found"), Trouble.NOT_FOUND),
        (400, error_body("Unknown parameter: 'x'.", "unknown_parameter", "x"), Trouble.REFUSED),
        (400, error_body("No tool output found for function call call_1.", None, "input"), Trouble.REFUSED),
        (400, error_body("Flagged.", "invalid_prompt"), Trouble.FILTERED),
        (500, "<html>", Trouble.BROKEN),
        (503, error_body("Overloaded", "server_is_overloaded"), Trouble.BUSY),
        (400, '[{"error":{"message":"no","code":"insufficient_quota"}}]', Trouble.CREDIT),
        (400, '{"error":"no"}', Trouble.REFUSED),
        (400, '{"error":{"code":[1]}}', Trouble.REFUSED),
        (400, "[[[", Trouble.REFUSED),
    ],
)
def test_refusals_that_only_a_person_or_time_can_cure(status: int, text: str, trouble: Trouble) -> None:
    error = refusal(status, text)
    assert (error.trouble, error.repair, error.status) == (trouble, None, status)
    assert error.again is (trouble in (Trouble.BUSY, Trouble.BROKEN))


def test_a_busy_provider_says_how_long_to_wait() -> None:
    text = error_body("Rate limit reached", "rate_limit_exceeded")
    error = refusal(429, text, **{"retry-after-ms": "1500"})
    assert (error.trouble, error.again, error.wait) == (Trouble.BUSY, True, 1.5)


# Which models there are


@pytest.mark.parametrize(
    ("name", "efforts"),
    [
        ("gpt-5", ("minimal", "low", "medium", "high")),
        ("gpt-5-mini-2025-08-07", ("minimal", "low", "medium", "high")),
        ("gpt-5-codex", ("low", "medium", "high")),
        ("gpt-5-pro", ()),
        ("gpt-5.1", (OFF, "low", "medium", "high")),
        ("gpt-5.1-codex-max", ("low", "medium", "high", "xhigh")),
        ("gpt-5.2", (OFF, "low", "medium", "high", "xhigh")),
        ("gpt-5.2-pro", ("medium", "high", "xhigh")),
        ("gpt-5.3-codex", ("low", "medium", "high", "xhigh")),
        ("gpt-5.6-sol", (OFF, "low", "medium", "high", "xhigh", "max")),
        ("o4-mini", ("low", "medium", "high")),
        ("gpt-4o-mini", ()),
        ("gpt-4.1", ()),
        ("gpt-5-chat-latest", ()),
        ("scenario:tool-loop@mini", (OFF, "minimal", "low", "medium", "high")),
    ],
)
def test_what_may_be_chosen_for_a_model(name: str, efforts: tuple[str, ...]) -> None:
    model = WIRE.model(OPENAI, {"id": name})
    assert (model.id, model.dialect, model.efforts) == (f"openai:{name}", "responses", efforts)


@pytest.mark.parametrize(
    ("name", "window", "max_output"),
    [
        ("gpt-5", 400_000, 128_000),
        ("gpt-5.4", 1_050_000, 128_000),
        ("gpt-5.4-mini", 400_000, 128_000),
        ("o3", 200_000, 100_000),
        ("gpt-4o", 128_000, 16_384),
        ("something-new", None, None),
    ],
)
def test_how_much_a_model_holds(name: str, window: int | None, max_output: int | None) -> None:
    model = WIRE.model(OPENAI, {"id": name})
    assert (model.window, model.max_output) == (window, max_output)
