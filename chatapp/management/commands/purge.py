"""Removes for good what was deleted more than a week ago. The server does so itself, once an hour."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from chatapp.management import tables
from chatapp.store import deleting


class Command(BaseCommand):
    help = "Remove for good what was deleted long ago."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=deleting.KEPT.days, help="how long ago at least")

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        if not 1 <= days <= 36_500:
            raise CommandError(
                "--days must be a number from 1 to 36500: what was deleted today can be undone."
            )
        tables.bring_up_to_date()
        try:
            removed = deleting.purge(timedelta(days=days))
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error)) from None
        self.stdout.write(f"{removed} messages were removed for good.")
