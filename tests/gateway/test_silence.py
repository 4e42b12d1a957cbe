"""A model that says nothing for a while: its program hears that somebody is still there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Usage
from chatapp.core.items import Item, KeyMaker, Kind
from chatapp.gateway.doors.door import Frame
from chatapp.gateway.doors.messages.writing import MessagesWriter
from chatapp.gateway.served import serving
from chatapp.providers.base import Ask
from tests.gateway.program import played, program_of, served

pytestmark = pytest.mark.django_db(transaction=True)
PINGS = 3


@played
async def test_silence_is_told_of_before_the_first_word_and_between_words(alice, monkeypatch):
    monkeypatch.setattr(serving, "BEGUN_SECONDS", 0.05)
    monkeypatch.setattr(serving, "PING_SECONDS", 0.05)
    heard, told, still_thinking = asyncio.Event(), list[int](), MessagesWriter.still_thinking

    def counted(writer: MessagesWriter) -> list[Frame]:
        told.append(1)
        if len(told) == PINGS:
            heard.set()
        return still_thinking(writer)

    monkeypatch.setattr(MessagesWriter, "still_thinking", counted)

    async def slow(ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        await heard.wait()
        key = keys.take("msg_1")
        yield ItemStarted(key, Kind.ASSISTANT_MESSAGE)
        yield ItemDelta(key, "At last.")
        yield ItemDone(Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text="At last."))
        yield Usage(input=1, output=1)
        yield ResponseEnded(Finish.STOP)

    program = await program_of(alice)
    async with served(slow):
        body = {"model": "scripted:model", "stream": True, "max_tokens": 10}
        body["messages"] = [{"role": "user", "content": "Why?"}]
        response = await program.http.post("/v1/messages", json=body)
    text = response.text
    assert response.status_code == 200
    assert text.count("event: ping") >= PINGS
    assert text.index("message_start") < text.index("event: ping") < text.index("At last.")
