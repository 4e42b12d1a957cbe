"""A program that speaks this protocol itself is understood by a model of it as if nobody stood between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chatapp.core.contracts import Repair
from chatapp.core.history import Question, Response
from chatapp.core.items import Kind
from chatapp.gateway.doors.responses import DOOR
from chatapp.providers.base import Wishes
from chatapp.providers.openai.responses import WIRE

from .test_responses import OPENAI, body, frame, hear, items, part

READ = {"type": "function", "name": "read", "parameters": {"type": "object"}}
FILES = {"type": "namespace", "name": "files", "description": "", "tools": [READ, {**READ, "name": "write"}]}
SEARCH = {"type": "web_search"}
PATCHED = {"type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "x"}
DONE = {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}
PROGRAM = Wishes(dialect="responses")


def asked_as(**said: Any) -> dict[str, Any]:
    asked = DOOR.read({"model": "gpt-5", "input": "Hi", **said}, {})
    return body(Question("Hi"), wishes=asked.wishes, tools=asked.tools, conversation="ours")


def test_a_namespace_is_said_once_and_whole() -> None:
    assert asked_as(tools=[READ, FILES, SEARCH])["tools"] == [READ, FILES, SEARCH]


def test_a_choice_is_said_in_the_program_s_words() -> None:
    inside = {"type": "function", "name": "read", "namespace": "files"}
    assert asked_as(tools=[SEARCH], tool_choice=SEARCH)["tool_choice"] == SEARCH
    assert asked_as(tools=[FILES], tool_choice=inside)["tool_choice"] == inside


def test_what_the_program_wants_of_thoughts_goes_on() -> None:
    said = asked_as(reasoning={"effort": "low", "summary": "detailed", "context": "all_turns"})
    assert said["reasoning"] == {"summary": "detailed", "context": "all_turns"}
    wishes = replace(PROGRAM, extras={"reasoning": {"summary": "detailed"}})
    assert "reasoning" not in body(wishes=wishes, repairs=frozenset({Repair.NO_SUMMARY}))


def test_what_is_to_come_with_the_answer_is_said_once() -> None:
    wanted = ["web_search_call.action.sources", "reasoning.encrypted_content"]
    assert asked_as(include=wanted)["include"] == [
        "reasoning.encrypted_content",
        "web_search_call.action.sources",
    ]
    plain = WIRE.model(OPENAI, {"id": "gpt-4o"})
    wishes = replace(PROGRAM, extras={"include": wanted[:1]})
    assert body(model=plain, wishes=wishes)["include"] == wanted[:1]


def test_the_program_s_own_cache_key_is_better_than_ours() -> None:
    assert asked_as(prompt_cache_key="theirs")["prompt_cache_key"] == "theirs"
    assert asked_as()["prompt_cache_key"] == "ours"


def test_a_form_that_only_this_protocol_knows_goes_on() -> None:
    form = {"type": "grammar", "syntax": "lark"}
    assert asked_as(text={"format": form, "verbosity": "low"})["text"] == {"format": form, "verbosity": "low"}


def test_a_call_in_a_namespace_has_one_name() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{}"}
    done = frame("response.output_item.done", output_index=0, item=call | {"namespace": "files"})
    ended = frame("response.completed", response={"status": "completed", "output": []})
    [found] = items(hear(done, ended))
    assert (found.name, found.wire["name"]) == ("files__read", "read")


def test_calls_of_kinds_that_a_program_knows_reach_it_and_nobody_else() -> None:
    done = frame("response.output_item.done", output_index=0, item=PATCHED | {"id": "ctc_1"})
    ended = frame("response.completed", response={"status": "completed", "output": []})
    assert items(hear(done, ended)) == []
    assert [item.wire["type"] for item in items(hear(done, ended, wishes=PROGRAM))] == ["custom_tool_call"]


def test_both_sides_of_such_a_call_go_back_for_a_program_alone() -> None:
    both = Response(tuple(part(wire, Kind.ASSISTANT_MESSAGE, with_id=False) for wire in (PATCHED, DONE)))
    assert body(both, wishes=PROGRAM)["input"] == [PATCHED, DONE]
    assert body(both)["input"] == []
