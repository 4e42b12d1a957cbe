"""What the messages door makes of a request."""

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
    ToldOther,
    ToldResult,
    ToldThought,
    ToldWords,
)
from chatapp.gateway.doors.door import Wrong
from chatapp.gateway.doors.messages import DOOR
from chatapp.providers.base import OFF, Choice, Form

from .bodies import MESSAGES, SCHEMA, asking, telling

USER = {"role": "user", "content": "Why?"}
TOOL = {"name": "tide", "input_schema": SCHEMA}
USE = {"type": "tool_use", "id": "toolu_1", "name": "tide", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1"}


def read(body: Any, **headers: str) -> ProgramRequest:
    return DOOR.read(body, {name.replace("_", "-"): value for name, value in headers.items()})


def wrong(body: Any) -> Wrong:
    with pytest.raises(Wrong) as caught:
        read(body)
    return caught.value


def test_a_whole_history_is_told_in_its_order() -> None:
    system, question, answer, first, second, here, aside, last, again = read(MESSAGES).history
    assert isinstance(system, Said) and (system.role, system.parts) == (SaidBy.SYSTEM, ("Be short.",))
    assert isinstance(question, Said) and question.parts == (
        "Look:",
        Attached(kind=AttachedKind.PICTURE, data="iVBO", media_type="image/png"),
        Attached(kind=AttachedKind.PICTURE, url="https://a.example/b.png"),
        Attached(kind=AttachedKind.FILE, file_id="file_1", name="a.pdf"),
        "words",
        "t",
        "inner",
        "t\n\nhttps://a.example",
        "found",
        Attached(kind=AttachedKind.FILE, file_id="file_2"),
    )
    assert isinstance(answer, ToldAnswer)
    assert first == ToldResult(call_id="toolu_1", parts=("high",))
    assert isinstance(second, ToldResult) and second.failed and second.text == "broken"
    assert isinstance(here, Said) and here.text == "Here."
    assert here.wire == {"role": "user", "content": [{"type": "text", "text": "Here."}]}
    assert isinstance(aside, Said) and (aside.role, aside.text) == (SaidBy.SYSTEM, "Be quick.")
    assert last == ToldAnswer(parts=(ToldWords(text="High."),))
    assert isinstance(again, Said) and again.wire == MESSAGES["messages"][-1]


def test_an_answer_keeps_its_blocks_as_they_came() -> None:
    answer = read(MESSAGES).history[2]
    thinking, redacted, _, search = MESSAGES["messages"][1]["content"][:4]
    assert answer == ToldAnswer(
        parts=(
            ToldThought(text="Hm.", seal="sig", wire=thinking),
            ToldThought(seal="sealed", wire=redacted),
            ToldWords(text="I look."),
            ToldOther(wire=search, id="srvtoolu_1"),
            ToldCall(id="toolu_1", name="tide", arguments='{"port":"Brest"}'),
            ToldCall(id="toolu_2", name="wind", arguments="{}"),
        )
    )


def test_messages_of_a_model_behind_each_other_are_one_answer() -> None:
    history = read(
        telling(USER, *({"role": "assistant", "content": text} for text in ("One.", "Two.")))
    ).history
    assert history[1:] == (ToldAnswer(parts=(ToldWords(text="One."), ToldWords(text="Two."))),)


def test_tools_and_wishes_are_read() -> None:
    asked = read(MESSAGES, anthropic_beta="one-2025, two-2026,")
    wishes = asked.wishes
    assert [(tool.name, tool.strict, tool.wire) for tool in asked.tools] == [
        ("tide", True, MESSAGES["tools"][0]),
        ("wind", None, MESSAGES["tools"][1]),
    ]
    assert wishes.hosted == (MESSAGES["tools"][2],)
    assert (wishes.choice, wishes.call, wishes.parallel) == (Choice.REQUIRED, "tide", False)
    assert wishes.form == Form(schema=SCHEMA)
    assert (wishes.temperature, wishes.top_p, wishes.most_output, wishes.stop) == (0.5, 0.9, 100, ("END",))
    assert wishes.extras == {
        "top_k": 40,
        "metadata": {"user_id": "u"},
        "output_config": {"task_budget": {"total": 9}},
    }
    assert wishes.betas == ("one-2025", "two-2026") and wishes.hides_thoughts
    assert (asked.effort, asked.stream) == ("max", True)


@pytest.mark.parametrize(
    "choice, meant",
    [
        ({"type": "auto"}, (Choice.AUTO, "", None)),
        ({"type": "none"}, (Choice.NONE, "", None)),
        ({"type": "any", "disable_parallel_tool_use": True}, (Choice.REQUIRED, "", False)),
        (
            {"type": "tool", "name": "tide", "disable_parallel_tool_use": False},
            (Choice.REQUIRED, "tide", True),
        ),
    ],
)
def test_which_tool_may_be_called(choice: Any, meant: tuple[Choice, str, bool | None]) -> None:
    wishes = read(asking(tools=[TOOL], tool_choice=choice)).wishes
    assert (wishes.choice, wishes.call, wishes.parallel) == meant


@pytest.mark.parametrize(
    "said, effort",
    [
        ({}, ""),
        ({"thinking": {"type": "disabled"}}, OFF),
        ({"thinking": {"type": "adaptive"}}, ""),
        ({"thinking": {"type": "enabled", "budget_tokens": 1_024}}, "low"),
        ({"thinking": {"type": "enabled", "budget_tokens": 16_000}}, "medium"),
        ({"thinking": {"type": "enabled", "budget_tokens": 32_000}}, "high"),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 1_024}, "output_config": {"effort": "max"}},
            "max",
        ),
        ({"thinking": {"type": "disabled"}, "output_config": {"effort": "max"}}, OFF),
        ({"output_config": {"effort": "xhigh"}}, "xhigh"),
    ],
)
def test_how_much_thought_is_wanted(said: dict[str, Any], effort: str) -> None:
    assert read(asking(**said)).effort == effort


