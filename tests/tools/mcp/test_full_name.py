"""Every tool of a server has a name of its own that every provider takes."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as some

from chatapp.tools.mcp.full_name import MOST, full_name

SERVERS = some.from_regex(r"\A[a-z][a-z0-9-]{0,31}\Z")
TOOLS = some.text(min_size=1, max_size=200)


def test_a_plain_name_stays_as_it_is():
    assert full_name("docs", "read_page-2") == "docs.read_page-2"


def test_what_cannot_be_kept_is_marked():
    names = [full_name("docs", name) for name in ("read page", "read.page", "read/page", "x" * 100)]
    assert len(set(names)) == 4
    assert names[0].startswith("docs.read_page-")


@given(SERVERS, TOOLS, TOOLS)
def test_names_are_short_plain_and_never_shared(server, one, other):
    first, second = full_name(server, one), full_name(server, other)
    assert re.fullmatch(r"[a-z][a-z0-9-]*\.[A-Za-z0-9_-]+", first) and len(first) <= MOST
    assert (first == second) == (one == other)
