"""What the chat door makes of a request."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.core.attached import Attached, AttachedKind
from chatapp.gateway.doors.asked import (
    ProgramRequest,
    Said,
    SaidBy,
    ToldAnswer,
    ToldCall,
    ToldResult,
    ToldThought,
    ToldWords,
)
from chatapp.gateway.doors.chat import DOOR
from chatapp.gateway.doors.door import Wrong
from chatapp.providers.base import OFF, Choice, Form

from .bodies import CHAT, DETAIL, SCHEMA, asking, telling

USER = {"role": "user", "content": "Why?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "high"}
TOOL = {"type": "function", "function": {"name": "tide"}}
OTHER = {"type": "function", "function": {"name": "wind"}}


def read(body: Any) -> ProgramRequest:
    return DOOR.read(body, {})


def said_by_model(*messages: dict[str, Any]) -> list[ToldAnswer]:
    return [told for told in read(telling(USER, *messages)).history if isinstance(told, ToldAnswer)]


def wrong(body: Any) -> Wrong:
    with pytest.raises(Wrong) as caught:
        read(body)
    return caught.value


def test_a_whole_history_is_told_in_its_order() -> None:
    system, developer, question, answer, first, second, legacy, third, last, again = read(CHAT).history
    assert isinstance(system, Said) and (system.role, system.parts) == (SaidBy.SYSTEM, ("Be short.",))
    assert isinstance(developer, Said) and developer.role is SaidBy.DEVELOPER
    assert isinstance(question, Said) and question.parts == (
        "Look:",
        Attached(kind=AttachedKind.PICTURE, data="iVBORw0KGgo=", media_type="image/png", detail="low"),
        Attached(kind=AttachedKind.PICTURE, url="https://a.example/b.png"),
        Attached(kind=AttachedKind.FILE, data="JVBE", media_type="application/pdf", name="a.pdf"),
        Attached(kind=AttachedKind.FILE, file_id="file-1"),
    )
    assert isinstance(answer, ToldAnswer)
    assert first == ToldResult(call_id="call_1", parts=("high",))
    assert second == ToldResult(call_id="call_2", parts=("done",))
    assert isinstance(legacy, ToldAnswer)
    assert third == ToldResult(call_id="function_call_6", parts=("west",))
    assert isinstance(last, ToldAnswer) and isinstance(again, Said)
    assert again.text == "And now?" and again.wire == {"role": "user", "content": "And now?"}


def test_an_answer_keeps_its_thoughts_words_and_calls_apart() -> None:
    answer = read(CHAT).history[3]
    signed = CHAT["messages"][3]["tool_calls"][0]
    wire = {"reasoning_content": "Hm.", "reasoning_details": [DETAIL]}
    assert isinstance(answer, ToldAnswer)
    assert answer.parts[:3] == (
        ToldThought(text="Hm.", id="rd_1", seal="sig", wire=wire),
        ToldWords(text="I look."),
        ToldCall(id="call_1", name="tide", arguments='{"port":"Brest"}', wire=signed),
    )
    custom = answer.parts[3]
    assert isinstance(custom, ToldCall) and (custom.name, custom.arguments) == ("patch", '{"input":"*** a"}')


@pytest.mark.parametrize(
    "fields, text, seal",
    [
        ({"reasoning_content": "Hm."}, "Hm.", ""),
        ({"reasoning": "Hm."}, "Hm.", ""),
        ({"reasoning": "Hm.", "reasoning_content": "Hm."}, "Hm.", ""),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "H"}, {"summary": "m."}]}, "Hm.", ""),
        ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "sealed"}]}, "", "sealed"),
    ],
)
def test_a_thought_is_read_in_whatever_field_it_comes(fields: dict[str, Any], text: str, seal: str) -> None:
    (answer,) = said_by_model({"role": "assistant", "content": "So.", **fields})
    assert answer.parts == (ToldThought(text=text, seal=seal, wire=fields), ToldWords(text="So."))


def test_a_thought_between_tags_stays_where_it_is() -> None:
    (answer,) = said_by_model({"role": "assistant", "content": "<think>Hm.</think>So."})
    assert answer.parts == (ToldWords(text="<think>Hm.</think>So."),)


def test_an_empty_thought_is_none() -> None:
    (answer,) = said_by_model({"role": "assistant", "content": "So.", "reasoning_content": ""})
    assert answer.parts == (ToldWords(text="So."),)


def test_two_messages_that_speak_are_two_answers() -> None:
    one, other = {"role": "assistant", "content": "One."}, {"role": "assistant", "content": "Two."}
    assert len(said_by_model(one, other)) == 2


def test_what_a_program_split_is_one_answer() -> None:
    thought = {"role": "assistant", "content": "", "reasoning_content": "Hm."}
    words = {"role": "assistant", "content": "I look."}
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    second = {"role": "assistant", "content": "And:", "tool_calls": [CALL | {"id": "call_2"}]}
    (answer,) = said_by_model(thought, words, call, second, RESULT)
    assert [type(part) for part in answer.parts] == [ToldThought, ToldWords, ToldCall, ToldWords, ToldCall]


def test_an_answer_that_says_nothing_is_left_out() -> None:
    assert said_by_model({"role": "assistant", "content": None}, {"role": "assistant", "content": ""}) == []


def test_a_tool_that_had_nothing_to_say_gave_a_result() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    nothing: list[Any] = ["", None, []]
    for content in nothing:
        asked = read(telling(USER, call, RESULT | {"content": content}))
        assert asked.history[-1] == ToldResult(call_id="call_1", parts=())


def test_arguments_that_are_no_string_are_taken_as_json() -> None:
    call = CALL | {"function": {"name": "tide", "arguments": {"port": "Brest"}}}
    (answer,) = said_by_model({"role": "assistant", "content": None, "tool_calls": [call]})
    assert answer.parts == (ToldCall(id="call_1", name="tide", arguments='{"port":"Brest"}'),)


def test_tools_and_wishes_are_read() -> None:
    asked = read(CHAT)
    (tool,) = asked.tools
    wishes = asked.wishes
    assert (tool.name, tool.description, tool.schema, tool.strict) == ("tide", "Tides.", SCHEMA, True)
    assert (tool.dialect, tool.wire) == ("chat", CHAT["tools"][0])
    assert wishes.hosted == (CHAT["tools"][1],)
    assert (wishes.choice, wishes.call, wishes.parallel) == (Choice.REQUIRED, "tide", False)
    assert wishes.form == Form(name="tide", description="A tide.", schema=SCHEMA, strict=True)
    assert (wishes.temperature, wishes.top_p, wishes.most_output, wishes.stop) == (0.5, 0.9, 200, ("END",))
    assert asked.stream and asked.model == "m"
    assert asked.body is CHAT


@pytest.mark.parametrize(
    "choice, meant",
    [
        ("auto", (Choice.AUTO, "")),
        ("none", (Choice.NONE, "")),
        ("required", (Choice.REQUIRED, "")),
        ("any", (Choice.REQUIRED, "")),
        ({"type": "function", "function": {"name": "tide"}}, (Choice.REQUIRED, "tide")),
        ({"type": "function", "name": "tide"}, (Choice.REQUIRED, "tide")),
    ],
)
def test_which_tool_may_be_called_is_said_in_many_ways(choice: Any, meant: tuple[Choice, str]) -> None:
    wishes = read(asking(tools=[TOOL, OTHER], tool_choice=choice)).wishes
    assert (wishes.choice, wishes.call) == meant


def test_tools_that_are_not_allowed_are_not_shown() -> None:
    allowed = {"mode": "required", "tools": [TOOL]}
    asked = read(asking(tools=[TOOL, OTHER], tool_choice={"type": "allowed_tools", "allowed_tools": allowed}))
    assert [tool.name for tool in asked.tools] == ["tide"]
    assert asked.wishes.choice is Choice.REQUIRED


@pytest.mark.parametrize(
    "choice, meant", [("auto", (Choice.AUTO, "")), ({"name": "tide"}, (Choice.REQUIRED, "tide"))]
)
def test_functions_in_the_old_form_are_tools(choice: Any, meant: tuple[Choice, str]) -> None:
    asked = read(asking(functions=[{"name": "tide", "parameters": SCHEMA}], function_call=choice))
    assert [(tool.name, tool.schema) for tool in asked.tools] == [("tide", SCHEMA)]
    assert (asked.wishes.choice, asked.wishes.call) == meant
    assert asked.wishes.parallel is False


@pytest.mark.parametrize(
    "said, effort",
    [
        ({}, ""),
        ({"reasoning_effort": "high"}, "high"),
        ({"reasoning_effort": "none"}, OFF),
        ({"reasoning": {"effort": "low"}}, "low"),
        ({"reasoning": {"enabled": False}}, OFF),
        ({"reasoning": {"max_tokens": 2000}}, "low"),
        ({"reasoning": {"max_tokens": 100_000}}, "high"),
        ({"thinking": {"type": "disabled"}}, OFF),
        ({"thinking": {"type": "enabled", "budget_tokens": 12_000}}, "medium"),
        ({"thinking": {"type": "enabled"}}, ""),
        ({"thinking": {"type": "disabled"}, "reasoning_effort": "high"}, OFF),
        ({"enable_thinking": False}, OFF),
        ({"enable_thinking": True}, ""),
        ({"chat_template_kwargs": {"enable_thinking": False}}, OFF),
        ({"chat_template_kwargs": "nonsense"}, ""),
    ],
)
def test_how_much_thought_is_wanted_is_said_in_many_ways(said: dict[str, Any], effort: str) -> None:
    assert read(asking(**said)).effort == effort


@pytest.mark.parametrize(
    "form, meant",
    [
        ({"type": "text"}, None),
        ({"type": "json_object"}, Form()),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, Form(name="a", schema={})),
    ],
)
def test_the_form_of_an_answer(form: dict[str, Any], meant: Form | None) -> None:
    assert read(asking(response_format=form)).wishes.form == meant


def test_null_says_nothing() -> None:
    names = ("stream", "tools", "tool_choice", "stop", "temperature", "max_tokens", "response_format", "n")
    asked = read(asking(**dict.fromkeys(names)))
    assert asked.wishes == read(asking()).wishes and not asked.stream


@pytest.mark.parametrize(
    "body, param, sentence",
    [
        (None, "", "The body must be an object, and is null."),
        ([], "", "The body must be an object, and is a list."),
        ({}, "messages", "messages is missing."),
        ({"model": 4}, "model", "model must be a string, and is a number."),
        ({"model": "m"}, "messages", "messages is missing."),
        ({"model": "m", "messages": []}, "messages", "messages is empty: there is nothing to answer."),
        ({"model": "m", "messages": "Hi"}, "messages", "messages must be a list, and is a string."),
        (telling({"role": "user"}), "messages[0].content", "messages[0].content is missing."),
        (telling({"role": "user", "content": []}), "messages[0].content", "messages[0].content is empty."),
        (
            telling({"role": "clown", "content": "Hi"}),
            "messages[0].role",
            "messages[0].role is “clown”, which is none of: user, system, developer, assistant, tool, function.",
        ),
        (
            telling(USER, RESULT),
            "messages[1].tool_call_id",
            "messages[1].tool_call_id names no call of an assistant message before it.",
        ),
        (
            telling(USER, {"role": "function", "name": "wind", "content": "west"}),
            "messages[1].name",
            "messages[1].name names no function that was called before it.",
        ),
        (asking(n=2), "n", "n must be 1: a request gets one answer here. Ask again for another."),
        (
            asking(modalities=["text", "audio"]),
            "modalities",
            'modalities must be ["text"]: answers are words here.',
        ),
        (asking(temperature=3), "temperature", "temperature must be between 0 and 2."),
        (asking(max_tokens=0), "max_tokens", "max_tokens must be between 1 and 1000000000000."),
        (asking(max_tokens=1.5), "max_tokens", "max_tokens must be a whole number, and is a number."),
        (asking(stream="yes"), "stream", "stream must be true or false, and is a string."),
        (asking(stop=[1]), "stop[0]", "stop[0] must be a string, and is a number."),
        (asking(tools=[{"type": "function"}]), "tools[0].function", "tools[0].function is missing."),
        (
            asking(tool_choice="required"),
            "tool_choice",
            "tool_choice demands a call, and no tools are offered.",
        ),
        (
            asking(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "wind"}}),
            "tool_choice.function",
            "tool_choice.function names a tool that is not offered.",
        ),
        (
            asking(response_format={"type": "xml"}),
            "response_format.type",
            "response_format.type is “xml”, which is none of: text, json_object, json_schema.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(body: Any, param: str, sentence: str) -> None:
    told = wrong(body)
    assert (told.status, told.param, told.sentence) == (400, param, sentence)


@pytest.mark.parametrize(
    "part, problem",
    [
        ({"type": "input_audio", "input_audio": {}}, "is sound, which cannot be passed on"),
        (
            {"type": "image_url", "image_url": {"url": "ftp://a"}},
            "must begin with https://, http:// or data:",
        ),
        ({"type": "image_url", "image_url": {"url": "data:image/png,abc"}}, "must hold its bytes in base64"),
        ({"type": "video"}, "is none of: text, image_url, file"),
        ({"type": "file", "file": {}}, "file.file_data is missing"),
        ("words", "must be an object, and is a string"),
    ],
)
def test_a_part_that_cannot_be_taken_is_told(part: Any, problem: str) -> None:
    told = wrong(telling({"role": "user", "content": [part]}))
    assert problem in told.sentence and told.param.startswith("messages[0].content[0]")


def test_a_long_wrong_word_is_not_told_whole() -> None:
    assert len(wrong(telling({"role": "x" * 10_000, "content": "Hi"})).sentence) < 250


def test_an_error_has_the_shape_that_openais_clients_read() -> None:
    told = DOOR.error(wrong(asking(n=2)), "req_1")
    assert told == {
        "error": {
            "message": "n must be 1: a request gets one answer here. Ask again for another.",
            "type": "invalid_request_error",
            "param": "n",
            "code": "unsupported_value",
        }
    }


@pytest.mark.parametrize(
    "body",
    [
        {"function_call": [None]},
        {"tool_choice": 5},
        {"functions": [{"name": "tide"}], "tool_choice": []},
        {"functions": [{"name": "tide"}], "parallel_tool_calls": "no"},
        {"tools": [], "functions": "tide"},
    ],
)
def test_what_means_nothing_beside_the_other_form_of_tools_is_still_what_it_should_be(body: Any) -> None:
    with pytest.raises(Wrong) as told:
        read(asking(**body))
    assert told.value.status == 400
