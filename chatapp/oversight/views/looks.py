"""The list of looks: who looked at what, whose it is, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from django.http import HttpResponse

from ...core.named import number
from ...core.signs.visible import visible
from ...pages.in_address import id_in
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...pages.staff.rights import may_read
from ...pages.words.days import zone_of
from ...pages.words.moments import Moment
from ..models import Look
from ..page.rows import title_of

A_PAGE = 50


@dataclass(frozen=True, slots=True)
class LookRow:
    who: str
    what: str
    whose: str
    conversation: str
    title: str
    at: Moment
    address: str


def looks(request: SignedIn) -> HttpResponse:
    """The newest first, each page from where the one before ended."""
    conversation, before = id_in(request, "conversation"), number(request.GET.get("before", ""))
    rows = Look.objects.select_related("conversation__owner").order_by("-pk")
    rows = rows.defer("conversation__tools", "conversation__instructions")
    if conversation:
        rows = rows.filter(conversation=conversation)
    if before:
        rows = rows.filter(pk__lt=before)
    found = list(rows[: A_PAGE + 1])
    context = {
        "rows": [look_row(row, zone_of(request)) for row in found[:A_PAGE]],
        "conversation": conversation,
        "before": found[A_PAGE - 1].pk if len(found) > A_PAGE else None,
    }
    return framed(request, "oversight/looks.html", "Looks", context)


def look_row(row: Look, zone: tzinfo) -> LookRow:
    """Without its title where conversations are closed, and where it was deleted."""
    there = may_read() and row.conversation.deleted_at is None
    return LookRow(
        who=visible(row.name),
        what=row.get_what_display(),
        whose=visible(row.conversation.owner.get_username()),
        conversation=str(row.conversation_id) if there else "",
        title=title_of(row.conversation) if there else str(row.conversation_id),
        at=Moment(row.at.astimezone(zone)),
        address=visible(row.address),
    )
