"""`manage.py backup` and `restore`: every row as it was, or nothing at all, from either database to either."""

from __future__ import annotations

import gzip
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatapp.management.backup.lines import CUT
from tests.support.places import OWN, PAIRS, SQLITE, Place, a_place, ends_with
from tests.support.shell import Shell

pytestmark = pytest.mark.both

# What a process keeps between being fed and reading, and more.
IN_THE_PIPE = 300_000
PEOPLE = "SELECT count(*) FROM auth_user"


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> Iterator[Place]:
    """Somebody has been here, and said everything that can be said."""
    with a_place(OWN, tmp_path_factory.mktemp("full")) as place:
        place.tells("hostile")
        yield place


@pytest.fixture(scope="module")
def backup(full, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("kept") / "a.backup"
    full.does("backup", str(file))
    return file


@pytest.fixture
def empty(tmp_path) -> Iterator[Place]:
    with a_place(OWN, tmp_path / "empty") as place:
        yield place


def lines_of(backup):
    return gzip.decompress(backup.read_bytes())


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_value_comes_back_as_it_was(tmp_path, source, target):
    file = tmp_path / "a.backup"
    with a_place(source, tmp_path / "from") as here, a_place(target, tmp_path / "to") as there:
        here.tells("hostile")
        here.does("backup", str(file))
        said = there.does("restore", str(file))
        assert "each as it was saved: counted and compared" in said
        assert said.endswith("The log is whole.\n")
        assert there.tells("rows") == here.tells("rows")
        assert there.tells("next_numbers") == here.tells("next_numbers")


def test_what_is_restored_is_made_ready_to_be_found_anew(backup, empty):
    """Also where somebody has looked through what was there before."""
    empty.tells("looked_through")
    empty.does("restore", str(backup))
    assert empty.tells("found", words="right to left") == {"before": 0, "ready": 100, "texts": 3}
    assert empty.tells("breaches") == []


@pytest.mark.one_process("its secret key is in its folder")
def test_what_is_restored_is_saved_as_the_same_lines(full, backup, empty, tmp_path):
    key = (full.folder / "secret-key").read_text().strip()
    assert "secret key" not in empty.does("restore", str(backup), SECRET_KEY=key)
    empty.does("backup", str(tmp_path / "again.backup"))
    before, again = (sorted(lines_of(file).splitlines())[:-3] for file in (backup, tmp_path / "again.backup"))
    assert len(before) > 200
    assert before == again


@pytest.mark.one_process("its secret key is in its folder")
def test_a_backup_is_for_its_owner_alone_and_says_what_it_holds(full, tmp_path):
    said = full.does("backup", str(tmp_path / "a.backup"))
    assert stat.S_IMODE((tmp_path / "a.backup").stat().st_mode) == 0o600
    assert "private conversations" in said
    assert "The secret key is not in it" in said
    key = (full.folder / "secret-key").read_text().strip()
    assert key.encode() not in lines_of(tmp_path / "a.backup")
    assert [file.name for file in tmp_path.iterdir()] == ["a.backup"]


def test_a_place_without_tables_gets_them(backup, tmp_path):
    with a_place(OWN, tmp_path / "bare", tables=False) as bare:
        bare.does("restore", str(backup))
        assert bare.tells("breaches") == []


def test_who_lives_tries_and_is_signed_in_stays_where_it_is(empty, tmp_path):
    with a_place(OWN, tmp_path / "from") as here:
        here.tells("beats")
        here.tells("person", name="alice")
        assert here.tells("of_the_moment") == [1, 1, 1]
        here.does("backup", str(tmp_path / "a.backup"))
    empty.does("restore", str(tmp_path / "a.backup"))
    assert empty.tells("of_the_moment") == [0, 0, 0]
    assert empty.sql(PEOPLE) == [(1,)]


def test_what_was_still_to_be_written_is_written(empty, tmp_path):
    with a_place(OWN, tmp_path / "from") as here:
        answer = here.tells("stop_is_noted")
        here.does("backup", str(tmp_path / "a.backup"))
        assert here.tells("status", message=answer) == "running"
    empty.does("restore", str(tmp_path / "a.backup"))
    assert empty.tells("status", message=answer) == "stopped"


def test_what_a_folder_has_still_to_write_is_not_written_into_another_database(backup, empty, tmp_path):
    with a_place(SQLITE, tmp_path / "other") as other:
        other.tells("stop_is_noted")
        (empty.folder / "run").mkdir(exist_ok=True)
        (empty.folder / "run" / "1.journal").write_bytes((other.folder / "run" / "1.journal").read_bytes())
    ended = empty.run("restore", str(backup))
    assert (ended.returncode, "had still to write" in ended.stderr) == (1, True)
    assert empty.is_untouched


def test_only_an_empty_database_is_filled(full, backup):
    before = full.tells("rows")
    ended = full.run("restore", str(backup))
    assert ended.returncode == 1
    assert "This database is not empty: auth_user holds rows." in ended.stderr
    assert full.tells("rows") == before


@pytest.mark.one_process("its secret key is in its folder")
def test_whoever_has_another_secret_key_is_told(backup, empty):
    assert "The secret key is another one here" in empty.does("restore", str(backup))


def test_breaches_come_along_and_are_named(empty, tmp_path):
    with a_place(OWN, tmp_path / "from") as here:
        here.tells("hostile")
        here.sql("UPDATE chatapp_message SET next_seq = 7 WHERE role = 'assistant'")
        here.does("backup", str(tmp_path / "a.backup"))
        ended = empty.run("restore", str(tmp_path / "a.backup"))
        assert ended.returncode == 3
        assert ended.stdout.count("its items are numbered") == 12
        assert "All of it is restored, as it was; but there are 12 breaches" in ended.stderr
        assert empty.tells("rows") == here.tells("rows")


# What is not whole


def test_a_file_that_is_cut_off_is_refused_before_anything_is_written(backup, empty, tmp_path):
    content = backup.read_bytes()
    cut = tmp_path / "cut.backup"
    cut.write_bytes(content[:-100])
    ended = empty.run("restore", str(cut))
    assert ended.returncode == 1
    assert ended.stderr.endswith(f"CommandError: {CUT}\n")
    assert empty.is_untouched


def test_lines_that_stop_coming_leave_nothing(backup, empty):
    with empty.begins("restore", "-") as restoring:
        code, said = ends_with(restoring, lines_of(backup)[:-20])
    assert (code, "cut off" in said) == (1, True), said
    assert empty.is_untouched


def test_a_row_that_was_changed_on_its_way_leaves_nothing(backup, empty):
    lines = lines_of(backup)
    assert lines.count("алиса".encode()) == 1
    with empty.begins("restore", "-") as restoring:
        code, said = ends_with(restoring, lines.replace("алиса".encode(), "алика".encode()))
    assert (code, "the rows of auth_user are not those that were saved" in said) == (1, True), said
    assert empty.is_untouched


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_whoever_is_stopped_in_the_middle_leaves_nothing_and_begins_anew(backup, empty, how):
    lines = lines_of(backup)
    assert len(lines) > 4 * IN_THE_PIPE
    with empty.begins("restore", "-") as restoring:
        restoring.stdin.write(lines[:-IN_THE_PIPE])
        restoring.stdin.flush()
        # So much was taken that it is at work on the rows, and has not seen their end.
        restoring.send_signal(how)
        code, said = ends_with(restoring)
    if how is signal.SIGTERM:
        assert (code, "It was stopped. Nothing was restored." in said) == (130, True), said
    assert empty.is_untouched
    if how is signal.SIGKILL:
        empty.does("restore", str(backup))
        assert empty.sql(PEOPLE) == [(1,)]


def test_whoever_is_stopped_while_saving_leaves_no_file(full, tmp_path):
    """The next one to the same file begins where nothing is."""
    file = tmp_path / "a.backup"
    limited = "ulimit -f 100; exec {} manage.py backup {}"
    ended = Shell.run(_InAShell(full, limited.format(full.command()[0], file)))
    assert ended.returncode == 1
    assert "CommandError: The disk cannot be used:" in ended.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.backup.part").write_bytes(b"of one that was killed")
    full.does("backup", str(file))
    assert list(tmp_path.iterdir()) == [file]
    full.does("restore", str(file), "--check")


class _InAShell(Shell):
    def __init__(self, place: Place, line: str) -> None:
        self.environment, self._line = place.environment, line

    def command(self, *words: str) -> list[str]:
        return ["sh", "-c", self._line]


def test_a_full_disk_is_told_and_what_goes_to_a_program_is_not_whole(full):
    ended = Shell.run(_InAShell(full, f"{full.command()[0]} manage.py backup - > /dev/full"))
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert "rows are saved" not in ended.stderr


@pytest.mark.skipif(OWN != SQLITE, reason="PostgreSQL's disk is not ours to fill")
def test_a_restore_that_has_no_room_leaves_nothing(backup, empty):
    line = f"ulimit -f 3000; exec {empty.command()[0]} manage.py restore {backup}"
    ended = Shell.run(_InAShell(empty, line))
    assert ended.returncode == 1
    assert "cannot be used" in ended.stderr
    assert empty.is_untouched


def test_a_file_that_is_there_already_stays(full, backup):
    before = backup.read_bytes()
    ended = full.run("backup", str(backup))
    assert (ended.returncode, "is there already" in ended.stderr) == (1, True)
    assert backup.read_bytes() == before


def test_a_file_that_is_not_there_is_told(empty):
    missing = empty.run("restore", "nowhere.backup")
    assert (missing.returncode, "No such file" in missing.stderr) == (1, True), missing.stderr


def test_a_file_can_be_checked_where_nothing_is_restored(full, backup):
    said = full.does("restore", str(backup), "--check")
    rows = lines_of(backup).count(b"\n[")
    assert said.startswith(f"It is whole: {rows:,} rows")


# Versions


def migrate(place, state):
    place.does("migrate", "chatapp", state, "--no-input", "--verbosity=0")


@pytest.fixture
def older(tmp_path) -> Iterator[Path]:
    """Saved by this version from tables of the one before, which nobody has brought up to date."""
    with a_place(OWN, tmp_path / "older", tables=False) as place:
        place.does("migrate", "--no-input", "--verbosity=0")
        migrate(place, "0013")
        columns = (
            "username, first_name, last_name, email, password, is_superuser, is_staff, is_active, date_joined"
        )
        values = "'old', '', '', '', '!', {0}, {0}, {1}, '2026-01-01 00:00:00'".format(
            *(("0", "1") if OWN == SQLITE else ("false", "true"))
        )
        place.sql(f"INSERT INTO auth_user ({columns}) VALUES ({values})")
        place.does("backup", str(tmp_path / "older.backup"))
    return tmp_path / "older.backup"


def test_a_backup_of_an_older_version_is_brought_up_to_date_where_there_are_no_tables(older, tmp_path):
    with a_place(OWN, tmp_path / "bare", tables=False) as bare:
        bare.does("restore", str(older))
        assert bare.sql(PEOPLE) == [(1,)]
        assert bare.tells("breaches") == []


def test_a_backup_of_an_older_version_is_refused_where_there_are_tables(older, empty):
    ended = empty.run("restore", str(older))
    assert (ended.returncode, "without chatapp.00" in ended.stderr) == (1, True)
    assert empty.is_untouched


def test_a_backup_of_a_newer_version_is_refused(backup, tmp_path):
    lines = lines_of(backup).replace(b'"chatapp.0014_', b'"chatapp.9999_ours","chatapp.0014_', 1)
    with a_place(OWN, tmp_path / "bare", tables=False) as bare, bare.begins("restore", "-") as restoring:
        code, said = ends_with(restoring, lines)
    assert (code, "newer version, which has chatapp.9999_ours" in said) == (1, True), said


def test_where_there_are_no_tables_nothing_is_saved(tmp_path):
    with a_place(OWN, tmp_path / "bare", tables=False) as bare:
        ended = bare.run("backup", str(tmp_path / "a.backup"))
    assert (ended.returncode, "has no tables yet" in ended.stderr) == (1, True)
    assert not (tmp_path / "a.backup").exists()


@pytest.mark.skipif(OWN == SQLITE, reason="without PostgreSQL nobody refuses it")
@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "UPDATE auth_user SET first_name = 'a' || char(0) || 'b'",
            "first_name of the row 1 in auth_user: it holds U+0000.",
        ),
        (
            "UPDATE auth_user SET first_name = printf('%200c', 'x')",
            "it is 200 letters long, and 150 is the most.",
        ),
        ("UPDATE chatapp_message SET attempt = 3000000000", "is no whole number from 0 to 2147483647."),
        ("UPDATE auth_user SET last_login = 'yesterday'", "last_login holds 'yesterday'"),
        ("UPDATE auth_user SET first_name = x'ff00'", "holds bytes that are no text"),
    ],
)
def test_what_sqlite_holds_and_postgresql_does_not_is_named(empty, tmp_path, statement, sentence):
    with a_place(SQLITE, tmp_path / "from") as here:
        here.tells("hostile")
        here.sql(statement)
        saving = here.run("backup", str(tmp_path / "a.backup"))
        restoring = empty.run("restore", str(tmp_path / "a.backup"))
    assert restoring.returncode == 1
    assert sentence in saving.stderr + restoring.stderr
    assert empty.is_untouched
