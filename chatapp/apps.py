"""The one Django app of the project."""

from __future__ import annotations

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.core.checks import Tags, register
from django.db.backends.signals import connection_created
from django.db.models.signals import post_save


class ChatappConfig(AppConfig):
    name = "chatapp"
    verbose_name = "Chat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks
        from .accounts import names
        from .catalog import keeper as providers  # noqa: F401

        # They hear what happens in the log, or prove what stands around it.
        # They keep something going beside the turns.
        from .pages.staff import password_given
        from .reviews import verify as verify_reviews  # noqa: F401
        from .store.database.threads import make_patient

        for check in (checks.redis, checks.unencrypted_address, checks.old_packages):
            register(check, Tags.compatibility)
        connection_created.connect(make_patient, dispatch_uid="patience")
        post_save.connect(names.remember_saved, sender="auth.User")
        user_logged_in.connect(password_given.note_sign_in)
