"""All models that can be asked: a dialog over the page, or a page of its own."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ..pages.commands import by_script
from ..providers.configured import UnknownModel
from ..turns.engine import engine
from .page import models_shown
from .page.models_shown import ProviderGroup


@require_safe
@login_required
def models(request: HttpRequest) -> HttpResponse:
    search = request.GET.get("q", "").strip()
    catalog = engine().catalog
    groups = models_shown.all_models(async_to_sync(catalog.models_soon)(), search)
    unlisted, sentence = _by_full_name(search) if search and not groups else ((), "")
    context = {"search": search, "groups": groups, "unlisted": unlisted, "sentence": sentence}
    return render(
        request, "catalog/_models_dialog.html" if by_script(request) else "catalog/models.html", context
    )


def _by_full_name(name: str) -> tuple[tuple[ProviderGroup, ...], str]:
    """A model that its provider does not list can be asked by its full name; else why not."""
    try:
        spec = engine().catalog.offered(name)[1]
    except UnknownModel as error:
        return (), str(error)
    return (ProviderGroup(spec.provider, "Not listed", (models_shown.choice(spec),)),), ""
