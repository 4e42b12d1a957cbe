"""What a request to the Messages API says."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from chatapp.core.contracts import Repair, contract_for
from chatapp.core.history import History, Logged, Question, Response, Result, SendableItem, Target, fold
from chatapp.core.items import Item, Kind, Outcome
from chatapp.core.verbatim import dumps, loads
from chatapp.providers.anthropic.messages import INTERLEAVED, WIRE
from chatapp.providers.base import OFF, Ask, Endpoint, ModelSpec, ToolSpec, Wishes
from tests.providers.fuzz import Recording, hear, recordings

RECORDED = {recorded.name: recorded for recorded in recordings("messages")}

ENDPOINT = Endpoint(name="anthropic", dialect="messages", key="sk-test")
CONTRACT = contract_for("messages", host="api.anthropic.com", model="claude-made-up")
CACHED = {"cache_control": {"type": "ephemeral"}}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = ToolSpec(name="get_weather", description="The weather in a city.", schema=SCHEMA)
ADAPTIVE = ModelSpec(provider="anthropic", dialect="messages", name="claude-made-up", thinking="adaptive")
BUDGET = replace(ADAPTIVE, thinking="budget", efforts=(OFF, "low", "medium", "high"))
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "sig=="}
CALL = {"type": "tool_use", "id": "toolu_01", "name": "get_weather", "input": {"city": "Rome"}}


def asking(*steps: Question | Response, model: ModelSpec = ADAPTIVE, **more: Any) -> Ask:
    more = {"contract": CONTRACT} | more
    return Ask(model=model, history=History(steps or (Question("Why?"),)), **more)


def body(*steps: Question | Response, **more: Any) -> dict[str, Any]:
    return WIRE.body(asking(*steps, **more))


def messages(*steps: Question | Response, **more: Any) -> list[dict[str, Any]]:
    """Without the marks for the cache, which have tests of their own."""
    return loads(dumps(body(*steps, **more)["messages"]).replace(',"cache_control":{"type":"ephemeral"}', ""))


def verbatim(kind: Kind, wire: dict[str, Any]) -> SendableItem:
    call_id = wire.get("id", "")
    return SendableItem(
        Item(key="k", kind=kind, text="words", wire=wire, call_id=call_id), True, call_id=call_id
    )


def thought() -> SendableItem:
    return verbatim(Kind.REASONING, THOUGHT)


def call() -> SendableItem:
    return verbatim(Kind.TOOL_CALL, CALL)


def words(text: str) -> SendableItem:
    return SendableItem(Item(key="k", kind=Kind.ASSISTANT_MESSAGE, text=text), False)


def foreign_call(name: str = "get_weather", arguments: str = '{"city": "Oslo"}') -> SendableItem:
    return SendableItem(
        Item(key="k", kind=Kind.TOOL_CALL, text=arguments, name=name), False, call_id="call00001"
    )


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


def test_a_first_question() -> None:
    assert body(Question("Why?"), instructions="Be brief.", tools=[WEATHER], effort="high") == {
        "model": "claude-made-up",
        "max_tokens": 32_000,
        "stream": True,
        "system": [text("Be brief.", **CACHED)],
        "tools": [
            {"name": "get_weather", "description": "The weather in a city.", "input_schema": SCHEMA, **CACHED}
        ],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
        "messages": [{"role": "user", "content": [text("Why?", **CACHED)]}],
    }


def test_a_round_of_a_tool_loop() -> None:
    steps = Question("Weather?"), Response((thought(), call()), (Result("toolu_01", "get_weather", "Sunny"),))
    assert body(*steps)["messages"] == [
        {"role": "user", "content": [text("Weather?", **CACHED)]},
        {"role": "assistant", "content": [THOUGHT, CALL]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "Sunny", **CACHED}],
        },
    ]


def test_a_request_without_anything_to_say_about_thoughts_or_tools() -> None:
    plain = replace(ADAPTIVE, thinking="", max_output=4_096)
    assert set(body(model=plain, effort="high")) == {"model", "max_tokens", "stream", "messages"}
    assert body(model=plain)["max_tokens"] == 4_096


def test_the_key_goes_into_its_own_header_and_nowhere_else() -> None:
    assert WIRE.headers(ENDPOINT, asking()) == {"x-api-key": "sk-test", "anthropic-version": "2023-06-01"}
    assert "x-api-key" not in WIRE.headers(replace(ENDPOINT, key=""), asking())


def test_models_with_a_budget_are_asked_to_think_between_calls() -> None:
    assert WIRE.headers(ENDPOINT, asking(model=BUDGET, tools=[WEATHER]))["anthropic-beta"] == INTERLEAVED
    assert "anthropic-beta" not in WIRE.headers(ENDPOINT, asking(model=BUDGET))
    assert "anthropic-beta" not in WIRE.headers(ENDPOINT, asking(tools=[WEATHER]))


def test_addresses_follow_a_base_url_without_a_version() -> None:
    assert (WIRE.path(ENDPOINT), WIRE.models_path(ENDPOINT)) == ("/v1/messages", "/v1/models?limit=1000")


@pytest.mark.parametrize(
    ("effort", "budget"), [("low", 4_096), ("medium", 12_288), ("high", 16_000), ("", 12_288)]
)
def test_effort_becomes_a_budget_below_the_whole_output(effort: str, budget: int) -> None:
    assert body(model=BUDGET, effort=effort)["thinking"] == {"type": "enabled", "budget_tokens": budget}


def test_a_very_small_output_leaves_no_room_for_thoughts() -> None:
    assert body(model=replace(BUDGET, max_output=2_000))["thinking"] == {"type": "disabled"}


@pytest.mark.parametrize("model", [BUDGET, replace(ADAPTIVE, efforts=(OFF, "low"))])
def test_thinking_is_switched_off_where_that_is_allowed(model: ModelSpec) -> None:
    off = body(model=model, effort=OFF)
    assert off["thinking"] == {"type": "disabled"}
    assert "output_config" not in off


def test_a_model_that_always_thinks_is_never_told_not_to() -> None:
    always = body(model=replace(ADAPTIVE, efforts=("low", "high")), effort=OFF)
    assert always["thinking"]["type"] == "adaptive"
    assert "output_config" not in always


def test_after_the_provider_refused_to_hear_of_thinking_nothing_is_said_of_it() -> None:
    assert not {"thinking", "output_config"} & set(body(effort="high", repairs=frozenset({Repair.FORBIDDEN})))


def test_a_budget_is_not_asked_for_in_a_loop_whose_thoughts_are_gone() -> None:
    result = Result("call00001", "get_weather", "Sunny")
    without = Question("Weather?"), Response((foreign_call(),), (result,))
    assert body(*without, model=BUDGET)["thinking"] == {"type": "disabled"}
    assert body(*without, model=ADAPTIVE)["thinking"]["type"] == "adaptive"
    earlier = Response((thought(), call()), (Result("toolu_01", "get_weather", "Rain"),))
    assert body(Question("Weather?"), earlier, *without[1:], model=BUDGET)["thinking"]["type"] == "enabled"
    assert body(earlier, *without, model=BUDGET)["thinking"] == {"type": "disabled"}
    assert (
        body(*without, Response((words("Sunny."),)), Question("Sure?"), model=BUDGET)["thinking"]["type"]
        == "enabled"
    )


def test_tools_stay_in_the_list_when_none_may_be_called() -> None:
    last = body(tools=[WEATHER], may_call=False)
    assert (last["tools"][0]["name"], last["tool_choice"]) == ("get_weather", {"type": "none"})
    assert "tool_choice" not in body(may_call=False)


def test_steps_of_one_role_become_one_message() -> None:
    result = Result("toolu_01", "get_weather", "Sunny")
    steps = Question("A"), Response((words("b"),)), Response((call(),), (result,)), Question("C")
    assert messages(*steps) == [
        {"role": "user", "content": [text("A")]},
        {"role": "assistant", "content": [text("b"), CALL]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_01", "content": "Sunny"}, text("C")],
        },
    ]


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.DONE])
def test_a_call_that_was_not_done_is_an_error_to_the_model(outcome: Outcome) -> None:
    result = Result("toolu_01", "get_weather", "No.", outcome)
    assert messages(Question("A"), Response((call(),), (result,)))[-1]["content"][0]["is_error"] is True


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_no_text_is_ever_blank(nothing: str) -> None:
    result = Result("toolu_01", "get_weather", nothing, Outcome.FAILED)
    blocks = [
        block
        for message in messages(Question(nothing), Response((words(nothing), call()), (result,)))
        for block in message["content"]
    ]
    assert [block.get("text") or block.get("content") for block in blocks if block["type"] != "tool_use"] == [
        "(no text)"
    ] * 3
    assert "system" not in body(instructions=nothing)


def test_a_branch_that_opens_with_an_answer_gets_a_question() -> None:
    assert [message["role"] for message in messages(Response((words("Hello."),)), Question("Hi."))] == [
        "user",
        "assistant",
        "user",
    ]
    assert [message["role"] for message in WIRE.body(replace(asking(), history=History(())))["messages"]] == [
        "user"
    ]


def test_a_call_of_another_model_is_worded_anew() -> None:
    block = messages(Question("A"), Response((foreign_call("web.search"),)))[1]["content"][0]
    assert block == {"type": "tool_use", "id": "call00001", "name": "web_search", "input": {"city": "Oslo"}}


@pytest.mark.parametrize("arguments", ["", "{", "[]", "null", '"x"', '{"n": NaN}', "[" * 5000])
def test_arguments_that_are_no_object_go_as_an_empty_one(arguments: str) -> None:
    block = messages(Question("A"), Response((foreign_call(arguments=arguments),)))[1]["content"][0]
    assert block["input"] == {}


def test_redacted_and_unseen_thoughts_go_back_as_they_came() -> None:
    unseen = {"type": "thinking", "thinking": "", "signature": "sig==", "new_field": [1]}
    redacted = {"type": "redacted_thinking", "data": "data=="}
    parts = verbatim(Kind.REASONING, unseen), verbatim(Kind.REASONING, redacted), words("Hello.")
    assert messages(Question("A"), Response(parts))[1]["content"] == [unseen, redacted, text("Hello.")]


def long_history(rounds: int) -> list[Question | Response]:
    steps: list[Question | Response] = []
    for number in range(rounds):
        steps += [Question(f"Question {number}"), Response((thought(), words(f"Answer {number}")))]
    return [*steps, Question("Last")]


def test_the_cache_is_marked_in_at_most_four_places_and_never_on_thoughts() -> None:
    request = body(*long_history(9), instructions="Be brief.", tools=[WEATHER])
    marked = [
        block for message in request["messages"] for block in message["content"] if "cache_control" in block
    ]
    assert [block["text"] for block in marked] == ["Question 8", "Last"]
    assert dumps(request).count("cache_control") == 4


def test_what_one_request_marks_last_the_next_one_marks_again() -> None:
    before, after = body(*long_history(3)), body(*long_history(4))
    same = len(before["messages"])
    assert before["messages"][-1]["content"][0]["text"] == "Last"
    assert "cache_control" in after["messages"][same - 1]["content"][0]
    assert messages(*long_history(3))[:-1] == messages(*long_history(4))[: same - 1]


def test_no_stored_wire_is_changed_by_a_request() -> None:
    parts = thought(), verbatim(Kind.ASSISTANT_MESSAGE, text("Hi.")), call()
    kept = deepcopy([part.item.wire for part in parts])
    body(Question("A"), Response(parts, (Result("toolu_01", "get_weather", "Sunny"),)), tools=[WEATHER])
    assert [part.item.wire for part in parts] == kept
    assert SCHEMA == {"type": "object", "properties": {"city": {"type": "string"}}}


@pytest.mark.parametrize(
    "recorded",
    [RECORDED[name] for name in RECORDED if "error" not in name],
    ids=lambda recorded: recorded.name,
)
def test_everything_that_was_received_goes_back_unchanged_and_in_order(recorded: Recording) -> None:
    items = hear(recorded, recorded.frames()).items()
    stored = [replace(item, wire=loads(dumps(item.wire))) for item in items]
    branch = [
        Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text="Why?")]),
        Logged("assistant", stored),
    ]
    sent = WIRE.body(recorded.ask(branch))["messages"]
    assert dumps(sent[1]["content"]) == dumps([item.wire for item in items])


def test_thoughts_of_another_model_stay_behind_and_its_words_go() -> None:
    recorded = RECORDED["messages-parallel-tools"]
    items = hear(recorded, recorded.frames()).items()
    branch = [
        Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text="Why?")]),
        Logged("assistant", items),
    ]
    history = fold(branch, Target("anthropic", "messages", "another", CONTRACT))
    sent = messages(*history.steps)
    assert [block["type"] for block in sent[1]["content"]] == ["text", "tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in sent[2]["content"]] == ["call00001", "call00002"]


def test_an_answer_never_ends_in_a_thought() -> None:
    items = [
        Item(
            key="t",
            kind=Kind.REASONING,
            text="Hm.",
            wire=THOUGHT,
            provider="anthropic",
            dialect="messages",
            model="m",
        )
    ]
    branch = [
        Logged("user", [Item(key="q", kind=Kind.USER_MESSAGE, text="Why?")]),
        Logged("assistant", items),
    ]
    assert [
        message["role"]
        for message in messages(*fold(branch, Target("anthropic", "messages", "m", CONTRACT)).steps)
    ] == ["user"]


BINDING = "thinking-binding-controls-2026-08-01"
LEAVE = {"prefix_mismatch_behavior": "drop_block"}


def bound(**more: Any) -> Ask:
    return asking(**{"tools": [WEATHER], **more}, contract=replace(CONTRACT, bound=True))


def test_leave_to_drop_thoughts_is_given_where_thoughts_are_bound() -> None:
    assert WIRE.body(bound())["thinking"] == {
        "type": "adaptive",
        "display": "summarized",
        "block_binding": LEAVE,
    }
    assert WIRE.headers(ENDPOINT, bound())["anthropic-beta"] == BINDING
    both = WIRE.headers(ENDPOINT, bound(model=BUDGET))["anthropic-beta"].split(",")
    assert (both[1:], len(both)) == ([BINDING], 2)


def test_thoughts_that_nobody_reads_are_left_out_by_the_server() -> None:
    unread = Wishes(hides_thoughts=True)
    assert WIRE.body(asking(wishes=unread))["thinking"] == {"type": "adaptive", "display": "omitted"}
    assert WIRE.body(asking(wishes=unread, model=BUDGET))["thinking"]["display"] == "omitted"
    assert "display" not in WIRE.body(asking(model=BUDGET))["thinking"]


@pytest.mark.parametrize(
    "more",
    [{"model": replace(ADAPTIVE, efforts=(OFF,)), "effort": OFF}, {"repairs": frozenset({Repair.FORBIDDEN})}],
)
def test_whoever_does_not_think_is_given_no_leave(more: dict[str, Any]) -> None:
    assert "block_binding" not in str(WIRE.body(bound(**more)))
    assert "anthropic-beta" not in WIRE.headers(ENDPOINT, bound(**more))


def test_the_thoughts_of_a_body_are_counted_in_it() -> None:
    asked = asking(Question("A"), Response((thought(), words("b"))), Question("C"))
    sent = WIRE.body(asked)
    assert WIRE.thoughts(asked, sent) == 1
    assert WIRE.thoughts(asked, sent | {"messages": []}) == 0


def test_questions_that_nothing_answered_are_blocks_of_one_message() -> None:
    assert messages(Question("B", before=("A",))) == [{"role": "user", "content": [text("A"), text("B")]}]
