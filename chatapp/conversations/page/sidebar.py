"""The list of conversations beside every page: a page of it, in days; one row of it; what was just deleted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import groupby
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.http import HttpRequest, QueryDict
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from ...core.named import identity, number
from ...pages.commands import by_script
from ...pages.signed_in import SignedIn
from ...pages.stencils import Stencil, hole
from ...pages.words.days import day_in_words, zone_of
from ...store.deleting import load_deletion, may_restore
from ...turns.engine import engine
from ..store import Cursor, ListRow, load_page

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROW = Stencil("conversations/list/_list_row.html")
WORDS_CAP = 200
PINNED = "Pinned"
# The elements that hold the list, and the branch on screen.
LIST, THREAD = "conversations", "thread"


class BadQuery(ValueError):
    """The address of a list makes no sense."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list shows: the titles that hold these words, the archived ones or the others, from a place on."""

    words: str = ""
    archived: bool = False
    after: Cursor | None = None


@dataclass(frozen=True, slots=True)
class DayGroup:
    """Rows under one heading, as they are drawn; without one they go on where the page before ended."""

    heading: str
    rows: list[SafeString]


@dataclass(frozen=True, slots=True)
class Sidebar:
    wanted: Wanted
    groups: list[DayGroup]
    older: str


@dataclass(frozen=True, slots=True)
class Toast:
    """What was done, and the form that takes it back. `target`: what of the page is replaced; without one, all of it."""

    words: str
    undo: str
    field: str = ""
    value: str = ""
    target: str = ""


def sidebar(request: SignedIn, wanted: Wanted | None = None) -> Sidebar:
    wanted = wanted or Wanted()
    over = engine().keeper.stopped
    page = load_page(
        request.user, words=wanted.words, archived=wanted.archived, after=wanted.after, over=over
    )
    older = f"{reverse('conversations')}?{_query(wanted, page.older)}" if page.older else ""
    groups = _grouped_by_day(page.rows, zone_of(request), wanted.after, conversation_on_screen(request))
    return Sidebar(wanted, groups, older)


def render_row(row: ListRow, *, open: UUID | None = None) -> SafeString:
    """`open`: the conversation on screen."""
    look: dict[str, Hashable] = {"state": str(row.state), "pinned": row.pinned, "archived": row.archived}
    look["is_run"] = bool(row.program)
    opened = hole("row.id") if row.id == open else None
    named = {f"row.{name}": value for name, value in look.items()}
    return _ROW.fill({**named, "open": opened}, {"row.id": row.id, "row.title": row.title})


def wanted_by(query: QueryDict) -> Wanted:
    words = query.get("q", "")
    if len(words) > WORDS_CAP:
        raise BadQuery(f"Search with at most {WORDS_CAP} signs.")
    before = query.get("before", "")
    return Wanted(words, query.get("archived") == "1", _cursor(before) if before else None)


def conversation_on_screen(request: HttpRequest) -> UUID | None:
    """The conversation that is on screen, also while a part of its page is asked for."""
    url = request.headers.get("HX-Current-URL", "") if by_script(request) else request.path
    try:
        match = resolve(urlsplit(url).path)
    except (Resolver404, ValueError):
        return None
    found = match.kwargs.get("pk") if match.route.startswith("c/") else None
    return found if isinstance(found, UUID) else None


def conversation_deleted(conversation: UUID) -> Toast:
    return Toast("Conversation deleted", reverse("restore_conversation", args=[conversation]), target=LIST)


def conversation_archived(conversation: UUID) -> Toast:
    return Toast("Conversation archived", reverse("archive", args=[conversation]), "on", "0", LIST)


def toast(request: HttpRequest) -> Toast | None:
    """What the address says was deleted, while it can be put back."""
    name = identity(request.GET.get("deleted", ""))
    if name is None or not request.user.is_authenticated:
        return None
    if may_restore(name, request.user):
        # It was on screen, and is again when it comes back.
        return replace(conversation_deleted(name), target="")
    found = load_deletion(name, request.user)
    if found is None:
        return None
    words = f"{found.count} messages deleted" if found.count > 1 else "1 message deleted"
    return Toast(words, reverse("undo", args=[name]), target=THREAD)


def _grouped_by_day(
    rows: Iterable[ListRow], zone: tzinfo, after: Cursor | None, open: UUID | None
) -> list[DayGroup]:
    today = timezone.now().astimezone(zone).date()

    def heading(row: ListRow | Cursor) -> str:
        return PINNED if row.pinned else day_in_words(row.updated_at.astimezone(zone), today)

    groups = [
        DayGroup(words, [render_row(row, open=open) for row in group])
        for words, group in groupby(rows, heading)
    ]
    if after and groups and groups[0].heading == heading(after):
        groups[0] = DayGroup("", groups[0].rows)
    return groups


def _query(wanted: Wanted, last: Cursor) -> str:
    said = {"q": wanted.words, "archived": "1" if wanted.archived else ""}
    moment = (last.updated_at - EPOCH) // timedelta(microseconds=1)
    place = f"{int(last.pinned)}.{moment}.{last.id}"
    return urlencode({name: value for name, value in said.items() if value} | {"before": place})


def _cursor(text: str) -> Cursor:
    pinned, _, rest = text.partition(".")
    moment, _, name = rest.partition(".")
    # With a digit more it lay behind the last of all days.
    since, pk = number(moment, digits=17), identity(name)
    if since is None or pk is None:
        raise BadQuery("That place is in no list.")
    return Cursor(pinned == "1", EPOCH + timedelta(microseconds=since), pk)
