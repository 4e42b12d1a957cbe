"""`/api/cache/reasoning`, for scripts: what is kept, and clearing it. Everything is said in JSON, refusals as behind the door of chat
completions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import Error
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from ...core.items import clean
from ...core.named import number
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ..doors import chat
from ..doors.door import FORBIDDEN, INVALID, NOT_FOUND, Wrong, invalid
from ..doors.handed import place_of
from ..served.refused import NO_DATABASE
from ..store import cached
from ..store.cached import WantedEntries
from ..store.kept import memory
from .access import has_key, manager
from .told import entry_told, stats_told

USUAL, MOST = 50, 200
READ, CLEAR = ("GET", "HEAD"), ("DELETE",)
CSRF_WANTED = "A session that clears needs the token of its form, as the header X-CSRFToken."
ONE_FILTER = "`DELETE` takes `provider` or `toolCallId`, once and not empty, or nothing to clear everything."
NO_SUCH_ID = "This is no id that was handed out here."

View = Callable[[HttpRequest], HttpResponse]


def _in_json(view: View) -> View:
    @wraps(view)
    def answered(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except Wrong as wrong:
            return _refused(wrong)
        except Error:
            return _refused(NO_DATABASE)

    return answered


def _refused(wrong: Wrong) -> HttpResponse:
    response = JsonResponse(chat.DOOR.error(wrong, f"req_{uuid4().hex}"), status=wrong.status)
    if wrong.wait is not None:
        response.headers["Retry-After"] = str(wrong.wait)
    if wrong.status == 405:
        response.headers["Allow"] = ", ".join(READ + CLEAR)
    return response


@csrf_exempt  # A session is asked for its token below: a key needs none.
@never_cache
@_in_json
def reasoning_cache(request: HttpRequest) -> HttpResponse:
    if request.method not in READ + CLEAR:
        sentence = f"This takes GET and DELETE, not {request.method}."
        raise Wrong(405, INVALID, sentence, "method_not_allowed")
    who = manager(request)
    if request.method in READ:
        return JsonResponse(_shown(request, who))
    if not has_key(request) and _lacks_token(request):
        raise Wrong(403, FORBIDDEN, CSRF_WANTED, "csrf")
    return JsonResponse({"cleared": cached.clear(_to_clear(request))})


def _lacks_token(request: HttpRequest) -> bool:
    return CsrfViewMiddleware(lambda _: HttpResponse()).process_view(request, _asked, (), {}) is not None


def _asked(request: HttpRequest) -> HttpResponse:
    """What is not exempt."""
    raise NotImplementedError


def _shown(request: HttpRequest, who: User) -> dict[str, Any]:
    wanted = WantedEntries(*(clean(request.GET.get(name, "")) for name in ("provider", "model")))
    rows = cached.load_entries(wanted, _limit(request))
    words = cached.load_words(rows, who, address=visitor_address(request)) if may_read() else {}
    return {
        "stats": stats_told(cached.load_kept_by_model(), memory),
        "entries": [entry_told(row, words) for row in rows],
    }


def _limit(request: HttpRequest) -> int:
    """Of what is no number nothing is said either: the seed takes anything."""
    said = request.GET.get("limit", "").strip()
    if said.startswith("-"):
        return 1
    found = number(said, digits=9)
    if found is None:
        return MOST if said.isdecimal() else USUAL
    return min(max(found, 1), MOST)


def _to_clear(request: HttpRequest) -> WantedEntries:
    """A filter that says nothing, or that nobody knows, must not clear everything."""
    said = [(name, value) for name, values in request.GET.lists() for value in values]
    match said:
        case []:
            return cached.EVERYTHING
        case [("provider", str(provider))] if provider:
            return WantedEntries(provider=clean(provider))
        case [("toolCallId", str(given))] if given:
            place = place_of(given)
            if place is None:
                raise Wrong(404, NOT_FOUND, NO_SUCH_ID, "unknown_id", "toolCallId")
            return WantedEntries(secret=place.secret)
        case _:
            raise invalid(ONE_FILTER)
