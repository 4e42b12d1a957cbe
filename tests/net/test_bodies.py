"""Bodies that are read past h11: whatever the network cuts, and nothing that is not plain."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.net.bodies import Chunks, Malformed, ToTheEnd, taking

CHUNKED, MEASURED = (b"Transfer-Encoding", b"chunked"), (b"Content-Length", b"5")
LAST = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def read(chunks: Chunks, *pieces: bytes) -> tuple[bytes, bytes]:
    """What was in them, and what is left for h11."""
    held, said = bytearray(), b""
    for piece in pieces:
        held += piece
        said += chunks.take(held)
    return said, bytes(held)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(0, 300), max_size=8))
def test_chunks_are_read_wherever_the_network_cuts_them(bodies, cuts):
    whole = b"".join(map(chunk, bodies)) + LAST
    places = sorted({0, len(whole), *(cut % len(whole) for cut in cuts)})
    chunks = Chunks()
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert read(chunks, *pieces) == (b"".join(bodies), LAST)
    assert chunks.over


@pytest.mark.parametrize(
    "rest", [b"3;name=value\r\nabc\r\n", b"03\r\nabc\r\n", b"x\r\n", b"\r\n", b"3\n", LAST]
)
def test_what_is_unusual_is_left_as_it_came(rest):
    chunks = Chunks()
    assert read(chunks, chunk(b"ab") + rest) == (b"ab", rest)
    assert chunks.over


@pytest.mark.parametrize("rest", [b"", b"1", b"1f", b"1f\r"])
def test_half_a_chunk_is_waited_for(rest):
    chunks = Chunks()
    assert read(chunks, chunk(b"ab") + rest) == (b"ab", rest)
    assert not chunks.over


def test_a_chunk_that_is_longer_than_it_says_is_refused():
    with pytest.raises(Malformed):
        read(Chunks(), b"2\r\nabc\r\n")


def test_only_what_is_plainly_framed_is_read_here():
    assert isinstance(taking(200, [CHUNKED]), Chunks)
    assert isinstance(taking(200, []), ToTheEnd)
    refused = [
        [MEASURED],
        [CHUNKED, MEASURED],
        [CHUNKED, CHUNKED],
        [(b"transfer-encoding", b"gzip, chunked")],
    ]
    assert [taking(200, headers) for headers in refused] == [None] * 4
    assert taking(204, []) is None
