"""Reads a request to create a response. Any JSON at all gives what is asked, or what is wrong with it and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....providers.base import Form, Wishes
from ..asked import ProgramRequest, Said, SaidBy, Told, ToldCall, ToldOther, ToldResult
from ..door import Wrong
from ..effort import effort_word
from ..given import MOST, Given
from ..handed import place_of
from .items import INPUT, Entry, entries_in, told, without_its_call
from .tools import DIALECT, Offer, offer_in

LONGEST_ID = 200
# What stands elsewhere in what is asked, or concerns this door alone.
UNDERSTOOD = frozenset(
    {
        "model",
        INPUT,
        "instructions",
        "stream",
        "stream_options",
        "store",
        "background",
        "conversation",
        "previous_response_id",
        "tools",
        "tool_choice",
        "temperature",
        "top_p",
        "max_output_tokens",
        "parallel_tool_calls",
        "reasoning",
        "text",
        "generate",
    }
)
FORMS = ("", "text", "json_object", "json_schema")
PENALTIES = ("presence_penalty", "frequency_penalty")
WORDS_SAID_AGAIN = ("prompt_cache_key", "safety_identifier", "user", "service_tier")
NOT_IN_BACKGROUND = (
    "cannot be true: a response is made while its program is connected. Leave it out, and use `stream`"
)
NO_CONVERSATIONS = "is not kept here: send `previous_response_id`, or the whole history as `input`"


def read(body: Any, headers: Mapping[str, str]) -> ProgramRequest:
    given = Given.body(body)
    asked, entries = _said(given)
    _check_whole(given, asked, entries)
    return asked


def read_counted(body: Any, headers: Mapping[str, str]) -> ProgramRequest:
    """A request whose length alone is asked: there may be nothing in it yet to answer."""
    asked, _ = _said(Given.body(body))
    return replace(asked, store=False)


def _said(body: Given) -> tuple[ProgramRequest, list[Entry]]:
    _refuse(body)
    _check_echoed(body)
    entries = entries_in(body)
    return _asked(body, offer_in(body), told([*instructions(body), *entries])), entries


def instructions(body: Given) -> list[Entry]:
    """They hold for this request alone: no later one carries them over. Without a wire, for they were no item."""
    words = body.says("instructions")
    return [Said(role=SaidBy.SYSTEM, parts=(words,))] if words else []


def generates(asked: ProgramRequest) -> bool:
    """False where a program only warms its connection up, and wants a response without a word."""
    return asked.body.get("generate") is not False


def _refuse(body: Given) -> None:
    if body.take("background", Given.flag):
        raise body.must("background").wrong(NOT_IN_BACKGROUND)
    if conversation := body.at("conversation"):
        raise conversation.wrong(NO_CONVERSATIONS)


def _check_echoed(body: Given) -> None:
    """What the response says again, and nothing else here reads."""
    for name in WORDS_SAID_AGAIN:
        body.says(name)
    for name in PENALTIES:
        body.take(name, lambda given: given.up_to(2, -2))
    body.take("truncation", lambda given: given.one_of(("auto", "disabled")))
    body.take("max_tool_calls", _whole)
    body.take("top_logprobs", lambda given: _whole(given, 20))
    body.take("include", lambda given: [row.text() for row in given.rows()])
    body.take("stream_options", Given.fields)
    body.take("metadata", lambda given: [given.must(name).text() for name in given.fields()])
    body.take("generate", Given.flag)


def _whole(given: Given, most: int = MOST) -> float:
    given.up_to(most)
    return given.count() if given.value else 0


def _check_whole(body: Given, asked: ProgramRequest, entries: list[Entry]) -> None:
    """What cannot be a request alone may be one that goes on from another response, or fills a form that its provider has."""
    if asked.previous or body.at("prompt") or not generates(asked):
        return
    if not entries:
        raise body.must(INPUT).wrong("is empty: there is nothing to answer")
    if wrong := orphan(entries):
        raise wrong


def orphan(entries: Sequence[Entry], earlier: Sequence[Entry] = ()) -> Wrong | None:
    """A result without its call, where the call can be nowhere else: ours are found by their ids, and what one dialect alone knows
    may hold any."""
    if any(isinstance(each, ToldOther) for each in (*earlier, *entries)):
        return None
    known = {each.id for each in earlier if isinstance(each, ToldCall)}
    ours = {each.call_id for each in entries if isinstance(each, ToldResult) and place_of(each.call_id)}
    return without_its_call(entries, known | ours)


def _asked(body: Given, offer: Offer, history: tuple[Told, ...]) -> ProgramRequest:
    return ProgramRequest(
        model=body.says("model"),
        history=history,
        stream=body.take("stream", Given.flag) or False,
        tools=offer.tools,
        wishes=_wishes(body, offer),
        effort=body.take("reasoning", _effort) or "",
        previous=_previous(body),
        store=body.take("store", Given.flag) is not False,
        body=body.fields(),
    )


def _effort(reasoning: Given) -> str:
    return reasoning.take("effort", effort_word) or ""


def _previous(body: Given) -> str:
    previous = body.says("previous_response_id")
    if len(previous) > LONGEST_ID:
        raise body.must("previous_response_id").wrong("is too long to be an id")
    return previous


def _wishes(body: Given, offer: Offer) -> Wishes:
    return Wishes(
        temperature=body.take("temperature", lambda given: given.up_to(2)),
        top_p=body.take("top_p", lambda given: given.up_to(1)),
        most_output=body.take("max_output_tokens", Given.count),
        choice=offer.choice,
        call=offer.call,
        parallel=body.take("parallel_tool_calls", Given.flag),
        form=body.take("text", lambda text: text.take("format", _form)),
        dialect=DIALECT,
        extras=_extras(body, offer),
        hosted=offer.hosted,
    )


def _form(form: Given) -> Form | None:
    match form.says("type"):
        case "json_object":
            return Form()
        case "json_schema":
            return Form(
                name=form.must("name").name(),
                description=form.says("description"),
                schema=form.must("schema").fields(),
                strict=form.take("strict", Given.flag),
            )
        case _:
            return None


def _extras(body: Given, offer: Offer) -> dict[str, Any]:
    """What another dialect has no word for, as it came."""
    said = {
        **{name: value for name, value in body.fields().items() if name not in UNDERSTOOD},
        "tool_choice": offer.raw,
        "reasoning": body.take("reasoning", lambda given: _without(given, "effort")),
        "text": body.take("text", _text),
    }
    return {name: value for name, value in said.items() if value is not None and value != {}}


def _text(text: Given) -> dict[str, Any]:
    """A form of a kind unknown here is the wire's to word."""
    kind = text.take("format", lambda form: form.says("type")) or ""
    return _without(text, "format" if kind in FORMS else "")


def _without(given: Given, left_out: str) -> dict[str, Any]:
    said = given.fields().items()
    return {name: value for name, value in said if name != left_out and value is not None}
