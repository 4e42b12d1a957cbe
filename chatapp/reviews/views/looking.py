"""The tree of what was submitted as a picture, and two of its branches side by side: made of submitted messages alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from ...branches.page.compare import Sight, Ways, load_compared
from ...branches.page.map import map_of, rows_to_show
from ...branches.store.beginnings import load_beginnings
from ...branches.store.parting import Parting, Path
from ...core.named import identity
from ...core.tree import Tree
from ...pages.in_address import number_in
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...store.models import Message
from ...thread.page import viewer_of
from ...turns.engine import engine
from ..access import readable_submission
from ..models import Submission
from ..news import shown_submissions
from ..page.as_submitted import as_submitted
from ..store.reviewing import Reading, load_reading


@require_safe
@login_required
def show_map(request: SignedIn, pk: UUID) -> HttpResponse:
    row = readable_submission(request.user, pk)
    reading = load_reading(row)
    tree = replace(reading.tree, head=reading.leaf)
    shown = rows_to_show(tree, number_in(request, "from"))
    wanted = list(islice(tree.parents, shown.start, shown.stop))
    then = as_submitted(row, wanted)
    beginnings = [then.begun(found) for found in load_beginnings(wanted)]
    drawn = map_of(tree, shown, beginnings, engine().catalog.label)
    context = {"map": drawn, "choosing": _choosing(request, tree), **_told_of(request, row)}
    return render(request, "reviews/map.html", context)


@require_safe
@login_required
def compare(request: SignedIn, pk: UUID) -> HttpResponse:
    row = readable_submission(request.user, pk)
    reading = load_reading(row)
    a, b = (_submitted_in(reading.tree, request.GET.get(side, "")) for side in ("a", "b"))
    parting = _parting(reading, a, b)
    then = as_submitted(row, list(reading.tree.parents))
    viewer = replace(viewer_of(request), known=then.known)
    one, two = (Message(pk=pk, conversation=row.conversation) for pk in (a, b))
    sight = Sight(parting, then.measured, then.begun)
    page = load_compared(viewer, one, two, number_in(request, "from") or 0, _ways(row), sight)
    return render(request, "reviews/compare.html", {"page": page, **_told_of(request, row)})


def _told_of(request: SignedIn, row: Submission) -> dict[str, Any]:
    shown = shown_submissions([row], request.user, engine().catalog, zone_of(request))[0]
    return {"submission": row, "shown": shown}


def _submitted_in(tree: Tree[UUID], name: str) -> UUID:
    """A message of it, as an address names it."""
    pk = identity(name)
    if pk is None or pk not in tree.parents:
        raise Http404
    return pk


def _choosing(request: SignedIn, tree: Tree[UUID]) -> dict[str, Any]:
    """What a message is chosen for: to be read, or as one side of a comparison."""
    if first := request.GET.get("a", ""):
        first_id = _submitted_in(tree, first)
        return {"side": "b", "first": first_id, "keeps": f"&a={first_id}"}
    if "choose" in request.GET:
        return {"side": "a", "first": None, "keeps": "&choose=1"}
    return {"side": "at", "first": None, "keeps": ""}


def _parting(reading: Reading, a: UUID, b: UUID) -> Parting:
    tree = reading.tree
    one, two = (tree.path_to(tree.newest_leaf(pk) or pk) for pk in (a, b))
    common = len(tree.common_start(one[-1], two[-1]))
    beside = [tree.siblings(path[common]) if common < len(path) else () for path in (one, two)]
    return Parting(Path(one, beside[0]), Path(two, beside[1]), common)


def _ways(row: Submission) -> Ways:
    return Ways(
        lambda conversation, message: f"{reverse('review', args=[row.pk])}?at={message}",
        lambda conversation: reverse("review_map", args=[row.pk]),
        reverse("review_compare", args=[row.pk]),
    )
