"""The first page: which models can be asked, and how to get more."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ...turns.engine import engine


@require_safe
@login_required
async def models(request: HttpRequest) -> HttpResponse:
    context = {
        "user": await request.auser(),
        "listings": await engine().catalog.models(),
        "incomplete": settings.INCOMPLETE_PROVIDERS,
        "default": await engine().default_model(),
    }
    return render(request, "home.html", context)
