"""What administrators are told where conversations are closed to them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def closed(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render(request, "admin/closed.html", context | {"title": "Closed"}, status=403)
