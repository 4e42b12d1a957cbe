"""Kept thoughts, for staff: how many, how often they went back, the newest of them, their words, and clearing them."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from ...core.items import clean
from ...core.named import number
from ...core.signs.visible import Leave, visible
from ...insight.store.sums import day_of
from ...pages.access import only_staff
from ...pages.commands import by_script
from ...pages.signed_in import SignedIn
from ...pages.staff.again import behind_password
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...pages.words.days import zone_of
from ...turns.engine import engine
from ..models import KeptResponse
from ..store import cached
from ..store.cached import WantedEntries
from ..store.kept import memory
from .page import DAYS, MOST_SHOWN, CachePage, EntryRow, entries, entry_rows


@require_safe
@login_required
@behind_password
def reasoning_cache(request: SignedIn) -> HttpResponse:
    only_staff(request.user)
    wanted = WantedEntries(*(clean(request.GET.get(name, "")) for name in ("provider", "model")))
    context = {
        "page": _page(),
        "rows": _rows(request, cached.load_entries(wanted, MOST_SHOWN)),
        "wanted": wanted,
        "may_read": may_read(),
        "cleared": _cleared(request),
    }
    return render(request, "gateway/cache/page.html", context)


def _page() -> CachePage:
    since = day_of(timezone.now()) - timedelta(days=DAYS - 1)
    kept = cached.load_kept_by_model()
    return CachePage(engine().catalog, kept, cached.load_replays(since), memory)


def _cleared(request: HttpRequest) -> str:
    found = number(request.GET.get("cleared", ""), digits=9)
    return "" if found is None else entries(found)


def _rows(request: HttpRequest, rows: list[KeptResponse]) -> list[EntryRow]:
    return entry_rows(rows, timezone.now(), zone_of(request))


@require_safe
@login_required
@behind_password
def kept_words(request: SignedIn, secret: str) -> HttpResponse:
    """Of one, written down as a look."""
    only_staff(request.user)
    found = cached.load_entries(WantedEntries(secret=secret), 1)
    if not found:
        raise Http404
    context = {"row": _rows(request, found)[0], "is_closed": not may_read()}
    if may_read():
        words = cached.load_words(found, request.user, address=visitor_address(request))
        context["words"] = visible(words[found[0].secret], Leave.PROSE)
        context["is_own"] = found[0].owner_id == request.user.pk
    return render(request, "gateway/cache/words.html", context, status=403 if context["is_closed"] else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@behind_password
def clear_cache(request: SignedIn) -> HttpResponse:
    """GET says what happens, POST does it."""
    only_staff(request.user)
    sent = request.POST if request.method == "POST" else request.GET
    wanted = WantedEntries(provider=clean(sent.get("provider", "")), secret=clean(sent.get("entry", "")))
    if request.method == "POST":
        if wanted == cached.EVERYTHING and "everything" not in sent:
            raise BadRequest("what is to be cleared was not said")
        cleared = cached.clear(wanted)
        response = redirect("reasoning_cache")
        response["Location"] += f"?cleared={cleared}"
        response.status_code = 303
        return response
    template = "gateway/cache/_clear_form.html" if by_script(request) else "gateway/cache/clear_page.html"
    return render(request, template, {"wanted": wanted, "what": _what(request, wanted)})


def _what(request: HttpRequest, wanted: WantedEntries) -> str:
    if not wanted.secret:
        page = _page()
        return next((each.words for each in page.clearable if each.provider == wanted.provider), "Nothing")
    rows = _rows(request, cached.load_entries(wanted, 1))
    return f"{rows[0].name} of {rows[0].owner}" if rows else "Nothing"
