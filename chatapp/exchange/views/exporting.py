"""A conversation goes out: a dialog that asks how, and the file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from ...pages.access import my_conversation
from ...pages.commands import by_script, refused
from ...pages.in_address import id_in
from ...pages.limiting.wholesale import EXPORTS, refuse_too_many
from ...pages.signed_in import SignedIn
from ...store import Refused
from ...store.models import Conversation
from ..formats.ours import SCHEMA
from ..forms import ExportForm, Format
from ..out.as_assistant_ui import as_assistant_ui
from ..out.as_json import as_json
from ..out.as_markdown import Told, as_markdown
from ..out.chosen import Chosen, choose
from ..page.exporting import FORMATS, extents_to_choose, name_of
from .downloads import download

_KINDS = {Format.MARKDOWN: "text/markdown; charset=utf-8"}


@require_safe
@login_required
def export(request: SignedIn, pk: UUID) -> HttpResponseBase:
    """The file where the address names a format, else what to choose from. `?at=` is the message with which its branch ends."""
    mine, at = my_conversation(request.user, pk), id_in(request, "at")
    if "format" in request.GET:
        return _file(request, mine, at)
    extents = extents_to_choose(mine, request.user, at)
    if extents is None:
        raise Http404
    context = {
        "conversation": mine,
        "at": at,
        "extents": extents,
        "formats": FORMATS,
        "name": name_of(mine, Format.MARKDOWN).removesuffix(".md"),
    }
    return render(request, "exchange/_export.html" if by_script(request) else "exchange/export.html", context)


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    return JsonResponse(SCHEMA, json_dumps_params={"ensure_ascii": False, "indent": 2})


def _file(request: SignedIn, mine: Conversation, at: UUID | None) -> HttpResponseBase:
    form = ExportForm(request.GET)
    if not form.is_valid():
        raise BadRequest("There is no such format, or no such extent.")
    try:
        refuse_too_many(request.user, EXPORTS)
    except Refused as refusal:
        return refused(request, str(refusal))
    chosen = choose(mine, request.user, form.extent_chosen, at=at)
    if chosen is None:
        raise Http404
    format = Format(form.cleaned_data["format"])
    kind = _KINDS.get(format, "application/json")
    return download(_pieces(chosen, format, form), name=name_of(mine, format), content_type=kind)


def _pieces(chosen: Chosen, format: Format, form: ExportForm) -> Iterator[bytes]:
    match format:
        case Format.MARKDOWN:
            return as_markdown(chosen, Told(form.with_thoughts, form.cleaned_data["tools"]))
        case Format.JSON:
            made = {"at": timezone.now().astimezone(UTC).isoformat(), "extent": form.extent_chosen}
            return as_json([chosen], made)
        case Format.ASSISTANT_UI:
            return as_assistant_ui(chosen)
