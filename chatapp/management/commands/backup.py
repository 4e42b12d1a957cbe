"""Saves this database as it is now into one file, while the server runs."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from chatapp.management import tables
from chatapp.management.backup.failed import told_in_words
from chatapp.management.backup.files import STREAM, write_compressed
from chatapp.management.backup.progress import Progress
from chatapp.management.backup.saving import saved
from chatapp.operation.store.upkeep import note_saved

STOPPED = "It was stopped. Nothing was saved."
PRIVATE = (
    "It holds private conversations and what people sign in with: keep it where nobody else can read it."
)
KEY = "The secret key is not in it: keep a copy of DATA_DIR/secret-key, or of SECRET_KEY, elsewhere."


class Command(BaseCommand):
    help = "Save this database as it is now into one file, while the server runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="which is not there yet; - for the standard output")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        with told_in_words(STOPPED):
            tables.reach()
            progress = Progress(self.stderr.write, "saved")
            with saved(progress.count) as lines:
                size = write_compressed(file, lines)
            note_saved(connection.display_name, size or None)
        where = "" if file == STREAM else f" in {file} ({size / 2**20:,.1f} MiB)"
        say = self.stderr.write if file == STREAM else self.stdout.write
        say(f"{progress.rows:,} rows are saved{where}, in {progress.seconds}.")
        say(f"{PRIVATE}\n{KEY}")
