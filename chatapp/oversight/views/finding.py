"""Where words stand in what was said, whoever said it: the newest first, for as long as a page may take, and on from there by choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from ...core.items import Kind, clean
from ...core.named import number
from ...core.signs.visible import visible
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ...search.forms import WORDS_CAP, terms_of
from ...search.page.excerpts import MarkedText, excerpt
from ...search.store.as_read import texts_as_read
from ...search.store.everywhere import find_everywhere
from ...search.store.filling import progress
from ...store.models import Item
from ...thread.item_words import KINDS
from ..models import Look
from ..page.rows import title_of
from ..store.looks import append_looks
from .browsing import HERE
from .closed import closed
from .transcript import place_of


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """Where it was found, with a little of what is around it."""

    address: str
    title: str
    owner: str
    kind: str
    at: str
    words: Sequence[MarkedText]


def find(request: SignedIn) -> HttpResponse:
    if not may_read():
        return closed(request)
    words = clean(request.GET.get("words", "")).strip()[:WORDS_CAP]
    context: dict[str, Any] = {"words": words}
    if terms := terms_of(words):
        found = find_everywhere(terms, before=number(request.GET.get("before", "")))
        seen: set[UUID] = {item.message.conversation_id for item in found.items}
        append_looks(request.user, seen, Look.What.SEARCH, address=visitor_address(request))
        context |= {"searched": True, "before": found.before, "filled": progress().percent}
        context["back_to"] = day_and_time(found.back_to, zone_of(request))
        texts = texts_as_read(found.items)
        context["places"] = [_found_place(request, item, texts[item.pk], terms) for item in found.items]
    return framed(request, "oversight/find.html", HERE, context)


def _found_place(request: HttpRequest, item: Item, text: str, terms: tuple[str, ...]) -> FoundPlace:
    message, conversation = item.message, item.message.conversation
    return FoundPlace(
        address=place_of(conversation.pk, message.pk),
        title=title_of(conversation),
        owner=visible(conversation.owner.get_username()),
        kind=KINDS[Kind(item.kind)],
        at=day_and_time(message.created_at, zone_of(request)),
        words=excerpt(text, terms, Kind(item.kind)),
    )