@pytest.mark.parametrize("system, said", [("Be short.", ["Be short."]), ("", []), ([], []), (None, [])])
def test_a_system_prompt_stands_first_where_it_says_something(system: Any, said: list[str]) -> None:
    told = read(asking(system=system)).history
    assert [one.text for one in told[:-1] if isinstance(one, Said)] == said


@pytest.mark.parametrize(
    "body, param, sentence",
    [
        ([], "", "The body must be an object, and is a list."),
        ({"model": "m"}, "messages", "messages is missing."),
        ({"model": "m", "messages": []}, "messages", "messages is empty: there is nothing to answer."),
        (telling({"role": "user", "content": ""}), "messages.0.content", "messages.0.content is empty."),
        (telling({"role": "user", "content": []}), "messages.0.content", "messages.0.content is empty."),
        (
            telling({"role": "tool", "content": "x"}),
            "messages.0.role",
            "messages.0.role is “tool”, which is none of: user, assistant, system.",
        ),
        (
            telling({"role": "user", "content": [RESULT]}),
            "messages.0.content.0.tool_use_id",
            "messages.0.content.0.tool_use_id names no tool_use of an assistant message before it.",
        ),
        (
            telling(USER, {"role": "assistant", "content": [{"type": "thinking"}]}),
            "messages.1.content.0.thinking",
            "messages.1.content.0.thinking is missing.",
        ),
        (asking(tools=[{"name": "tide"}]), "tools.0.input_schema", "tools.0.input_schema is missing."),
        (
            asking(tools=[TOOL], tool_choice={"type": "tool", "name": "wind"}),
            "tool_choice",
            "tool_choice names a tool that is not offered.",
        ),
        (
            asking(tool_choice={"type": "any"}),
            "tool_choice",
            "tool_choice demands a call, and no tools are offered.",
        ),
        (
            telling(
                {"role": "user", "content": [{"type": "image", "source": {"type": "text", "data": "x"}}]}
            ),
            "messages.0.content.0.source.type",
            "messages.0.content.0.source.type is none of: base64, url, file, text, content.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(body: Any, param: str, sentence: str) -> None:
    told = wrong(body)
    assert (told.status, told.param, told.sentence) == (400, param, sentence)


def test_a_call_that_more_came_with_keeps_all_of_it() -> None:
    use = USE | {"caller": {"type": "direct"}}
    cached = use | {"cache_control": {"type": "ephemeral"}}
    answer = read(telling(USER, {"role": "assistant", "content": [cached]})).history[1]
    assert answer == ToldAnswer(parts=(ToldCall(id="toolu_1", name="tide", arguments="{}", wire=use),))


def test_a_result_may_be_without_content() -> None:
    history = read(
        telling(USER, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT]})
    ).history
    assert history[-1] == ToldResult(call_id="toolu_1", parts=())


def test_an_error_has_the_shape_that_anthropics_clients_read() -> None:
    assert DOOR.error(wrong({"model": "m"}), "req_1") == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "messages is missing."},
        "request_id": "req_1",
    }
