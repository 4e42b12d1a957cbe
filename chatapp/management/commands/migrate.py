"""Django's own, which on a slow machine may think for as long as it likes between two of its statements."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from chatapp.management.tables import unhurried


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with unhurried():
            super().handle(*args, **options)
