"""Moves everything into another, empty database, which is then used in place of this one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from chatapp.management import tables
from chatapp.management.backup.failed import RESTORED_WITH_BREACHES, told_in_words
from chatapp.management.backup.moving import (
    move,
    refuse_bad_address,
    refuse_while_in_use,
    write_what_was_left,
)
from chatapp.management.backup.progress import Progress

STOPPED = "It was stopped. This database is as it was; start the server as before."
MOVED = (
    "Everything is moved. From now on start the server with DATABASE_URL as --to named it, and with the same DATA_DIR. "
    "What is here ({}) was not changed: keep it until you have seen the other one at work."
)


class Command(BaseCommand):
    help = "Move everything into another, empty database, while no server runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--to", required=True, help="its address, as DATABASE_URL names it: postgres://…")

    def handle(self, *args: Any, to: str, **options: Any) -> None:
        with told_in_words(STOPPED):
            refuse_bad_address(to)
            tables.bring_up_to_date()
            refuse_while_in_use()
            write_what_was_left()
            code = move(to, Progress(self.stderr.write, "sent"))
        if code not in (0, RESTORED_WITH_BREACHES):
            sys.exit(code)
        self.stdout.write(MOVED.format(f"{connection.display_name}, {connection.settings_dict['NAME']}"))
        sys.exit(code)
