"""Django's check. Where many processes are to work together it also asks what they need, which no start would wait for."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import register
from django.core.management.commands import check


class Command(check.Command):
    def handle(self, *app_labels: Any, **options: Any) -> None:
        if settings.REDIS_URL:
            # Their packages are there only where they are needed.
            from chatapp.management.many_processes import CHECKS

            for each in CHECKS:
                register(each, "many")
        super().handle(*app_labels, **options)
