"""The one Django app of the project."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in
from django.core.checks import Tags, register
from django.db.backends.signals import connection_created
from django.db.models.signals import post_save

# They hear what happens in the log, prove what stands around it, or keep something going beside the turns. The engine knows none of
# them, so they are loaded here.
HEARD_FROM = (
    "insight.store.sums",
    "limits.store",
    "gateway.store.standing",
    "gateway.part",
    "gateway.verify",
    "gateway.store.purging",
    "gateway.cache.part",
    "branches.verify",
    "reviews.verify",
    "reviews.part",
    "reviews.store.submitting",
    "catalog.part",
    "mcp_servers.part",
    "exchange.part",
    "exchange.store.archives",
    "exchange.store.imports",
    "next_questions.part",
    "next_questions.verify",
    "search.store.folding",
    "search.part",
    "search.verify",
    "operation.part.saying",
    "operation.store.endings",
    "operation.store.taken_over",
)


class ChatappConfig(AppConfig):
    name = "chatapp"
    verbose_name = "Chat"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import checks
        from .accounts.store import names
        from .pages.staff import password_given
        from .store.database.threads import make_patient

        for module in HEARD_FROM:
            import_module(f"chatapp.{module}")
        for check in (checks.one_process, checks.unencrypted_address, checks.old_packages, checks.old_sqlite):
            register(check, Tags.compatibility)
        connection_created.connect(make_patient, dispatch_uid="patience")
        post_save.connect(names.remember_saved, sender="auth.User")
        user_logged_in.connect(password_given.note_sign_in)
