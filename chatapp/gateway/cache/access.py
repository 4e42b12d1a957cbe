"""Who manages: a member of staff who is signed in and has given their password, or a key of theirs that is marked for it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest

from ...pages.staff import password_given
from ...pages.visitors import visitor_address
from ..doors.door import FORBIDDEN, NOT_FOUND, UNKNOWN_KEY, Wrong
from ..served.http import secret_in
from ..served.serving import opened
from ..store.keys import find_key, manages

NO_ONE = "This needs a key that allows management, as `Authorization: Bearer …` or `x-api-key`, or a session of an administrator."
NO_MANAGEMENT = "This key does not allow management. An administrator makes one that does at /settings/keys/."
GIVE_AGAIN = "Your password was given too long ago: give it again at /accounts/again/."
NOTHING = "There is nothing here."


def has_key(request: HttpRequest) -> bool:
    """Whoever comes with a key is asked for it alone, whatever session their browser has."""
    return "Authorization" in request.headers or "X-Api-Key" in request.headers


def manager(request: HttpRequest) -> User:
    """Wrong where they are none. To somebody who is signed in and is none, nothing is here."""
    return _by_key(request) if has_key(request) else _by_session(request)


def _by_key(request: HttpRequest) -> User:
    headers = {name.lower(): value for name, value in request.headers.items()}
    key = opened(find_key(secret_in(headers)), visitor_address(request))
    if not manages(key):
        raise Wrong(403, FORBIDDEN, NO_MANAGEMENT, "management_not_allowed")
    return key.owner


def _by_session(request: HttpRequest) -> User:
    if not request.user.is_authenticated:
        raise Wrong(401, UNKNOWN_KEY, NO_ONE, "invalid_api_key")
    if not (request.user.is_active and request.user.is_staff):
        raise Wrong(404, NOT_FOUND, NOTHING, "unknown_url")
    if not password_given.holds(request):
        raise Wrong(403, FORBIDDEN, GIVE_AGAIN, "password_needed")
    return request.user
