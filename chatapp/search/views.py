"""The page on which one looks through everything of one's own."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from ..core.plural import many
from ..core.signs.visible import visible
from ..pages import commands
from ..pages.access import my_conversation
from ..pages.signed_in import SignedIn
from ..pages.words.days import zone_of
from ..pages.words.moments import Moment
from .forms import WHEN, WHERE, NotUnderstood, Search
from .page.found import MANY, shown_found
from .store.filling import progress
from .store.finding import FoundPage, WantedWords, find_inside, find_own, load_models


@require_safe
@login_required
def search(request: SignedIn) -> HttpResponse:
    """For htmx what was found alone, or what comes after that."""
    try:
        asked = Search.of(request.GET)
    except NotUnderstood as problem:
        return commands.refused(request, str(problem), 400)
    context = _found(request, asked)
    if commands.by_script(request):
        goes_on = asked.after or asked.skip
        return render(request, "search/_sections.html" if goes_on else "search/_found.html", context)
    return render(request, "search/search.html", context | _form(request, asked))


def _form(request: SignedIn, asked: Search) -> dict[str, Any]:
    return {
        "where": [(key, words, key in asked.where) for key, words in WHERE.items()],
        "when": [(key, words, key == asked.when) for key, words in WHEN.items()],
        "models": [(name, visible(name), name == asked.model) for name in load_models(request.user)],
    }


def _found(request: SignedIn, asked: Search) -> dict[str, Any]:
    terms, zone = asked.terms, zone_of(request)
    context: dict[str, Any] = {"asked": asked, "terms": terms, "filled": progress().percent}
    context["everywhere"] = asked.query(inside=None, skip=0)
    if asked.is_narrowed:
        context["widened"] = Search(words=asked.words).query()
    if not terms:
        return context
    wanted = WantedWords(terms, asked.where, asked.since(timezone.now().astimezone(zone)), asked.model)
    if asked.inside:
        return context | _inside(request, asked, wanted)
    page = find_own(request.user, wanted, after=asked.after)
    context["found"] = shown_found(page.found, terms, zone)
    context["status"] = _status(page, asked)
    if page.older:
        context["older"] = asked.query(after=page.older)
        context["late"] = Moment(page.older.updated_at.astimezone(zone)) if page.is_late else None
    return context


def _inside(request: SignedIn, asked: Search, wanted: WantedWords) -> dict[str, Any]:
    assert asked.inside
    mine = my_conversation(request.user, asked.inside)
    found = find_inside(mine, wanted)
    here = [found] if found else []
    shown = shown_found(here, asked.terms, zone_of(request), most=MANY, skip=asked.skip)
    context: dict[str, Any] = {"found": shown, "is_inside": True}
    context["status"] = f"{many(found.count if found else 0, 'match', 'matches')} in this conversation."
    if shown and shown[0].more:
        context["older"] = asked.query(skip=asked.skip + MANY)
    return context


def _status(page: FoundPage, asked: Search) -> str:
    """What there is, where all of it was looked through; else that there may be more."""
    matches = sum(each.count for each in page.found)
    if page.older:
        return "The newest matches. Older ones come as you scroll." if page.found else ""
    words = f"{many(matches, 'match', 'matches')} in {many(len(page.found), 'conversation')}, newest first."
    return "" if asked.after or not matches else words
