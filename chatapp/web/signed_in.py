"""Who is signed in: for what stays open longer than a request."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest

Session = import_module(settings.SESSION_ENGINE).SessionStore


def who_is_signed_in(session: str) -> Any:
    """By the session as it is stored now, the password, and whether the account is open; else nobody."""
    request = HttpRequest()
    request.session = Session(session or None)
    return get_user(request)
