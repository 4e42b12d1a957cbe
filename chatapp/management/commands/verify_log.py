"""Proves the store; names each breach and ends with a code that is not 0 when there is one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from chatapp.management import tables
from chatapp.store import verify_log


class Command(BaseCommand):
    help = "Check every promise of the log, and name each breach."

    def handle(self, *args: Any, **options: Any) -> None:
        tables.bring_up_to_date()
        try:
            breaches = self._tell_breaches()
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error)) from None
        if breaches:
            raise CommandError(f"{breaches} breach{'es' if breaches > 1 else ''} of the log.")
        self.stdout.write("The log is whole.")

    def _tell_breaches(self) -> int:
        breaches = 0
        for breach in verify_log():
            self.stdout.write(breach)
            breaches += 1
        return breaches
