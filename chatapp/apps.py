"""The one Django app of the project."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import Tags, register
from django.db.backends.signals import connection_created


class ChatappConfig(AppConfig):
    name = "chatapp"
    verbose_name = "Chat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks
        from .store.database import make_patient

        for check in (checks.redis, checks.unencrypted_address, checks.old_packages):
            register(check, Tags.compatibility)
        connection_created.connect(make_patient, dispatch_uid="patience")
