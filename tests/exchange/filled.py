"""A conversation with everything in it that a file can tell: branches, rounds, calls, results, a cut answer, a note of what was sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User

from chatapp import store
from chatapp.branches.store.forking import Extent
from chatapp.core.items import Item, Kind
from chatapp.exchange.out.as_assistant_ui import as_assistant_ui
from chatapp.exchange.out.as_json import as_json
from chatapp.exchange.out.chosen import choose
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Conversation

OPENAI = {"provider": "openai", "dialect": "responses", "model": "gpt-5"}


def thought(key: str = "rs_1", words: str = "Hm.", n: int = 0) -> Item:
    wire = {
        "id": key,
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": words}],
        "encrypted_content": "gAAA==",
    }
    return Item(key=key, kind=Kind.REASONING, text=words, wire=wire, round=n, **OPENAI)


def call(key: str = "fc_1", n: int = 0) -> Item:
    words = {"name": "clock", "arguments": '{"zone":"Asia/Tokyo"}', "call_id": "call_1"}
    wire = {"id": key, "type": "function_call", "status": "completed", **words}
    told = {"text": words["arguments"], "name": "clock", "call_id": "call_1"}
    return Item(key=key, kind=Kind.TOOL_CALL, wire=wire, round=n, **told, **OPENAI)


def result(n: int = 0) -> Item:
    told = {"text": "14:05", "name": "clock", "call_id": "call_1", "outcome": "done"}
    return Item(key="part-2", kind=Kind.TOOL_RESULT, round=n, **told)


def words(key: str = "msg_1", said: str = "Five past two.", n: int = 0) -> Item:
    part = {"type": "output_text", "text": said, "annotations": []}
    wire = {"id": key, "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text=said, wire=wire, round=n, **OPENAI)


def filled(owner: User, title: str = "Clocks & <b>time</b>") -> Conversation:
    """Two questions, the second asked in two ways; the first answered twice, the second time stopped."""
    asked = AskedFor(model="openai:gpt-5", effort="low")
    first = store.open_conversation(
        owner, "What time is it?\n\nIn *Tokyo*.", tools=[], asked=asked, instructions="Be brief."
    )
    _answer(first.answer)
    second = store.start_turn(first.conversation, "And now?", parent=first.answer, author=owner, asked=asked)
    _end(second.answer, [thought("rs_9"), words("msg_9", "Six past.")], {"rs_9": 2345})
    aside = store.start_turn(
        first.conversation, "And in Lisbon?", parent=first.answer, author=owner, asked=asked
    )
    claim = store.claim_turn(aside.answer, runner="here", seen=0)
    cut = Item(key="msg_5", kind=Kind.ASSISTANT_MESSAGE, text="It is ab", cut=True, **OPENAI)
    store.append_round(claim, [thought("rs_5"), cut], Measured(durations={"rs_5": 1200}))
    assert store.stop(aside.answer, None, by=str(owner.pk))
    Conversation.objects.filter(pk=first.conversation).update(
        title=title,
        titled_by="person",
        head=second.answer,
        created_at=datetime(2026, 3, 4, 5, 6, 7, 890123, UTC),
        updated_at=datetime(2026, 3, 5, tzinfo=UTC),
    )
    return Conversation.objects.get(pk=first.conversation)


def _answer(answer: Any) -> None:
    claim = store.claim_turn(answer, runner="here", seen=0)
    facts = {"round": 0, "model": "openai:gpt-5", "usage": {"input": 10, "output": 5}, "first_event_ms": 7}
    said = Measured(
        durations={"rs_1": 23_456},
        timings={"rs_1": {"start": 10, "end": 23_466}, "fc_1": {"start": 23_466, "end": 23_500}},
        round=facts,
        elapsed=23_500,
    )
    store.append_round(claim, [thought(), call()], said)
    store.append_result(claim, result(), Measured(timings={"part-2": {"start": 23_500, "end": 23_600}}))
    _finish(claim, [thought("rs_2", "", 1), words(n=1)], {"rs_2": 11})


def _end(answer: Any, items: list[Item], durations: dict[str, int]) -> None:
    _finish(store.claim_turn(answer, runner="here", seen=0), items, durations)


def _finish(claim: Any, items: list[Item], durations: dict[str, int]) -> None:
    store.finish(claim, items, Measured(durations=durations, elapsed=24_000))


def file_of(conversation: Conversation, extent: Extent = Extent.EVERYTHING, **more: Any) -> bytes:
    """In our own format."""
    chosen = choose(Conversation.objects.get(pk=conversation.pk), conversation.owner, extent, **more)
    return b"".join(as_json([chosen], {}))


def told(conversation: Conversation, extent: Extent = Extent.EVERYTHING, **more: Any) -> dict[str, Any]:
    return json.loads(file_of(conversation, extent, **more))["conversations"][0]


def repository_of(conversation: Conversation) -> dict[str, Any]:
    chosen = choose(conversation, conversation.owner, Extent.EVERYTHING)
    return json.loads(b"".join(as_assistant_ui(chosen)))
