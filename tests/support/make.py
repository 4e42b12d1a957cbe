"""Items and drafts, made in a word."""

from __future__ import annotations

from chatapp import store
from chatapp.core.draft import Draft
from chatapp.core.events import Asked, Event, ItemDelta, ItemStarted
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


def drafted(*script: tuple[float, Event]) -> Draft:
    """Of these events, each with its moment."""
    draft = Draft()
    for moment, event in script:
        draft.apply(event, moment)
    return draft


def half_a_thought() -> Draft:
    """One that began after a second."""
    return drafted(
        (0, Asked(0)), (1000, ItemStarted("rs_1", Kind.REASONING)), (1500, ItemDelta("rs_1", "Let me"))
    )


def seen(attempt: int, *events, at: float = 4000.0) -> store.Seen:
    """A draft of these, looked at later."""
    return store.Seen(attempt, drafted(*events), at)
