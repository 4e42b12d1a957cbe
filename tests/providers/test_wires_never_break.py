"""One contract for all wires: however a stream is cut, broken or shuffled, there are events in order or a ProviderError."""

from __future__ import annotations

from random import Random

import pytest

from chatapp.core.events import Event, Finish, ItemDelta, ItemDone, ItemStarted, ResponseEnded, Usage
from chatapp.core.items import Item, Kind
from chatapp.providers.base import Trouble
from chatapp.providers.sse import Decoder

from .fuzz import Heard, Recording, assert_grammar, assert_sound, hear, recordings

FLIPS = 150

STARTED = ItemStarted("a", Kind.REASONING)
DONE = ItemDone(Item(key="a", kind=Kind.REASONING))
ENDED = ResponseEnded(Finish.STOP)

every_recording = pytest.mark.parametrize("recorded", recordings(), ids=lambda recorded: recorded.name)


@every_recording
def test_a_recording_as_it_came_obeys_the_grammar(recorded: Recording) -> None:
    assert_sound(recorded, recorded.frames())


@every_recording
def test_a_cut_between_two_reads_changes_nothing_wherever_it_is(recorded: Recording) -> None:
    whole = recorded.frames()
    for cut in range(len(recorded.data)):
        decoder = Decoder()
        assert decoder.feed(recorded.data[:cut]) + decoder.feed(recorded.data[cut:]) == whole


@every_recording
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_one_byte_to_a_read_gives_the_same_events(recorded: Recording, end: bytes) -> None:
    decoder, data = Decoder(), recorded.data.replace(b"\n", end)
    frames = [frame for at in range(len(data)) for frame in decoder.feed(data[at : at + 1])]
    assert hear(recorded, frames) == hear(recorded, recorded.frames())


@every_recording
def test_a_stream_that_stops_at_any_byte_loses_only_what_was_not_complete(recorded: Recording) -> None:
    whole = recorded.frames()
    for length in range(len(recorded.data)):
        frames = Decoder().feed(recorded.data[:length])
        assert frames == whole[: len(frames)]


@every_recording
def test_a_stream_that_stops_after_any_event_says_so(recorded: Recording) -> None:
    frames = recorded.frames()
    for length in range(len(frames)):
        assert_sound(recorded, frames[:length])
    assert hear(recorded, []).error is not None


@every_recording
def test_losing_any_event_is_survived(recorded: Recording) -> None:
    frames = recorded.frames()
    for at in range(len(frames)):
        assert_sound(recorded, frames[:at] + frames[at + 1 :])


@every_recording
def test_doubling_any_event_is_survived(recorded: Recording) -> None:
    frames = recorded.frames()
    for at in range(len(frames)):
        assert_sound(recorded, frames[: at + 1] + frames[at:])


@every_recording
def test_swapping_any_two_neighbours_is_survived(recorded: Recording) -> None:
    frames = recorded.frames()
    for at in range(len(frames) - 1):
        assert_sound(recorded, [*frames[:at], frames[at + 1], frames[at], *frames[at + 2 :]])


@every_recording
def test_a_stream_played_twice_ends_once(recorded: Recording) -> None:
    assert_sound(recorded, recorded.frames() * 2)


@every_recording
def test_flipped_bytes_are_survived(recorded: Recording) -> None:
    random = Random(recorded.name)
    for _ in range(FLIPS):
        data = bytearray(recorded.data)
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        assert_sound(recorded, Decoder().feed(bytes(data)))


@every_recording
@pytest.mark.parametrize(
    "nonsense", ["[" * 100_000, '{"a":' * 100_000, "9" * 5_000, '"', "", "null", "[]", "{}"]
)
def test_nonsense_between_two_events_is_survived(recorded: Recording, nonsense: str) -> None:
    frames = recorded.frames()
    middle = len(frames) // 2
    assert_sound(recorded, [*frames[:middle], ("", nonsense), *frames[middle:]])


@every_recording
def test_every_failure_has_a_sentence_and_a_known_trouble(recorded: Recording) -> None:
    for length in range(len(recorded.frames())):
        error = hear(recorded, recorded.frames()[:length]).error
        assert error is None or (error.sentence.endswith(".") and error.trouble in Trouble)


@pytest.mark.parametrize(
    "events",
    [
        [STARTED, DONE],
        [STARTED, ENDED],
        [DONE, ENDED],
        [STARTED, DONE, DONE, ENDED],
        [STARTED, DONE, STARTED, DONE, ENDED],
        [STARTED, DONE, ItemDelta("a", "late"), ENDED],
        [STARTED, ItemDelta("a", ""), DONE, ENDED],
        [STARTED, ItemDone(Item(key="a", kind=Kind.TOOL_CALL)), ENDED],
        [Usage(), Usage(), ENDED],
        [ENDED, Usage()],
        [ENDED, ENDED],
    ],
)
def test_a_wire_that_broke_the_grammar_would_be_caught(events: list[Event]) -> None:
    with pytest.raises((AssertionError, KeyError)):
        assert_grammar(Heard(events))
