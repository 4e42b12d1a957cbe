"""Answers and their items, made in a word for the tests of what is drawn from them."""

from __future__ import annotations

from typing import Any

from chatapp.core.items import Item, Kind
from chatapp.store.models import Message


def answer(**more: Any) -> Message:
    """A row that is in no database."""
    return Message(
        **{"role": "assistant", "status": "complete", "model": "openai:gpt-5", "metadata": {}} | more
    )


def thought(key: str = "rs", **more: Any) -> Item:
    return Item(key=key, kind=Kind.REASONING, **more)


def text(key: str = "msg", words: str = "Because.", **more: Any) -> Item:
    return Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text=words, **more)


def call(key: str = "fc", call_id: str = "c1", name: str = "clock", **more: Any) -> Item:
    return Item(key=key, kind=Kind.TOOL_CALL, call_id=call_id, name=name, **more)


def result(key: str = "part-9", call_id: str = "c1", outcome: str = "done", **more: Any) -> Item:
    return Item(key=key, kind=Kind.TOOL_RESULT, call_id=call_id, outcome=outcome, **more)


def span(start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, **more}


def facts(number: int = 0, **more: Any) -> dict[str, Any]:
    """What was noted of one round."""
    return {"round": number, "model": "openai:gpt-5", "usage": {}, "first_event_ms": 900, **more}
