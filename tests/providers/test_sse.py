"""Server-sent events come whole out of bytes, however these are written and wherever they are cut."""

from __future__ import annotations

from itertools import combinations

import pytest

from chatapp.providers.sse import Decoder, EventTooLong

STREAM = (
    b"\xef\xbb\xbf: hello\n\n"
    b"event: one\ndata: na\xc3\xafve \xf0\x9f\x8e\x88\n\n"
    b"id: 7\nretry: 3000\n\n"
    b"data:first\ndata: second\ndata:  third\n\n\n"
    b'data: {"a":1}\n\n'
    b"data\n\n"
    b"event: nothing\n\n"
    b": ping\ndata: last\nunknown: x\n\n"
    b"data: unfinished"
)
EVENTS = [
    ("one", "naïve 🎈"),
    ("", "first\nsecond\n third"),
    ("", '{"a":1}'),
    ("", ""),
    ("", "last"),
]


def read(*reads: bytes, cap: int = 1000) -> list[tuple[str, str]]:
    decoder = Decoder(cap)
    return [event for data in reads for event in decoder.feed(data)]


every_line_end = pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])


@every_line_end
def test_a_whole_stream_in_one_read(end: bytes) -> None:
    assert read(STREAM.replace(b"\n", end)) == EVENTS


@every_line_end
def test_two_cuts_change_nothing_wherever_they_are(end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    for one, two in combinations(range(len(stream) + 1), 2):
        assert read(stream[:one], stream[one:two], stream[two:]) == EVENTS


@every_line_end
def test_one_byte_to_a_read_with_empty_reads_between(end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    assert read(*(read for byte in stream for read in (bytes([byte]), b""))) == EVENTS


def test_the_three_line_ends_may_be_mixed() -> None:
    assert read(b"data: a\r\n\ndata: b\n\rdata: c\r\r\ndata: d\r\n\r\n") == [("", word) for word in "abcd"]


def test_an_event_is_complete_at_its_cr_already() -> None:
    decoder = Decoder()
    assert decoder.feed(b"data: a\r\n\r") == [("", "a")]
    assert decoder.feed(b"\ndata: b\r\n\r\n") == [("", "b")]


def test_an_lf_after_an_old_cr_belongs_to_that_cr_alone() -> None:
    assert read(b"data: a\r", b"\n", b"\n", b"data: b\n\n") == [("", "a"), ("", "b")]


def test_a_byte_order_mark_counts_at_the_beginning_only() -> None:
    assert read(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == [("", "a")]


def test_a_name_belongs_to_its_own_event() -> None:
    assert read(b"event: a\ndata: 1\n\ndata: 2\n\n") == [("a", "1"), ("", "2")]


def test_the_last_name_counts_and_a_name_without_data_is_forgotten() -> None:
    assert read(b"event: a\nevent: b\ndata: 1\n\nevent: c\n\ndata: 2\n\n") == [("b", "1"), ("", "2")]


def test_fields_are_named_exactly() -> None:
    assert read(b"Data: a\n data: b\ndata : c\ndatas: d\n\n") == []


def test_a_colon_in_the_data_stays() -> None:
    assert read(b"data:a: b:c\n\n") == [("", "a: b:c")]


def test_other_line_separators_are_text() -> None:
    text = "a\u2028b\x85c\x0bd"
    assert read(f"data: {text}\n\n".encode()) == [("", text)]


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert read(b"data: a\xff\xc3\n\n") == [("", "a\ufffd\ufffd")]


def test_many_events_in_one_read_may_exceed_the_cap_together() -> None:
    assert read(b"data: 1234\n\n" * 10, cap=12) == [("", "1234")] * 10


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_one_event_over_the_cap_is_refused_complete_or_not(size: int) -> None:
    stream = b"data: fits\n\ndata: " + b"x" * 30 + b"\n\n"
    with pytest.raises(EventTooLong):
        read(*(stream[at : at + size] for at in range(0, len(stream), size)), cap=20)


def test_comments_without_end_are_refused_too() -> None:
    with pytest.raises(EventTooLong):
        read(*[b": still here\n"] * 10, cap=50)
