"""Reads a request to create a response. Any JSON at all gives what is asked, or what is wrong with it and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....providers.base import OFF, Form, Wishes
from ...handed import place_of
from ..asked import Asked, Call, Other, Result, Role, Said, Told
from ..door import Wrong, invalid
from .fields import Fields
from .items import INPUT, Entry, entries_in, told, without_its_call
from .tools import DIALECT, Offer, offer_in

NO_THOUGHTS = "none"
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
JSON_KINDS = ("json_object", "json_schema")
NOT_IN_BACKGROUND = (
    "cannot be true: a response is made while its program is connected. Leave it out, and use `stream`."
)
NO_CONVERSATIONS = "is not kept here: send `previous_response_id`, or the whole history as `input`."


def read(body: Any, headers: Mapping[str, str]) -> Asked:
    if not isinstance(body, dict):
        raise invalid("The request must be a JSON object.")
    fields = Fields(body)
    _refuse(fields)
    _check_echoed(fields)
    entries = entries_in(fields)
    asked = _asked(fields, offer_in(fields), told([*instructions(fields), *entries]))
    _check_whole(fields, asked, entries)
    return asked


def instructions(fields: Fields) -> list[Entry]:
    """They hold for this request alone: no later one carries them over. Without a wire, for they were no item."""
    words = fields.word("instructions")
    return [Said(role=Role.SYSTEM, parts=(words,))] if words else []


def generates(asked: Asked) -> bool:
    """False where a program only warms its connection up, and wants a response without a word."""
    return asked.body.get("generate") is not False


def _refuse(fields: Fields) -> None:
    if fields.flag("background"):
        raise fields.wrong("background", NOT_IN_BACKGROUND)
    if fields.has("conversation"):
        raise fields.wrong("conversation", NO_CONVERSATIONS)


def _check_echoed(fields: Fields) -> None:
    """What the response says again, and nothing else here reads."""
    for name in ("prompt_cache_key", "safety_identifier", "user", "service_tier"):
        fields.word(name)
    fields.one_of("truncation", ("auto", "disabled"))
    fields.count("max_tool_calls")
    fields.count("top_logprobs", most=20)
    for name in ("presence_penalty", "frequency_penalty"):
        fields.number(name, -2, 2)
    fields.words("include")
    fields.inner("stream_options")
    metadata = fields.inner("metadata")
    for name in metadata.values:
        metadata.needed(name)
    fields.flag("generate")


def _check_whole(fields: Fields, asked: Asked, entries: list[Entry]) -> None:
    """What cannot be a request alone may be one that goes on from another response."""
    if asked.previous:
        return
    if not fields.has(INPUT) and not fields.has("prompt") and generates(asked):
        raise fields.wrong(INPUT, "is missing.")
    if not asked.history and not fields.has("prompt") and generates(asked):
        raise fields.wrong(INPUT, "is empty: there is nothing to answer.")
    if wrong := orphan(entries):
        raise wrong


def orphan(entries: Sequence[Entry], earlier: Sequence[Entry] = ()) -> Wrong | None:
    """A result without its call, where the call can be nowhere else: ours are found by their ids, and what one dialect alone knows
    may hold any."""
    if any(isinstance(each, Other) for each in (*earlier, *entries)):
        return None
    known = {each.id for each in earlier if isinstance(each, Call)}
    ours = {each.call_id for each in entries if isinstance(each, Result) and place_of(each.call_id)}
    return without_its_call(entries, known | ours)


def _asked(fields: Fields, offer: Offer, history: tuple[Told, ...]) -> Asked:
    effort = fields.inner("reasoning").word("effort")
    return Asked(
        model=fields.word("model"),
        history=history,
        stream=fields.flag("stream") or False,
        tools=offer.tools,
        wishes=_wishes(fields, offer),
        effort=OFF if effort == NO_THOUGHTS else effort,
        previous=_previous(fields),
        store=fields.flag("store") is not False,
        body=fields.values,
    )


def _previous(fields: Fields) -> str:
    previous = fields.word("previous_response_id")
    if len(previous) > LONGEST_ID:
        raise fields.wrong("previous_response_id", "is too long to be an id.")
    return previous


def _wishes(fields: Fields, offer: Offer) -> Wishes:
    return Wishes(
        temperature=fields.number("temperature", 0, 2),
        top_p=fields.number("top_p", 0, 1),
        most_output=fields.count("max_output_tokens", least=1),
        choice=offer.choice,
        call=offer.call,
        parallel=fields.flag("parallel_tool_calls"),
        form=_form(fields.inner("text").inner("format")),
        dialect=DIALECT,
        extras=_extras(fields, offer),
        hosted=offer.hosted,
    )


def _form(form: Fields) -> Form | None:
    match form.word("type"):
        case "json_object":
            return Form()
        case "json_schema":
            return Form(
                name=form.name("name"),
                description=form.word("description"),
                schema=_schema(form),
                strict=form.flag("strict"),
            )
        case _:
            return None


def _schema(form: Fields) -> Mapping[str, Any]:
    if not form.has("schema"):
        raise form.wrong("schema", "is missing.")
    return form.inner("schema").values


def _extras(fields: Fields, offer: Offer) -> dict[str, Any]:
    """What another dialect has no word for, as it came."""
    left = {
        name: value for name, value in fields.values.items() if name not in UNDERSTOOD and value is not None
    }
    thinking = _without(fields.inner("reasoning"), "effort")
    text = _without(fields.inner("text"), "format" if _is_understood(fields) else "")
    chosen = {"tool_choice": offer.raw} if offer.raw else {}
    return left | chosen | _named("reasoning", thinking) | _named("text", text)


def _is_understood(fields: Fields) -> bool:
    """A form of a kind unknown here is the wire's to word."""
    return fields.inner("text").inner("format").word("type") in ("", "text", *JSON_KINDS)


def _without(fields: Fields, left_out: str) -> dict[str, Any]:
    return {name: value for name, value in fields.values.items() if name != left_out and value is not None}


def _named(name: str, values: dict[str, Any]) -> dict[str, Any]:
    return {name: values} if values else {}
