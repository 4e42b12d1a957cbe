"""Whatever a provider's wire can make, and in whatever order: clients can read it, and have the same in the end however they read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core import events
from chatapp.core.events import Finish
from chatapp.core.items import Item, Kind
from chatapp.gateway.doors.door import OURS, Wrong
from chatapp.gateway.doors.handed import Handed, place_of
from chatapp.gateway.doors.responses import DOOR

from . import said
from .said import Client

KEYS = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.text(alphabet='ab{}" \né', max_size=8)
NAMES = st.sampled_from(["", "get_weather", "files__read"])
WIRES = st.sampled_from(
    [
        None,
        {"type": "message", "phase": "commentary", "content": [{"type": "refusal", "refusal": "No."}]},
        {
            "type": "message",
            "content": [{"type": "output_text", "text": "a", "annotations": [{"type": "x"}]}],
        },
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "odd"},
        {"type": 7, "content": 7, "phase": 7, "id": 7},
        {"type": "reasoning", "encrypted_content": "gAAA", "summary": []},
        {"type": "function_call", "namespace": "files"},
        ["odd"],
    ]
)
ITEMS = st.builds(
    Item,
    key=KEYS,
    kind=st.sampled_from(list(Kind)),
    text=TEXTS,
    wire=WIRES,
    dialect=st.sampled_from(["responses", "chat"]),
    cut=st.booleans(),
    name=NAMES,
)
EVENTS = st.one_of(
    st.builds(events.ItemStarted, KEYS, st.sampled_from(list(Kind)), NAMES),
    st.builds(events.ItemDelta, KEYS, TEXTS),
    st.builds(events.ItemDone, ITEMS),
    st.builds(events.ItemAmended, ITEMS),
    st.builds(events.Retrying, st.just(1.0), st.just("again"), st.lists(KEYS).map(tuple)),
    st.sampled_from(
        [
            events.Asked(1),
            events.Usage(1),
            events.ResponseEnded(Finish.STOP),
            events.Skipped(),
            events.Withheld({"a": 1}),
            events.Repaired("stale", "again"),
            events.Saving("later"),
            events.ItemsStored(("a",)),
            events.TurnEnded("complete"),
        ]
    ),
)
FILES = {
    "type": "namespace",
    "name": "files",
    "description": "",
    "tools": [{"type": "function", "name": "read", "parameters": {}}],
}
ENDS = st.sampled_from([*Finish, None])


@given(st.lists(EVENTS, max_size=25), ENDS, st.booleans())
def test_what_a_client_makes_of_the_stream_is_the_whole_response(heard, finish, sealed):
    body = {"tools": [FILES], "include": said.ENCRYPTED if sealed else []}
    fail = None if finish else Wrong(500, OURS, "It broke.")
    frames, whole = said.written(heard, finish=finish or Finish.STOP, fail=fail, **body)
    client = Client()
    assert client.hear(frames) == whole["output"]
    assert client.last["response"] == whole
    assert client.last["type"] == f"response.{whole['status']}"


@given(st.lists(EVENTS, max_size=25))
def test_every_item_has_an_id_of_ours_and_no_two_have_the_same(heard):
    _, whole = said.written(heard)
    ids = [each["id"] for each in whole["output"]]
    assert len(set(ids)) == len(ids)
    assert all(place.secret == said.SECRET for place in map(place_of, ids) if place)
    assert all(map(place_of, ids))


@given(st.lists(EVENTS, max_size=25))
def test_the_whole_answer_may_come_back_as_input(heard):
    _, whole = said.written(heard)
    results = [
        {"type": "function_call_output", "call_id": each["call_id"], "output": "done"}
        for each in whole["output"]
        if each["type"] == "function_call"
    ]
    asked = said.read(input=[*whole["output"], *results, {"role": "user", "content": "Go on."}])
    assert asked.history[-1].text == "Go on."


@given(st.lists(EVENTS, max_size=12))
def test_pings_change_nothing(heard):
    writer = DOOR.writer(said.read(), "m", Handed(secret=said.SECRET), said.AT)
    frames = writer.begin()
    for event in heard:
        frames += [*writer.hear(event), *writer.still_thinking()]
    frames += writer.fail(Wrong(500, OURS, "It broke."))
    assert Client().hear(frames) == said.written(heard, fail=Wrong(500, OURS, "It broke."))[1]["output"]
