"""Reads a request for a chat completion. What is not known here is never an error: it is kept for a model of the same dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....core.values import fields
from ....providers.base import OFF, Form, Wishes
from ..asked import ProgramRequest
from ..effort import effort_by_budget, effort_by_switch, effort_word
from ..given import Given
from ..tools import Tools
from .history import history_of
from .tools import DIALECT, tools_of

KNOWN = frozenset(
    (
        *("model", "messages", "stream", "stream_options", "n", "modalities"),
        *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"),
        *("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "response_format"),
        *("reasoning_effort", "reasoning", "thinking", "enable_thinking"),
    )
)
HOTTEST = 2


def read(body: Any, headers: Mapping[str, str]) -> ProgramRequest:
    request = Given.body(body)
    _refuse_what_is_not_done(request)
    tools = tools_of(request)
    return ProgramRequest(
        model=request.says("model"),
        history=history_of(request.must("messages")),
        stream=request.take("stream", Given.flag) or False,
        tools=tools.functions,
        wishes=_wishes(request, tools),
        effort=_effort(request),
        body=request.value,
    )


def wants_usage(body: Mapping[str, Any]) -> bool:
    """In a stream it is told only to who asked."""
    return fields(body.get("stream_options")).get("include_usage") is True


def _refuse_what_is_not_done(request: Given) -> None:
    number = request.at("n")
    if number and number.count() > 1:
        raise number.wrong(
            "must be 1: a request gets one answer here. Ask again for another", "unsupported_value"
        )
    kinds = request.at("modalities")
    if kinds and any(row.text() != "text" for row in kinds.rows()):
        raise kinds.wrong('must be ["text"]: answers are words here', "unsupported_value")
    if options := request.at("stream_options"):
        options.take("include_usage", Given.flag)


def _wishes(request: Given, tools: Tools) -> Wishes:
    most, as_before = (request.take(name, Given.count) for name in ("max_completion_tokens", "max_tokens"))
    return Wishes(
        temperature=request.take("temperature", lambda given: given.up_to(HOTTEST)),
        top_p=request.take("top_p", lambda given: given.up_to(1)),
        most_output=most or as_before,
        stop=request.take("stop", _stop_words) or (),
        choice=tools.choice,
        call=tools.call,
        parallel=tools.parallel,
        form=request.take("response_format", _form),
        dialect=DIALECT,
        extras={name: value for name, value in request.value.items() if name not in KNOWN},
        hosted=tools.hosted,
    )


def _stop_words(stop: Given) -> tuple[str, ...]:
    words = [stop.text()] if isinstance(stop.value, str) else [row.text() for row in stop.rows()]
    return tuple(filter(None, words))


def _form(given: Given) -> Form | None:
    match given.must("type").one_of(("text", "json_object", "json_schema")):
        case "json_schema":
            return _schema(given.must("json_schema"))
        case "json_object":
            return Form()
        case _:
            return None


def _schema(given: Given) -> Form:
    return Form(
        name=given.must("name").name(),
        description=given.says("description"),
        schema=given.take("schema", Given.fields) or {},
        strict=given.take("strict", Given.flag),
    )


def _effort(request: Given) -> str:
    """In the words of OpenAI, OpenRouter, DeepSeek and Qwen. What forbids thoughts counts before what measures them."""
    said = (
        request.take("reasoning_effort", effort_word),
        request.take("reasoning", _reasoning),
        request.take("thinking", effort_by_switch),
        request.take("enable_thinking", _switch),
        OFF if _template_forbids(request.value) else "",
    )
    return OFF if OFF in said else next(filter(None, said), "")


def _reasoning(given: Given) -> str:
    word, budget = given.take("effort", effort_word), given.take("max_tokens", Given.count)
    if given.take("enabled", Given.flag) is False:
        return OFF
    return word or (effort_by_budget(budget) if budget else "")


def _template_forbids(body: Mapping[str, Any]) -> bool:
    switches = fields(body.get("chat_template_kwargs"))
    return switches.get("enable_thinking") is False or switches.get("thinking") is False


def _switch(given: Given) -> str:
    return "" if given.flag() else OFF
