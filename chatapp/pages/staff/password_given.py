"""When somebody gave their password in this session. The doors of administrators ask for it again after an hour."""

from __future__ import annotations

import time
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest

GIVEN_AT = "password_given_at"
HOLDS_SECONDS = 3600


def note_given(request: HttpRequest) -> None:
    request.session[GIVEN_AT] = time.time()


def note_sign_in(sender: type, request: HttpRequest, user: AbstractBaseUser, **_: Any) -> None:
    """Signing in counts as giving it."""
    note_given(request)


def holds(request: HttpRequest) -> bool:
    ago: float = time.time() - request.session.get(GIVEN_AT, 0)
    return 0 <= ago < HOLDS_SECONDS
