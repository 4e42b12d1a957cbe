"""What is answered while the database cannot do its work: words in the page's own place, or a page that can send the same again."""

from __future__ import annotations

import logging
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.utils.html import escape

from ..config.patience import stop_waiting
from ..store.database.trouble import DatabaseTrouble, trouble_in
from .commands import by_script

log = logging.getLogger(__name__)

RETRY_SECONDS = 5
NOTHING_LOST = "Nothing that you wrote is lost; try again in a moment."
# What people type; whatever else a form holds goes along unseen.
_TYPED = ("text", "question", "words", "reason", "instructions", "title")


class Unavailable(MiddlewareMixin):
    """For what a view could not do. What another middleware could not do comes to the views of errors."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        trouble = trouble_in(exception)
        return unavailable(request, trouble) if trouble else None


def unavailable(request: HttpRequest, trouble: DatabaseTrouble) -> HttpResponse:
    """It asks nobody who looks: that may be what cannot be told."""
    stop_waiting()
    log.warning("%s %s %s", trouble, request.method, request.path)
    response = HttpResponse(
        _page_or_sentence(request, trouble), status=503, headers={"Retry-After": str(RETRY_SECONDS)}
    )
    # Else Django would call it an error of ours.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _page_or_sentence(request: HttpRequest, trouble: DatabaseTrouble) -> str:
    if by_script(request):
        return escape(f"{trouble} {NOTHING_LOST}")
    context: dict[str, Any] = {
        "sentence": trouble,
        "nothing_lost": NOTHING_LOST,
        "path": request.get_full_path(),
    }
    if request.method == "POST" and not any("password" in name for name in request.POST):
        context |= {"again": True, "csrf_token": get_token(request), **_fields_sent(request.POST)}
    return render_to_string("503.html", context)


def _fields_sent(form: QueryDict) -> dict[str, list[tuple[str, str]]]:
    """With the key of the form, so that what was done all the same is not done twice."""
    sent = [(name, value) for name, values in form.lists() for value in map(str, values)]
    typed = [(name, value) for name, value in sent if name in _TYPED and value]
    beside = [field for field in sent if field not in typed and field[0] != "csrfmiddlewaretoken"]
    return {"typed": typed, "beside": beside}
