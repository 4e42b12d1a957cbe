"""Links to branches as their owner sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import tzinfo

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from ...core.plural import times
from ...pages.words.days import day_in_words, zone_of
from ...pages.words.moments import Moment
from ...store.models import Role
from ..models import Share


@dataclass(frozen=True, slots=True)
class ShownLink:
    """One that can still be revoked, in words."""

    row: Share
    url: str
    what: str
    facts: str
    is_over: bool

    @property
    def title(self) -> str:
        return self.row.leaf.conversation.title


def shown_links(request: HttpRequest, rows: Iterable[Share]) -> list[ShownLink]:
    return [_shown_link(request, row) for row in rows]


def _shown_link(request: HttpRequest, row: Share) -> ShownLink:
    now, zone = timezone.now(), zone_of(request)
    is_over = row.expires_at is not None and row.expires_at <= now
    until = Moment(row.leaf.created_at.astimezone(zone))
    end = "question" if row.leaf.role == Role.USER else "answer"
    what = f"Up to the {end} of {until.clock}, {_what_goes_along(row)}"
    day = day_in_words(row.created_at.astimezone(zone), now.astimezone(zone).date())
    facts = ", ".join(
        filter(
            None, [f"made {day[:1].lower()}{day[1:]}", _reads_in_words(row.opened), _ends(row, is_over, zone)]
        )
    )
    return ShownLink(row, url_of(request, row.token), what, facts, is_over)


def url_of(request: HttpRequest, token: str) -> str:
    here = settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"
    return f"{here.rstrip('/')}{reverse('shared', args=[token])}"


def _what_goes_along(row: Share) -> str:
    match row.with_thoughts, row.with_tools:
        case True, True:
            return "with thoughts and tool details"
        case True, False:
            return "with thoughts, without tool details"
        case False, True:
            return "without thoughts, with tool details"
        case _:
            return "without thoughts and tool details"


def _reads_in_words(count: int) -> str:
    return f"read {times(count)}" if count else "never read"


def _ends(row: Share, is_over: bool, zone: tzinfo) -> str:
    if row.expires_at is None:
        return ""
    if is_over:
        return "does not open any more"
    return f"until {Moment(row.expires_at.astimezone(zone)).day}"
