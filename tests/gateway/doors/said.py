"""What a model may say to a door: any events in any order, and the answers of the recorded streams."""

from __future__ import annotations

from hypothesis import strategies as st

from chatapp.core.events import (
    Event,
    Finish,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemStarted,
    Retrying,
    Usage,
    Withheld,
)
from chatapp.core.items import Item, Kind, clean
from chatapp.gateway.doors.door import HowEnded

AT = 1_795_000_000
KINDS = st.sampled_from(list(Kind)[1:4])
KEYS = st.sampled_from(["part-0", "part-1", "part-2", "rs_1"])
NAMES = st.sampled_from(["", "look", "get_weather"])
SIGNS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n")
WORDS = st.text(SIGNS, max_size=6).map(clean)
ARGUMENTS = st.sampled_from(["", "{}", '{"a": 1}', '{"a": "é', "[]", "no", "null", '{"a":"\\ud800"}'])
DETAIL = {"type": "reasoning.text", "text": "why", "index": 0}
WIRES = st.sampled_from(
    [
        ("chat", None),
        ("chat", {"reasoning_content": "why"}),
        ("chat", {"reasoning_details": [DETAIL, {"type": "reasoning.encrypted", "data": "s", "index": 0}]}),
        ("chat", {"reasoning_details": [{"type": "reasoning.encrypted", "data": "s"}]}),
        ("chat", {"function": {}, "extra_content": {"google": {"thought_signature": "sig"}}}),
        ("messages", {"type": "thinking", "thinking": "why", "signature": "sig"}),
        ("messages", {"type": "redacted_thinking", "data": "sealed"}),
        ("messages", {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}),
        ("responses", {"type": "reasoning", "encrypted_content": "sealed"}),
        ("responses", {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}),
        ("chat", {"refusal": "No."}),
    ]
)


@st.composite
def items(draw: st.DrawFn, key: str = "", kind: Kind | None = None, text: str | None = None) -> Item:
    dialect, wire = draw(WIRES)
    kind = kind or draw(KINDS)
    said = draw(ARGUMENTS if kind is Kind.TOOL_CALL else WORDS) if text is None else text
    name = draw(NAMES) if kind is Kind.TOOL_CALL else ""
    return Item(
        key=key or draw(KEYS),
        kind=kind,
        text=said,
        wire=wire,
        dialect=dialect,
        name=name,
        cut=wire is None and draw(st.booleans()),
    )


def anything() -> st.SearchStrategy[list[Event]]:
    """No order at all."""
    event = st.one_of(
        st.builds(ItemStarted, KEYS, KINDS, NAMES),
        st.builds(ItemDelta, KEYS, WORDS, st.booleans()),
        items().map(ItemDone),
        items().map(ItemAmended),
        st.lists(KEYS, max_size=2).map(lambda keys: Retrying(1.0, "Busy", tuple(keys))),
        st.sampled_from([Usage(input=1), Withheld({"x": 1})]),
    )
    return st.lists(event, max_size=25)


@st.composite
def pieces(draw: st.DrawFn, key: str) -> list[Event]:
    """One item from its start to its end, if it comes to one."""
    kind = draw(KINDS)
    told = draw(st.lists(ARGUMENTS if kind is Kind.TOOL_CALL else WORDS, max_size=4))
    done = draw(items(key, kind, "".join(told)))
    started = ItemStarted(key, kind, done.name)
    refuses = draw(st.booleans())
    events: list[Event] = [started, *(ItemDelta(key, text, refuses) for text in told if text)]
    lost: list[Event] = [Retrying(1.0, "Busy", (key,))] if kind is Kind.REASONING else []
    endings: list[list[Event]] = [[], [ItemDone(done)], [ItemDone(done), ItemAmended(done)], lost]
    return [*events, *draw(st.sampled_from(endings))]


@st.composite
def mixed(draw: st.DrawFn) -> list[Event]:
    """Several items, each in its order, mixed as it happens."""
    open_ones = [draw(pieces(f"part-{n}")) for n in range(draw(st.integers(0, 5)))]
    events = list[Event]()
    while open_ones := [each for each in open_ones if each]:
        events.append(draw(st.sampled_from(open_ones)).pop(0))
    return events


COUNTS = st.none() | st.integers(0, 10**6)
ENDS = st.builds(
    HowEnded,
    finish=st.sampled_from(Finish),
    usage=st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS),
    at=st.just(AT + 9),
)
EVENTS = anything() | mixed()
