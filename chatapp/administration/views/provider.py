"""A provider: how it is today, and what it answers to one small question, asked as anybody asks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from ...catalog.models import ModelProvider
from ...catalog.page.providers import ProviderLine, provider_lines
from ...conversations.store import archive
from ...conversations.views.starting import once
from ...core.items import clean
from ...core.model_name import ModelName
from ...core.plural import many
from ...core.signs.visible import Leave, visible
from ...pages.access import readable_message
from ...pages.commands import by_script, submission_named, told
from ...pages.in_address import id_in
from ...pages.operations import put
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...pages.words.days import zone_of
from ...store import Refused, load_answer
from ...store.models import LIVE, Message, Role
from ...thread.message import Standpoint
from ...thread.page import for_others
from ...turns.engine import engine
from .. import store
from ..page.providers import ProviderToday, providers_today
from .today import by_model, by_provider

HERE = "Providers"
QUESTION, LONGEST = "Which is larger, 9.11 or 9.9? Answer in one sentence.", 300
MOST_MODELS = 200
WAITS = "It has been asked. What comes of it stands here by itself."


def provider(request: SignedIn, name: str) -> HttpResponse:
    line = _line(name)
    if request.method == "POST":
        return _try(request, line)
    tried = _tried(request)
    if by_script(request):
        drawn = render_to_string("administration/_tried.html", {"tried": tried}, request)
        return told([put(drawn)])
    return _page(request, line, tried=tried)


def _page(request: SignedIn, line: ProviderLine, *, status: int = 200, **more: Any) -> HttpResponse:
    catalog = engine().catalog
    models = [spec for spec in catalog.listed() if ModelName.of(spec.id).provider == line.name]
    context = {
        "line": line,
        "today": _today(line),
        "models": [(spec.id, visible(spec.label or spec.name)) for spec in models[:MOST_MODELS]],
        "own": not line.row,
        "question": QUESTION,
        "counted": many(len(models), "model"),
        **more,
    }
    return framed(request, "administration/provider.html", HERE, context, status=status)


def _line(name: str) -> ProviderLine:
    catalog = engine().catalog
    listings = async_to_sync(catalog.listings_soon)()
    lines = provider_lines(catalog, listings, ModelProvider.objects.order_by("created_at", "pk"))
    found = next((line for line in lines if line.name == name), None)
    if found is None:
        raise Http404
    return found


def _today(line: ProviderLine) -> ProviderToday:
    now = timezone.now()
    hour = store.load_hour(now - timedelta(hours=1))
    return providers_today([line], by_provider(by_model(now), line.name), hour, now)[0]


def _try(request: SignedIn, line: ProviderLine) -> HttpResponse:
    """A turn like any other, in a conversation of one's own that is archived at once."""
    model = request.POST.get("model", "")
    question = clean(request.POST.get("question", "")).strip()[:LONGEST]
    try:
        if ModelName.of(model).provider != line.name or not question:
            raise Refused("Choose a model of this provider, and write a question.")
        asked = engine().write_question
        key = submission_named(request)
        started = once(
            request, asked, None, question, author=request.user, model=model, tools=[], submission=key
        )
    except Refused as refusal:
        return _page(request, line, refused=str(refusal), chosen=model, status=409)
    archive(started.conversation, archived=True)
    address = reverse("admin:try_provider", args=[line.name])
    return redirect(f"{address}?tried={started.answer}#tried")


def _tried(request: SignedIn) -> dict[str, Any] | None:
    """One's own question, and what came of it so far, by the thread's own partials."""
    pk = id_in(request, "tried")
    if pk is None:
        return None
    row = readable_message(request.user, pk)
    if row.role != Role.ASSISTANT:
        raise Http404
    return {
        "html": _drawn(request, row.pk),
        "is_live": row.status in LIVE,
        "pk": row.pk,
        "conversation": row.conversation_id,
    }


def _drawn(request: SignedIn, pk: UUID) -> SafeString:
    answer = load_answer(pk)
    row: Message = answer.row
    look = Standpoint(
        viewer=request.user,
        leaf=None,
        zone=zone_of(request),
        tools=engine().tools,
        acts="",
        end="oversight/_end.html",
    )
    waits = WAITS if row.status in LIVE else ""
    shown = for_others(row, answer.items, look, engine().catalog.label(row.model), waits=waits)
    return SafeString(visible(shown.html(), Leave.PROSE))
