"""Tools that a request offers, and which of them may be called."""

from __future__ import annotations

import pytest

from chatapp.providers.base import Choice, ToolSpec
from chatapp.providers.openai.namespaces import LONGEST, one_name

from .said import call, read, refusal, written

READ = {
    "type": "function",
    "name": "read",
    "description": "Reads.",
    "parameters": {"type": "object"},
    "strict": True,
}
WRITE = {"type": "function", "name": "write"}
CUSTOM = {"type": "custom", "name": "patch"}
FILES = {"type": "namespace", "name": "mcp__files", "description": "Files.", "tools": [READ, WRITE, CUSTOM]}
SEARCH = {"type": "web_search"}


def named(asked):
    return [tool.name for tool in asked.tools]


def test_a_function_is_offered_with_its_own_words():
    [tool] = read(tools=[READ]).tools
    assert tool == ToolSpec(
        name="read",
        description="Reads.",
        schema={"type": "object"},
        strict=True,
        dialect="responses",
        wire=READ,
    )


def test_a_function_without_arguments_takes_an_empty_object():
    [tool] = read(tools=[WRITE]).tools
    assert (tool.description, tool.strict) == ("", None)
    assert tool.schema == {"type": "object", "properties": {}}


def test_other_kinds_of_tools_are_the_dialect_s_own():
    asked = read(tools=[SEARCH, READ])
    assert (named(asked), asked.wishes.hosted) == (["read"], (SEARCH,))


def test_functions_in_a_namespace_have_one_name_for_all_models_and_the_whole_namespace_for_their_own():
    asked = read(tools=[FILES])
    assert named(asked) == ["mcp__files__read", "mcp__files__write"]
    assert all(tool.wire is FILES for tool in asked.tools)
    assert asked.wishes.hosted == ()


def test_a_namespace_without_functions_is_the_dialect_s_own():
    space = FILES | {"tools": [CUSTOM]}
    assert read(tools=[space]).wishes.hosted == (space,)


def test_names_are_never_longer_than_providers_take_and_two_functions_never_share_one():
    long = {one_name("n" * 60, "f" * size) for size in range(1, 80)}
    assert len(long) == 79
    assert max(map(len, long)) == LONGEST


def test_a_call_comes_back_as_the_program_knows_its_function():
    _, whole = written(call("a", "mcp__files__read", "{}"), tools=[FILES])
    [item] = whole["output"]
    assert (item["namespace"], item["name"]) == ("mcp__files", "read")
    [answer, _] = read(input=[item, {"role": "user", "content": "a"}]).history
    assert answer.parts[0].name == "mcp__files__read"


def test_a_call_by_a_model_that_knows_namespaces_keeps_its_own():
    wire = {"namespace": "other", "name": "read"}
    _, whole = written(call("a", "other__read", "{}", dialect="responses", wire=wire), tools=[FILES])
    assert (whole["output"][0]["namespace"], whole["output"][0]["name"]) == ("other", "read")


@pytest.mark.parametrize("choice", list(Choice))
def test_a_choice_in_one_word_is_read(choice):
    assert read(tools=[READ], tool_choice=str(choice)).wishes.choice is choice


def test_one_function_may_be_demanded():
    assert read(tools=[READ], tool_choice={"type": "function", "name": "read"}).wishes.call == "read"
    inside = {"type": "function", "name": "read", "namespace": "mcp__files"}
    assert read(tools=[FILES], tool_choice=inside).wishes.call == "mcp__files__read"


def test_a_choice_of_a_hosted_tool_is_left_to_the_dialect():
    wishes = read(tools=[SEARCH], tool_choice=SEARCH).wishes
    assert (wishes.choice, wishes.call, wishes.extras["tool_choice"]) == (None, "", SEARCH)


def allowed(*tools, mode="auto"):
    return {"type": "allowed_tools", "mode": mode, "tools": list(tools)}


def test_only_what_is_allowed_is_offered():
    only = allowed({"type": "function", "name": "write"}, SEARCH, mode="required")
    asked = read(tools=[READ, WRITE, SEARCH, {"type": "image_generation"}], tool_choice=only)
    assert named(asked) == ["write"]
    assert asked.wishes.hosted == (SEARCH,)
    assert asked.wishes.choice is Choice.REQUIRED


def test_a_namespace_is_allowed_whole_or_in_part():
    whole = read(tools=[FILES], tool_choice=allowed({"type": "namespace", "name": "mcp__files"}))
    part = read(tools=[FILES], tool_choice=allowed({"type": "function", "name": "write"}))
    assert named(whole) == ["mcp__files__read", "mcp__files__write"]
    assert named(part) == ["mcp__files__write"]
    assert part.tools[0].wire == FILES | {"tools": [WRITE]}


def test_nothing_that_is_allowed_cannot_be_demanded():
    only = allowed({"type": "function", "name": "gone"}, mode="required")
    assert refusal(tools=[READ], tool_choice=only).param == "tool_choice.tools"


def test_all_tools_are_said_again_as_they_were_allowed_or_not():
    _, whole = written([], tools=[WRITE, SEARCH, FILES], tool_choice=allowed(WRITE))
    assert whole["tools"] == [
        {"type": "function", "name": "write", "description": None, "parameters": None, "strict": None},
        SEARCH,
        FILES,
    ]
    assert whole["tool_choice"] == allowed(WRITE)
