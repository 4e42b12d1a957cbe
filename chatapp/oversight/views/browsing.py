"""The list of conversations, the same as a file, and the way from one of them to the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from ...core.model_name import ModelName
from ...core.named import number
from ...core.signs.visible import visible
from ...pages.csv import Cell, sheet
from ...pages.in_address import id_in
from ...pages.signed_in import SignedIn
from ...pages.staff.bounded import MOST_COUNTED
from ...pages.staff.framed import framed
from ...pages.staff.rights import may_read
from ...pages.words.amounts import dollars
from ...pages.words.days import zone_of
from ...store.models import Conversation
from ..forms import DAYS, REVIEWS, STATES, THOUGHT, ListAsked, asked_for, chips
from ..page.rows import ConversationRow, rows_of, title_of
from ..store import browsing, listing

LIST = "admin:chatapp_conversation_changelist"
HERE, A_PAGE = "Conversations", 50
HEAD = (
    "id",
    "title",
    "owner",
    "models",
    "messages",
    "branches",
    "thinking ms",
    "tokens read",
    "tokens written",
)


@dataclass(frozen=True, slots=True)
class ListPage:
    """Rows `first` to `last` of `count`, which are not counted beyond a limit."""

    rows: Sequence[ConversationRow]
    first: int
    last: int
    count: int
    newer: int | None
    older: int | None

    @property
    def is_cut(self) -> bool:
        return self.count >= MOST_COUNTED


def browse(request: SignedIn) -> HttpResponse:
    asked, zone = asked_for(request.GET), zone_of(request)
    page = _page(listing.narrowed(asked, zone), number(request.GET.get("page", "")) or 1, zone)
    people, models = listing.load_people(asked.owner), browsing.load_models()
    context = {
        "asked": asked,
        "page": page,
        "chips": chips(asked, _name_of(people, asked.owner)),
        "may_read": may_read(),
        "people": [(person.pk, visible(person.get_username())) for person in people],
        "models": [(name, visible(name)) for name in dict.fromkeys([*models, *filter(None, [asked.model])])],
        "providers": [(name, visible(name)) for name in _providers(models, asked.provider)],
        "states": [(name, words) for name, (words, _) in STATES.items()],
        "days": list(DAYS.items()),
        "thought": [(seconds, _least(seconds)) for seconds in THOUGHT],
        "reviews": list(REVIEWS.items()),
    }
    return framed(request, "oversight/conversations.html", HERE, context)


def _page(found: QuerySet[Conversation], wanted: int, zone: tzinfo) -> ListPage:
    count = found.order_by()[:MOST_COUNTED].count()
    wanted = max(1, min(wanted, -(-count // A_PAGE)))
    begin = (wanted - 1) * A_PAGE
    shown = _drawn(list(found[begin : begin + A_PAGE]), zone)
    last = begin + len(shown)
    return ListPage(
        shown, begin + 1, last, count, wanted - 1 if begin else None, wanted + 1 if last < count else None
    )


def _drawn(rows: Sequence[Conversation], zone: tzinfo) -> list[ConversationRow]:
    pks = [row.pk for row in rows]
    return rows_of(rows, browsing.load_figures(pks), listing.load_reviewed(pks), zone, timezone.now())


def _name_of(people: Sequence[User], pk: int | None) -> str:
    return next((visible(person.get_username()) for person in people if person.pk == pk), "nobody")


def _providers(models: Sequence[str], chosen: str) -> list[str]:
    return sorted({*(ModelName.of(name).provider for name in models), chosen} - {""})


def _least(seconds: int) -> str:
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min"


def as_file(request: SignedIn) -> HttpResponse:
    """As many as there are pages of."""
    asked, zone = asked_for(request.GET), zone_of(request)
    rows = listing.narrowed(asked, zone)
    name = f"thoughtline-conversations-{timezone.now():%Y-%m-%d}"
    return sheet(name, (*HEAD, "cost in dollars", "last question"), _cells(rows))


def _cells(rows: QuerySet[Conversation]) -> Iterator[Sequence[Cell]]:
    """Page by page: so many people at once are more than SQLite takes as one question."""
    for begin in range(0, MOST_COUNTED, A_PAGE):
        some = list(rows[begin : begin + A_PAGE])
        figures = browsing.load_figures([row.pk for row in some])
        for row in some:
            known = figures.get(row.pk, browsing.ConversationFigures())
            yield (
                str(row.pk),
                title_of(row) if may_read() else "",
                visible(row.owner.get_username()),
                visible(" ".join(sorted(known.models))),
                known.messages,
                known.branches,
                known.thinking,
                known.used["input"],
                known.used["output"],
                float(dollars(known.used["cost"])),
                row.updated_at.isoformat(),
            )


def beside(request: SignedIn) -> HttpResponse:
    """From one conversation of a list to the one above or below it there; from its ends back to the list."""
    asked = asked_for(request.GET)
    here = Conversation.objects.filter(pk=_named(request), deleted_at=None).only("updated_at").first()
    if here is None:
        raise Http404
    rows = listing.narrowed(asked, zone_of(request))
    found = browsing.neighbour(rows, here, older=request.GET.get("way") == "older")
    return redirect(where(asked, "admin:transcript", found) if found else where(asked, LIST))


def _named(request: SignedIn) -> UUID:
    pk = id_in(request, "of")
    if pk is None:
        raise Http404
    return pk


def where(asked: ListAsked, view: str, *names: UUID) -> str:
    """An address with what the list was asked for."""
    address = reverse(view, args=names)
    return f"{address}?{asked.query}" if asked.query else address
