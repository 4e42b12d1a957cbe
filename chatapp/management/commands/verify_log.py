"""Proves the store; names each breach and ends with a code that is not 0 when there is one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from chatapp.management import tables
from chatapp.management.proved import prove


class Command(BaseCommand):
    help = "Check every promise of the log, and name each breach."

    def handle(self, *args: Any, **options: Any) -> None:
        tables.bring_up_to_date()
        try:
            breaches = prove(self.stdout.write)
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error)) from None
        if breaches:
            raise CommandError(f"{breaches} breach{'es' if breaches > 1 else ''} of the log.")
        self.stdout.write("The log is whole.")
