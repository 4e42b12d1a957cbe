"""What grows in pieces costs the same for each piece, however much came before it and however it was cut."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from uuid import UUID

import pytest

from chatapp.core.draft import Draft
from chatapp.core.events import ItemDelta, ItemStarted
from chatapp.core.items import KeyMaker, Kind
from chatapp.live.growing_item import GrowingItem
from chatapp.providers.base import ProviderError
from chatapp.providers.chat.tags import TagReader
from chatapp.providers.sse import Decoder
from chatapp.turns.live import MemoryLive
from tests.providers.fuzz import Recording

from .growth import too_steep
from .shapes import PUMPS, shape

NOBODY = UUID(int=0)
# As small as they come, and as many as one read brings.
CUTS = (1, 4096)
SIZES = (500, 1_000, 2_000, 4_000)
# The letters matter little to what reads them in pieces.
SOME = [pump for pump in PUMPS if PUMPS.index(pump) % 4 == 0]


def cut(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def events(text, size):
    decoder = Decoder()
    for piece in cut(text.encode(), size):
        decoder.feed(piece)


def tags(text, size, opening):
    reader = TagReader((opening, "</think>"))
    for piece in [opening, *cut(text, size)]:
        reader.feed(piece)


def told(text, size):
    """To the draft, and to those who watch."""
    drafted, live, stream = Draft(), MemoryLive(), (NOBODY, 1)
    live.open(stream, drafted, lambda: 0.0)
    for event in [ItemStarted("a", Kind.REASONING), *(ItemDelta("a", piece) for piece in cut(text, size))]:
        drafted.apply(event, 0)
        live.publish(stream, event, 0)
    drafted.to_json(0)


def _in_chat(piece):
    return "", {"choices": [{"delta": {"content": piece}}]}


def _thought_in_chat(piece):
    return "", {"choices": [{"delta": {"reasoning_content": piece}}]}


def _called_in_chat(piece):
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": piece}}
    return "", {"choices": [{"delta": {"tool_calls": [call]}}]}


def _in_messages(kind, field, piece):
    return "content_block_delta", {"index": 0, "delta": {"type": kind, field: piece}}


def _in_responses(kind, piece):
    where = {"item_id": "a", "output_index": 0, "content_index": 0, "summary_index": 0}
    return f"response.{kind}.delta", {"type": f"response.{kind}.delta", "delta": piece, **where}


def said(text, size, name, worded):
    """Through a provider's parser, whose stream breaks off in the end."""
    recorded = Recording(name.partition("-")[0], name, b"")
    parser = recorded.wire().parser(recorded.ask(), KeyMaker())
    for event, frame in (*_OPENINGS.get(name, ()), *map(worded, cut(text, size))):
        parser.feed(event, json.dumps(frame))
    with suppress(ProviderError):
        parser.close()


def _block(**block):
    return [("content_block_start", {"index": 0, "content_block": block})]


def _item(**item):
    added = {"type": "response.output_item.added", "output_index": 0, "item": {"id": "a", **item}}
    return [(added["type"], added)]


_OPENINGS = {
    "messages-text": _block(type="text"),
    "messages-thinking": _block(type="thinking"),
    "messages-tool": _block(type="tool_use", id="a", name="f"),
    "responses-text": _item(type="message"),
    "responses-thought": _item(type="reasoning"),
    "responses-call": _item(type="function_call", call_id="a", name="f"),
}
ROADS = {
    "events": events,
    "tags": partial(tags, opening="<think>"),
    "tags that the template opens": partial(tags, opening=""),
    "draft": told,
    "chat-vllm": partial(said, name="chat-vllm", worded=_in_chat),
    "chat-think-tags": partial(said, name="chat-think-tags", worded=_in_chat),
    "chat-think-noopen": partial(said, name="chat-think-noopen", worded=_in_chat),
    "chat-deepseek": partial(said, name="chat-deepseek", worded=_thought_in_chat),
    "chat-kimi": partial(said, name="chat-kimi", worded=_called_in_chat),
    "messages-text": partial(said, name="messages-text", worded=partial(_in_messages, "text_delta", "text")),
    "messages-thinking": partial(
        said, name="messages-thinking", worded=partial(_in_messages, "thinking_delta", "thinking")
    ),
    "messages-tool": partial(
        said, name="messages-tool", worded=partial(_in_messages, "input_json_delta", "partial_json")
    ),
    "responses-text": partial(said, name="responses-text", worded=partial(_in_responses, "output_text")),
    "responses-thought": partial(
        said, name="responses-thought", worded=partial(_in_responses, "reasoning_summary_text")
    ),
    "responses-call": partial(
        said, name="responses-call", worded=partial(_in_responses, "function_call_arguments")
    ),
}


@pytest.mark.parametrize("road", ROADS)
def test_a_stream_costs_no_more_than_its_length_however_it_is_cut(road):
    steep = {}
    for pump in SOME:
        for size in CUTS:
            if words := too_steep(partial(ROADS[road], size=size), partial(shape, "", pump, ""), SIZES):
                steep[pump, size] = words
    assert steep == {}


# What a model may write again and again, one delta each.
DELTAS = (
    *("\n", " \n", "a\n", "\n\n", "- a\n\n", "[a]: b\n\nc\n\n", "[^1] ", "*a\n", "# a\n", "| a |\n", "> a\n"),
    *("```\n", "$$\n", "1. a\n", "a ", "<", "\u202e\n"),
)


async def drawn(delta, count):
    """Each of them is drawn before the next one comes, which costs most."""
    item = GrowingItem(NOBODY, "a", "b", lambda operation: None)
    try:
        for _ in range(count):
            item.write(delta)
            if item._task:
                await item._task
    finally:
        item.cancel()


@pytest.mark.parametrize("delta", DELTAS)
def test_a_growing_answer_costs_the_loop_the_same_for_each_of_its_deltas(delta):
    work = lambda text: asyncio.run(drawn(delta, len(text)))  # noqa: E731
    assert too_steep(work, "x".__mul__, (200, 400, 800, 1600)) == ""


def test_letters_without_a_sign_are_looked_through_once():
    work = lambda text: asyncio.run(drawn("some words ", len(text)))  # noqa: E731
    assert too_steep(work, "x".__mul__, (200, 400, 800, 1600)) == ""
