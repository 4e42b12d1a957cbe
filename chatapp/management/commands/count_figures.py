"""Makes the sums of insight and daily limits from the answers that are there. The server does so itself where none were kept yet."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from chatapp.insight.store import sums as figures
from chatapp.management import tables


class Command(BaseCommand):
    help = "Count the answers that were there before figures were kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        words = "forget the figures that are kept, and make all of them from the answers that are still there"
        parser.add_argument("--anew", action="store_true", help=words)

    def handle(self, *args: Any, anew: bool, **options: Any) -> None:
        tables.bring_up_to_date()
        if not anew:
            self.stdout.write("Figures are kept already. With --anew they are made again.")
            return
        try:
            counted = figures.count_anew()
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error)) from None
        self.stdout.write(f"{counted:,} answers were counted.")
