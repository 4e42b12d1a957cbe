"""Providers change their schema without notice: any value of any event may be missing, or of another type."""

from __future__ import annotations

import pytest

from chatapp.core import verbatim

from .fuzz import MODULES, Frame, assert_sound, places, recordings

pytest.importorskip(
    "hypothesis", reason="hypothesis is not installed: the wires are not tried with wrong types"
)

from hypothesis import given, settings
from hypothesis import strategies as st

LONE_SURROGATE = "\ud83d"
DEEP = verbatim.loads("[" * 150 + "]" * 150)
GONE = object()

odd = st.sampled_from(
    [None, True, False, -1, 0, 1, 2, 10**18, 10**400, 1.5, "", "x", "\x00", LONE_SURROGATE, DEEP, GONE]
)
words = st.sampled_from(
    ["type", "id", "text", "content", "index", "error", "delta", "name", "message", "usage"]
)
nested = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
dialects = [dialect for dialect in MODULES if recordings(dialect)]


@pytest.mark.parametrize("dialect", dialects)
@settings(max_examples=400, derandomize=True, deadline=None, database=None)
@given(data=st.data())
def test_wrong_types_anywhere_are_survived(dialect: str, data: st.DataObject) -> None:
    recorded = data.draw(st.sampled_from(recordings(dialect)), label="recording")
    frames = recorded.frames()
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        at = data.draw(st.integers(0, len(frames) - 1), label="frame")
        frames[at] = _changed(frames[at], data)
    assert_sound(recorded, frames)


def _changed(frame: Frame, data: st.DataObject) -> Frame:
    name, text = frame
    try:
        value = verbatim.loads(text)
    except ValueError:
        return frame
    found = list(places(value))
    if not found:
        return name, verbatim.dumps(data.draw(nested))
    container, key = found[data.draw(st.integers(0, len(found) - 1), label="place")]
    change = data.draw(odd | nested, label="change")
    if change is GONE:
        del container[key]
    else:
        container[key] = change
    return name, verbatim.dumps(value)
