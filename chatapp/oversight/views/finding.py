"""Where words stand in what was said: a search through the newest items, a bounded number of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from ...core.items import Kind, clean
from ...core.named import number
from ...core.signs.visible import Leave, visible
from ...pages.elements import message_id
from ...pages.signed_in import SignedIn
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ...thread.item_words import KINDS
from ..models import Look
from ..store.browsing import Hit, find_words
from ..store.looks import append_looks
from .closed import closed

LEAST, AROUND, LONGEST = 3, 90, 200


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Where it was found, with a little of what is around it."""

    address: str
    title: str
    owner: str
    kind: str
    at: str
    before: str
    word: str
    after: str


def find(request: SignedIn, context: dict[str, Any]) -> HttpResponse:
    if not may_read():
        return closed(request, context)
    words = clean(request.GET.get("words", "")).strip()[:LONGEST]
    context |= {"title": "Search in texts", "words": words, "least": LEAST}
    if len(words) >= LEAST:
        found = find_words(words, before=number(request.GET.get("before", "")))
        seen: set[UUID] = {hit.conversation.pk for hit in found.rows}
        append_looks(request.user, seen, Look.What.SEARCH, address=visitor_address(request))
        context |= {"searched": True, "before": found.before}
        context["places"] = [_found_place(request, hit, words) for hit in found.rows]
    return render(request, "admin/chatapp/conversation/find.html", context)


def _found_place(request: HttpRequest, hit: Hit, words: str) -> FoundPlace:
    begins = max(hit.text.lower().find(words.lower()), 0)
    ends = begins + len(words)
    transcript = reverse("admin:transcript", args=[hit.conversation.pk])
    return FoundPlace(
        address=f"{transcript}?at={hit.message.pk}#{message_id(hit.message.pk)}",
        title=visible(hit.conversation.title, Leave.PROSE) or "Without a title",
        owner=visible(hit.conversation.owner.get_username()),
        kind=KINDS[Kind(hit.kind)],
        at=day_and_time(hit.message.created_at, zone_of(request)),
        before=visible(hit.text[max(begins - AROUND, 0) : begins], Leave.PROSE),
        word=visible(hit.text[begins:ends], Leave.PROSE),
        after=visible(hit.text[ends : ends + AROUND], Leave.PROSE),
    )
