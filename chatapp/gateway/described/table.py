"""What can be asked at each address: the one row for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .schema import Json, text

PAGES: Mapping[str, Json] = {
    "limit": {"description": "How many; all where it is no number."},
    "after_id": text("With `anthropic-version`: what comes behind this one."),
    "before_id": text("With `anthropic-version`: what comes before this one."),
}
ITEM_PAGES: Mapping[str, Json] = {
    "limit": {"type": "integer", "minimum": 1},
    "order": {"type": "string", "enum": ["asc", "desc"]},
    "after": text("The id of an item: those behind it."),
}
ASKED: Mapping[str, Any] = {"model": "demo:thinker", "input": "Why is the sky blue?"}
TALKED: Mapping[str, Any] = {
    "model": "demo:thinker",
    "messages": [{"role": "user", "content": "Why is the sky blue?"}],
}
MEASURED = {**TALKED, "max_tokens": 1000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """`takes` and `gives`: names of schemas; `event`: that of a frame, where it can be a stream. `asks`: whether a model is asked."""

    id: str
    summary: str
    gives: str
    takes: str = ""
    event: str = ""
    asks: bool = False
    error: str = "Error"
    example: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Json] = field(default_factory=dict)
    has_key: bool = True


DESCRIBED: Mapping[tuple[str, str], Described] = {
    ("/v1/openapi.json", "GET"): Described(
        id="describe", summary="This page", gives="Document", has_key=False
    ),
    ("/v1/models", "GET"): Described(
        id="listModels", summary="Models that the key may ask", gives="Models", error="AnyError", query=PAGES
    ),
    ("/v1/models/{id}", "GET"): Described(
        id="showModel", summary="One of them", gives="Model", error="AnyError"
    ),
    ("/v1/chat/completions", "POST"): Described(
        id="complete",
        summary="Ask, by OpenAI's chat completions",
        takes="ChatRequest",
        gives="ChatCompletion",
        event="ChatChunk",
        asks=True,
        example=TALKED,
    ),
    ("/v1/responses", "POST"): Described(
        id="respond",
        summary="Ask, by OpenAI's Responses. A WebSocket at the same address takes the same, one request after the other",
        takes="ResponseRequest",
        gives="Response",
        event="ResponseEvent",
        asks=True,
        example=ASKED,
    ),
    ("/v1/responses/compact", "POST"): Described(
        id="compact",
        summary="A shorter history to go on from",
        takes="CompactRequest",
        gives="Compaction",
        asks=True,
        example=ASKED,
    ),
    ("/v1/responses/input_tokens", "POST"): Described(
        id="countInput",
        summary="About how many tokens a request is, with the history that it goes on from",
        takes="CountInputRequest",
        gives="InputCount",
        example=ASKED,
    ),
    ("/v1/responses/{id}", "GET"): Described(
        id="showResponse", summary="A response that is kept", gives="Response"
    ),
    ("/v1/responses/{id}", "DELETE"): Described(
        id="deleteResponse", summary="Forget it", gives="DeletedResponse"
    ),
    ("/v1/responses/{id}/cancel", "POST"): Described(
        id="cancelResponse",
        summary="Refused: what is not made in the background is stopped by closing its connection",
        gives="Response",
    ),
    ("/v1/responses/{id}/input_items", "GET"): Described(
        id="listInput", summary="What it was asked", gives="InputItems", query=ITEM_PAGES
    ),
    ("/v1/messages", "POST"): Described(
        id="message",
        summary="Ask, by Anthropic's Messages",
        takes="MessageRequest",
        gives="Message",
        event="MessageEvent",
        asks=True,
        error="MessageError",
        example=MEASURED,
    ),
    ("/v1/messages/count_tokens", "POST"): Described(
        id="countTokens",
        summary="About how many tokens that is",
        takes="CountRequest",
        gives="TokenCount",
        error="MessageError",
        example=TALKED,
    ),
}
