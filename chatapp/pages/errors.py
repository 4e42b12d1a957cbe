"""What is shown when a request came to nothing. Django's own views of this read the form first, and fail once more where
the form was the nonsense."""

from __future__ import annotations

import sys

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from ..store.database.trouble import trouble_in
from .unavailable import unavailable


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Also where a session could not be written, which Django takes for one that was ended meanwhile."""
    if trouble := trouble_in(exception):
        return unavailable(request, trouble)
    return _error_page(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error_page(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _error_page(request, 404)


def broken(request: HttpRequest) -> HttpResponse:
    """It asks nobody who looks: that may be what broke. A middleware may have needed the database."""
    if trouble := trouble_in(sys.exception()):
        return unavailable(request, trouble)
    return HttpResponse(render_to_string("500.html"), status=500)


def _error_page(request: HttpRequest, status: int) -> HttpResponse:
    """Django asks for it in a thread of its own, where nobody else would give the connection back."""
    try:
        return render(request, f"{status}.html", status=status)
    finally:
        if not connection.in_atomic_block:
            connection.close()
