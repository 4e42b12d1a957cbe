"""The file in which is noted what is to be written: it holds what it can, forgets what it should, and outlives what happens to it."""

from __future__ import annotations

import os
import subprocess
import sys
from uuid import uuid4

import pytest

from chatapp.core.draft import Draft
from chatapp.core.events import Asked, ItemDelta, ItemStarted
from chatapp.core.items import Item, Kind
from chatapp.store import Claim, Measured, Seen
from chatapp.turns.keep.journal import BLOCK, BLOCKS, Journal, left_behind, read_all, take_journal
from chatapp.turns.keep.writes import Write
from tests.support.make import drafted


@pytest.fixture
def journal(tmp_path) -> Journal:
    return take_journal(tmp_path)


def again(journal: Journal) -> list[str]:
    """What the next process finds."""
    journal.close()
    with left_behind(journal.path) as found:
        return [record.text for record in found.left]


def test_what_was_noted_and_not_forgotten_is_found_in_its_order(journal):
    records = [journal.note(f"record {n}" * n * 300) for n in range(9)]
    for record in records[::3]:
        journal.forget(record)
    journal.note("the last one")
    assert again(journal) == [record.text for n, record in enumerate(records) if n % 3] + ["the last one"]


def test_room_that_was_given_back_is_used_again_and_more_than_fits_is_refused(journal):
    large = "x" * (BLOCK * (BLOCKS - 2))
    first = journal.note(large)
    assert journal.note(large) is None
    assert journal.note("small")
    journal.forget(first)
    assert journal.note(large[: -2 * BLOCK])
    assert journal.path.stat().st_size == BLOCK * BLOCKS


@pytest.mark.parametrize("at", [0, 5, 17, 40, BLOCK, 3 * BLOCK - 1])
def test_a_record_that_was_torn_is_none_and_harms_no_other(journal, at):
    journal.note("before")
    torn = journal.note("y" * 3 * BLOCK)
    journal.note("after")
    with journal.path.open("r+b") as file:
        file.seek(torn.place * BLOCK + at)
        was = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([was[0] ^ 1]))
    assert again(journal) == ["before", "after"]


def test_what_is_left_of_a_forgotten_record_is_taken_for_none(journal):
    """Its later blocks stay on the disk, and may hold anything that a model can say."""
    journal.forget(journal.note("\\xfe\\xedT1" * BLOCK))
    journal.note("here")
    assert again(journal) == ["here"]


def test_each_process_has_a_file_of_its_own_and_the_next_one_takes_what_is_free(tmp_path):
    one, two = take_journal(tmp_path), take_journal(tmp_path)
    assert one.path != two.path
    with pytest.raises(BlockingIOError), left_behind(one.path):
        pass
    one.note("mine")
    two.note("yours")
    assert sorted(read_all(tmp_path)) == ["mine", "yours"]
    one.close()
    third = take_journal(tmp_path)
    assert (third.path, [record.text for record in third.left]) == (one.path, ["mine"])
    third.note("later")
    third.forget(third.left[0])
    assert again(third) == ["later"]
    two.close()


def test_what_the_next_process_notes_comes_after_what_was_left(journal):
    first = journal.note("first")
    journal.note("second")
    journal.forget(first)
    journal.close()
    later = take_journal(journal.path.parent)
    assert later.note("third").place == first.place
    assert again(later) == ["second", "third"]


def test_nobody_else_may_read_it(journal):
    assert journal.path.stat().st_mode & 0o077 == 0


FULL = """
import resource, sys
from pathlib import Path
from chatapp.turns.keep.journal import take_journal
journal = take_journal(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
print(bool(journal.note("a" * 9000)))
"""


@pytest.mark.parametrize(("limit", "noted"), [(3 * BLOCK, True), (BLOCK, False)])
def test_a_disk_that_gives_no_more_room_takes_it_and_a_broken_one_is_no_error(tmp_path, limit, noted):
    """A file that may not grow is how a full disk looks from inside."""
    said = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), str(limit)], capture_output=True, text=True
    )
    assert (said.stdout.strip(), said.stderr) == (str(noted), "")


def nested(depth: int) -> object:
    value: object = "\x00\ud800 Καλημέρα"
    for _ in range(depth):
        value = [value]
    return value


def draft() -> Draft:
    made = drafted((0, Asked(0)), (10, ItemStarted("rs", Kind.REASONING)), (20, ItemDelta("rs", "Hm\x00")))
    made.facts = {"round": 0, "model": "m"}
    return made


def test_a_write_is_read_as_it_was_noted():
    items = (
        Item(key="rs", kind=Kind.REASONING, text="Hm", wire=nested(190), round=3),
        Item(key="part-1", kind=Kind.TOOL_CALL, text="{}", call_id="c", name="n"),
    )
    measured = Measured(
        durations={"rs": 3}, timings={"rs": {"start": 1, "end": 4}}, round={"round": 3}, elapsed=4.5
    )
    write = Write(
        name="give_up",
        claim=Claim(uuid4(), 7),
        items=items,
        measured=measured,
        seen=Seen(7, draft(), 99.5),
        status="failed",
        ended={"reason": "x"},
        by="1",
    )
    text = write.to_text()
    assert text.isascii()
    found = Write.from_text(text)
    assert (found.claim, found.items, found.measured) == (write.claim, items, measured)
    assert (found.name, found.status, found.ended, found.by, found.whole) == (
        "give_up",
        "failed",
        {"reason": "x"},
        "1",
        True,
    )
    assert found.seen.draft.to_json(99.5) == draft().to_json(99.5)
    assert Write.from_text(found.to_text()).to_text() == text


def test_of_an_end_that_has_no_room_the_journal_knows_that_it_ended():
    whole = Write(
        name="finish", claim=Claim(uuid4(), 1), items=(Item(key="a", kind=Kind.ASSISTANT_MESSAGE, text="x"),)
    )
    assert (whole.bare.items, whole.bare.whole, whole.bare.claim) == ((), False, whole.claim)
    assert Write(name="append_round", claim=whole.claim, items=whole.items).bare is None
