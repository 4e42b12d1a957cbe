"""What every page knows of the person who looks at it. It is asked for only where a template shows it."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from ...pages.models import Preference
from ...pages.preferences import preference_of
from ...pages.signed_in import SignedIn
from ...reviews.store.marks import load_marks
from .sidebar import sidebar, toast


def person(request: HttpRequest) -> dict[str, Any]:
    # The list and the marks are shown to nobody else.
    mine = cast(SignedIn, request)
    return {
        "preference": SimpleLazyObject(lambda: _preference(request)),
        "sidebar": SimpleLazyObject(lambda: sidebar(mine)),
        "marks": SimpleLazyObject(lambda: load_marks(mine.user)),
        "toast": SimpleLazyObject(lambda: toast(request)),
    }


def _preference(request: HttpRequest) -> Preference:
    user = getattr(request, "user", None)
    return preference_of(user) if user is not None and user.is_authenticated else Preference()
