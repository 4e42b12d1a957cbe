"""The form of a backup: whatever becomes of its file, it is read as it was written, or refused."""

from __future__ import annotations

import gzip
import io
import json
from contextlib import closing

import pytest

from chatapp.management.backup.failed import BackupFailed
from chatapp.management.backup.files import _lines, write_compressed
from chatapp.management.backup.lines import (
    Heading,
    RowSum,
    SavedLines,
    SavedTable,
    row_lines,
    saved_lines,
)

HEADING = Heading(
    made_at="2026-11-20", database="sqlite", migrations=["chatapp.0001_initial"], secret_key="00"
)
ROWS = {
    "a_table": [[1, "one"], [2, 'a "quoted"\nline'], [3, None]],
    "nothing": [],
    "b_table": [[n, "ü\u2028" * n, -(2**62)] for n in range(20)],
}


def written():
    tables = [
        SavedTable(
            name, [f"column {n}" for n in range(len(rows[0]) if rows else 1)], row_lines(name, rows), 7
        )
        for name, rows in ROWS.items()
    ]
    return b"".join(saved_lines(HEADING, tables, ["one more", "and another"]))


def read(content):
    """Everything that it holds."""
    with closing(io.BytesIO(content)) as file:
        saved = SavedLines(_lines(io.BufferedReader(file)))
        tables = {table.name: (list(table.rows), table.last) for table in saved.tables()}
        return saved.heading, tables, saved.unwritten


WHOLE = read(written())


def refused(content):
    with pytest.raises(BackupFailed) as told:
        read(content)
    return str(told.value)


def test_what_is_written_is_read():
    assert (
        HEADING,
        {name: (rows, 7) for name, rows in ROWS.items()},
        ["one more", "and another"],
    ) == WHOLE


def test_it_is_the_same_when_it_is_compressed(tmp_path):
    write_compressed(str(tmp_path / "a"), iter(written().splitlines(keepends=True)))
    assert read((tmp_path / "a").read_bytes()) == WHOLE


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "compressed"])
def test_it_is_cut_off_at_every_place(pack):
    content = pack(written())
    for end in range(len(content)):
        refused(content[:end])


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "compressed"])
@pytest.mark.parametrize("bit", [0x01, 0x20, 0x80])
def test_a_bit_is_turned_at_every_place(pack, bit):
    """Some bits say nothing: there it is read as it was."""
    content, unnoticed = pack(written()), 0
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= bit
        try:
            assert read(bytes(damaged)) == WHOLE
            unnoticed += 1
        except BackupFailed:
            continue
    assert unnoticed <= (0 if pack is bytes else 12)


@pytest.mark.parametrize("what", ["twice", "left out", "elsewhere"])
def test_no_line_is_missing_or_new_or_in_another_place(what):
    lines = written().splitlines(keepends=True)
    for n, line in enumerate(lines):
        others = lines[:n] + lines[n + 1 :]
        if what == "twice":
            refused(b"".join([*lines[:n], line, *lines[n:]]))
        elif what == "left out":
            refused(b"".join(others))
        else:
            refused(
                b"".join([*others[:n], *others[n : n + 1], line, *others[n + 1 :]])
                + b"\n" * (n + 1 == len(lines))
            )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "This is no backup of Thoughtline."),
        (b"SQLite format 3\0" + bytes(5000), "This is no backup of Thoughtline."),
        (b'{"thoughtline": "backup", "format": 2}\n', "made by a newer version"),
        (b'{"thoughtline": "backup", "format": 1}\n', "its first line is not whole"),
        (b"[" * 100_000 + b"\n", "This is no backup of Thoughtline."),
        (b"\x1f\x8b\x08\x00 no gzip at all, not at all", "This backup is damaged"),
        (b"\x1f\x8b", "cut off"),
        (written() + b"\n", "something follows its end"),
        (gzip.compress(written()) + b"and more", "cannot be unpacked"),
        (written().replace(b'{"rows"', b'{"rowz"'), "are not those that were saved"),
    ],
)
def test_what_is_no_backup_is_told(content, sentence):
    assert sentence in refused(content)


def test_a_row_whose_sum_was_forged_is_refused_where_it_is_no_row():
    table = SavedTable("a_table", ["a", "b"], [b"[1,2,3]\n"])
    assert "a row that cannot be read" in refused(b"".join(saved_lines(HEADING, [table], [])))


def test_the_sum_of_rows_knows_no_order():
    lines = list(row_lines("a", ROWS["b_table"]))
    assert RowSum.of(lines) == RowSum.of(reversed(lines))
    assert RowSum.of(lines) != RowSum.of([*lines[1:], lines[1]])


def test_every_line_is_json():
    assert all(json.loads(line) is not None for line in written().splitlines())
