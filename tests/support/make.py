"""Items and drafts, made in a word."""

from __future__ import annotations

from chatapp import store
from chatapp.core.draft import Draft
from chatapp.core.items import Item, Kind


def thought(key="rs_1", **more) -> Item:
    return Item(key=key, kind=Kind.REASONING, **({"text": "Hm.", "wire": {"id": key}} | more))


def text(key="msg_1", **more) -> Item:
    return Item(key=key, kind=Kind.ASSISTANT_MESSAGE, **({"text": "Because.", "wire": {"id": key}} | more))


def call(key="fc_1", **more) -> Item:
    return Item(key=key, kind=Kind.TOOL_CALL, **({"text": "{}", "call_id": "call_1", "name": "clock"} | more))


def result(key="part-9", **more) -> Item:
    return Item(
        key=key, kind=Kind.TOOL_RESULT, **({"text": "noon", "call_id": "call_1", "name": "clock"} | more)
    )


def seen(attempt: int, *events, at: float = 4000.0) -> store.Seen:
    """A draft of these (moment, event) pairs, looked at later."""
    draft = Draft()
    for moment, event in events:
        draft.apply(event, moment)
    return store.Seen(attempt, draft, at)
