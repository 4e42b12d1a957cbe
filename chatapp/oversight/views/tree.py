"""The tree of somebody's conversation as a picture, and two of its branches side by side: to be read and nothing else."""

from __future__ import annotations

from itertools import islice
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.urls import reverse

from ...branches.page.compare import Ways, load_compared
from ...branches.page.map import map_of, rows_to_show
from ...branches.store.beginnings import load_beginnings
from ...core.tree import Tree
from ...pages.in_address import id_in, number_in
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...pages.staff.rights import may_read
from ...store.models import Message
from ...store.places import load_tree
from ...thread.page import viewer_of
from ...turns.engine import engine
from ..forms import ListAsked
from .browsing import HERE
from .closed import closed
from .transcript import opened, told_of

SIDES = ("a", "b")


def show_map(request: SignedIn, pk: UUID) -> HttpResponse:
    if not may_read():
        return closed(request)
    row = opened(request, pk)
    tree = load_tree(pk, row.head_id)
    shown = rows_to_show(tree, number_in(request, "from"))
    beginnings = load_beginnings(list(islice(tree.parents, shown.start, shown.stop)))
    drawn = map_of(tree, shown, beginnings, engine().catalog.label)
    context = {**told_of(request, row, ListAsked()), "map": drawn, "choosing": _choosing(request, tree)}
    return framed(request, "oversight/map.html", HERE, context)


def _choosing(request: SignedIn, tree: Tree[UUID]) -> dict[str, Any]:
    """What a message is chosen for: to be read, or as one side of a comparison."""
    first = id_in(request, "a")
    if first and first not in tree.parents:
        raise Http404
    if first:
        return {"side": "b", "first": first, "keeps": f"&a={first}"}
    if "choose" in request.GET:
        return {"side": "a", "first": None, "keeps": "&choose=1"}
    return {"side": "at", "first": None, "keeps": ""}


def compare(request: SignedIn) -> HttpResponse:
    if not may_read():
        return closed(request)
    a, b = _sides(request)
    rows = {pk: opened(request, pk) for pk in dict.fromkeys([a.conversation_id, b.conversation_id])}
    page = load_compared(viewer_of(request), a, b, number_in(request, "from") or 0, _ways())
    context = told_of(request, rows[a.conversation_id], ListAsked())
    return framed(request, "oversight/compare.html", HERE, {**context, "page": page})


def _sides(request: SignedIn) -> tuple[Message, Message]:
    wanted = [id_in(request, side) for side in SIDES]
    there = Message.objects.select_related("conversation").filter(
        deletion=None, conversation__deleted_at=None
    )
    found = there.in_bulk([pk for pk in wanted if pk])
    if not all(pk in found for pk in wanted):
        raise Http404
    one, two = (found[pk] for pk in wanted if pk)
    return one, two


def _ways() -> Ways:
    return Ways(
        lambda conversation, message: f"{reverse('admin:transcript', args=[conversation])}?at={message}",
        lambda conversation: reverse("admin:tree", args=[conversation]),
        reverse("admin:compare"),
    )
