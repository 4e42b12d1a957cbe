"""What administrators are told where conversations are closed to them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from ...pages.staff.framed import framed


def closed(request: HttpRequest) -> HttpResponse:
    return framed(request, "oversight/closed.html", "Conversations", {}, status=403)
