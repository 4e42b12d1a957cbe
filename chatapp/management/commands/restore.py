"""Puts a backup into an empty database: all of it, as it was, or nothing."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chatapp.management import tables
from chatapp.management.backup.failed import RESTORED_WITH_BREACHES, told_in_words
from chatapp.management.backup.files import STREAM, opened
from chatapp.management.backup.lines import SavedLines, SavedTable
from chatapp.management.backup.progress import Progress
from chatapp.management.backup.restoring import refuse_unless_fit, restore, write_what_was_unwritten
from chatapp.management.backup.saving import sign_of_secret_key
from chatapp.management.proved import prove
from chatapp.search.store.filling import begin_anew

STOPPED = "It was stopped. Nothing was restored."
STOPPED_LATER = "It was stopped. All of it is restored; manage.py verify_log checks the log anew."
OTHER_KEY = (
    "The secret key is another one here than where it was saved. Put that one's DATA_DIR/secret-key, or SECRET_KEY, here "
    "before the server starts: without it thoughts that programs carry themselves no longer come back."
)
BREACHES = "All of it is restored, as it was; but {} of the log, as there must have been before."


class Command(BaseCommand):
    help = "Put a backup into this database, which must be empty."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="that manage.py backup made; - for the standard input")
        parser.add_argument("--check", action="store_true", help="only read it, and say whether it is whole")

    def handle(self, *args: Any, file: str, check: bool, **options: Any) -> None:
        with told_in_words(STOPPED):
            if check or file != STREAM:
                self._read_through(file, tell=check)
            if check:
                return
            saved = self._restore(file)
        with told_in_words(STOPPED_LATER):
            self._go_on_from(saved)

    def _read_through(self, file: str, *, tell: bool) -> None:
        """What is not whole is known before anything is written."""
        with opened(file) as lines:
            saved = SavedLines(lines)
            rows = saved.read_through()
        if tell:
            made = saved.heading
            self.stdout.write(f"It is whole: {rows:,} rows of {made.database}, saved at {made.made_at}.")

    def _restore(self, file: str) -> SavedLines:
        tables.reach()
        progress = Progress(self.stderr.write, "written or compared")
        with opened(file) as lines:
            saved = SavedLines(lines)
            refuse_unless_fit(saved.heading)
            filled = restore(saved, progress.count)
        self._tell(filled, progress.seconds)
        return saved

    def _go_on_from(self, saved: SavedLines) -> None:
        tables.bring_up_to_date()
        begin_anew()
        write_what_was_unwritten(saved)
        if saved.heading.secret_key != sign_of_secret_key():
            self.stdout.write(OTHER_KEY)
        self._verify()

    def _tell(self, filled: list[SavedTable], seconds: str) -> None:
        for table in filled:
            if table.sum.rows:
                self.stdout.write(f"  {table.name:32}{table.sum.rows:>12,}  {table.sum.digest}")
        rows = sum(table.sum.rows for table in filled)
        self.stdout.write(
            f"{rows:,} rows are here, each as it was saved: counted and compared, in {seconds}."
        )
        self.stdout.flush()

    def _verify(self) -> None:
        if breaches := prove(self.stdout.write):
            many = f"there {'are' if breaches > 1 else 'is'} {breaches} breach{'es' if breaches > 1 else ''}"
            raise CommandError(BREACHES.format(many), returncode=RESTORED_WITH_BREACHES)
        self.stdout.write("The log is whole.")
