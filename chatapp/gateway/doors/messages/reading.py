"""Reads a request for a message. What is not known here is never an error: it is kept for a model of the same dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....core.values import Json
from ....providers.base import OFF, Form, Wishes
from ..asked import ProgramRequest
from ..effort import effort_by_switch, effort_word
from ..given import Dotted, Given
from ..tools import Tools
from .errors import NO_THREADS
from .history import history_of
from .tools import DIALECT, tools_of

KNOWN = frozenset(
    (
        *("model", "messages", "system", "stream", "tools", "tool_choice", "thinking", "output_config"),
        *("max_tokens", "temperature", "top_p", "stop_sequences", "output_format", "betas"),
    )
)
# Of fields that are read in part, what is read. The rest goes on as it came.
READ_IN_PART = {"thinking": ("type", "budget_tokens", "display"), "output_config": ("effort", "format")}
HOTTEST = 2
OMITTED = "omitted"
BETAS = "anthropic-beta"


def read(body: Any, headers: Mapping[str, str]) -> ProgramRequest:
    """Of a request to count tokens too: it says the same, but for `max_tokens`."""
    request = Dotted.body(body)
    _refuse_threads(request)
    tools = tools_of(request)
    return ProgramRequest(
        model=request.says("model"),
        history=history_of(request),
        stream=request.take("stream", Given.flag) or False,
        tools=tools.functions,
        wishes=_wishes(request, tools, _betas(request, headers)),
        effort=_effort(request),
        body=request.value,
    )


def _refuse_threads(request: Given) -> None:
    """Clients that are told so in these words send their whole history."""
    if (thread := request.at("thread")) is not None:
        raise thread.wrong("is not kept here: send the whole history as `messages`", NO_THREADS)


def _wishes(request: Given, tools: Tools, betas: tuple[str, ...]) -> Wishes:
    return Wishes(
        temperature=request.take("temperature", lambda given: given.up_to(HOTTEST)),
        top_p=request.take("top_p", lambda given: given.up_to(1)),
        most_output=request.take("max_tokens", Given.count),
        stop=tuple(filter(None, request.take("stop_sequences", _texts) or ())),
        choice=tools.choice,
        call=tools.call,
        parallel=tools.parallel,
        form=_form(request),
        dialect=DIALECT,
        extras=_extras(request),
        hosted=tools.hosted,
        betas=betas,
        hides_thoughts=request.take("thinking", lambda given: given.says("display")) == OMITTED,
    )


def _texts(given: Given) -> list[str]:
    return [row.text() for row in given.rows()]


def _betas(request: Given, headers: Mapping[str, str]) -> tuple[str, ...]:
    """By header, or in the body, as some hosts want it."""
    named = [*headers.get(BETAS, "").split(","), *(request.take("betas", _texts) or ())]
    return tuple(dict.fromkeys(filter(None, (name.strip() for name in named))))


def _extras(request: Given) -> Json:
    unknown = {name: value for name, value in request.value.items() if name not in KNOWN}
    rests = {name: _rest(request, name, taken) for name, taken in READ_IN_PART.items()}
    return unknown | {name: rest for name, rest in rests.items() if rest}


def _rest(request: Given, name: str, taken: tuple[str, ...]) -> Json:
    inside = request.take(name, Given.fields) or {}
    return {key: value for key, value in inside.items() if key not in taken}


def _form(request: Given) -> Form | None:
    """`output_format` is how it was called first."""
    config = request.at("output_config")
    given = (config and config.at("format")) or request.at("output_format")
    if given is None:
        return None
    given.must("type").one_of(("json_schema",))
    return Form(name=given.says("name"), schema=given.must("schema").fields())


def _effort(request: Given) -> str:
    """What forbids thoughts counts before what measures them."""
    switch = request.take("thinking", effort_by_switch)
    config = request.at("output_config")
    word = config.take("effort", effort_word) if config else None
    return OFF if switch == OFF else word or switch or ""
