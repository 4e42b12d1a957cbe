"""Whatever JSON a program sends: a door reads a request, or says in a sentence what is wrong, and where."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import asdict
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: the laws of the doors are not tested")

from hypothesis import given
from hypothesis import strategies as st

from chatapp.core.items import clean
from chatapp.core.verbatim import dumps, encode
from chatapp.gateway.doors import chat, messages
from chatapp.gateway.doors.asked import ProgramRequest
from chatapp.gateway.doors.door import Door, Wrong
from chatapp.gateway.doors.estimate import estimate
from tests.providers.fuzz import places

from .bodies import CHAT, MESSAGES

DOORS = {"chat": chat.DOOR, "messages": messages.DOOR}
BODIES = {"chat": CHAT, "messages": MESSAGES}
every_door = pytest.mark.parametrize("name", DOORS)

TEXTS = st.text(max_size=5) | st.sampled_from(
    ["\x00", "\ud800", "user", "assistant", "tool", "text", "call_1"]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
NAMES = st.sampled_from(
    sorted({key for body in BODIES.values() for _, key in places(body) if isinstance(key, str)})
)
ANYTHING = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4)
)
NONSENSE: list[Any] = [
    None,
    True,
    0,
    -1,
    10**30,
    1.5,
    "",
    "\ud800\x00",
    [],
    [[]],
    [None],
    ["x"],
    {},
    {"type": []},
    [{"type": "x"}],
]


@every_door
@given(body=ANYTHING)
def test_any_json_is_a_request_or_wrong(name: str, body: Any) -> None:
    assert_read_or_wrong(DOORS[name], body)


@every_door
def test_nonsense_anywhere_in_a_request_is_taken_or_told(name: str) -> None:
    for place in range(len(list(places(BODIES[name])))):
        for nonsense in NONSENSE:
            assert_read_or_wrong(DOORS[name], with_at(BODIES[name], place, nonsense))


@every_door
@given(data=st.data())
def test_anything_anywhere_in_a_request_is_taken_or_told(name: str, data: st.DataObject) -> None:
    body = BODIES[name]
    for _ in range(data.draw(st.integers(1, 3))):
        body = with_at(body, data.draw(st.integers(0, 10**4)), data.draw(ANYTHING))
    assert_read_or_wrong(DOORS[name], body)


@every_door
def test_a_request_without_any_one_of_its_fields_is_taken_or_told(name: str) -> None:
    for number in range(len(list(places(BODIES[name])))):
        body = deepcopy(BODIES[name])
        container, key = list(places(body))[number]
        del container[key]
        assert_read_or_wrong(DOORS[name], body)


@every_door
@pytest.mark.parametrize("inner", [{}, [], "x"])
def test_what_is_nested_too_deeply_is_refused(name: str, inner: Any) -> None:
    deep: Any = inner
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(Wrong, match="levels deep"):
        DOORS[name].read(BODIES[name] | {"seed": deep}, {})
    while deep != inner:
        (deep,) = deep


@every_door
@given(extras=st.dictionaries(st.text(max_size=8).filter(lambda name: name not in {*CHAT, *MESSAGES}), PLAIN))
def test_what_a_door_does_not_know_is_kept_as_it_came(name: str, extras: dict[str, Any]) -> None:
    known = {"functions", "function_call", "enable_thinking", "betas", "output_format"}
    extras = {key: value for key, value in extras.items() if key not in known}
    read = DOORS[name].read({"model": "m", "messages": [{"role": "user", "content": "Why?"}]} | extras, {})
    assert (read.wishes.extras, read.wishes.dialect) == (extras, name)


def assert_read_or_wrong(door: Door, body: Any) -> None:
    before = deepcopy(body)
    try:
        assert_sound(door.read(body, {"anthropic-beta": "a, b,"}))
    except Wrong as wrong:
        assert wrong.status == 400 and wrong.kind == "invalid request"
        assert wrong.sentence.endswith(".") and wrong.sentence == clean(wrong.sentence)
        encode(door.error(wrong, "req_1"))
    assert dumps(body) == dumps(before)


def assert_sound(asked: ProgramRequest) -> None:
    """What is read can be stored and measured anywhere."""
    assert asked.history
    assert estimate(asked) >= 1
    for told in asked.history:
        assert_clean(asdict(told))


def assert_clean(value: Any) -> None:
    """But for what is kept as it came."""
    match value:
        case str():
            assert value == clean(value)
        case dict():
            for key, inner in value.items():
                if key != "wire":
                    assert_clean(inner)
        case list() | tuple():
            for inner in value:
                assert_clean(inner)
        case _:
            pass


def with_at(body: dict[str, Any], place: int, value: Any) -> dict[str, Any]:
    """A copy with something else in one of its places."""
    copy = deepcopy(body)
    found = list(places(copy))
    if found:
        container, key = found[place % len(found)]
        container[key] = value
    return copy
