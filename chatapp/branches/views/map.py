"""The tree of a conversation as a picture, from which every message opens."""

from __future__ import annotations

from itertools import islice
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ...pages.access import my_conversation
from ...pages.in_address import number_in
from ...pages.signed_in import SignedIn
from ...store.places import load_head, load_tree
from ...turns.engine import engine
from ..page.map import map_of, rows_to_show
from ..store.beginnings import load_beginnings
from .compare import named


@require_safe
@login_required
def show(request: SignedIn, pk: UUID) -> HttpResponse:
    conversation = my_conversation(request.user, pk)
    tree = load_tree(conversation.pk, load_head(request.user, conversation))
    shown = rows_to_show(tree, number_in(request, "from"))
    beginnings = load_beginnings(list(islice(tree.parents, shown.start, shown.stop)))
    drawn = map_of(tree, shown, beginnings, engine().catalog.label)
    context = {"conversation": conversation, "map": drawn, "choosing": _choosing(request)}
    return render(request, "branches/map.html", context)


def _choosing(request: SignedIn) -> dict[str, Any] | None:
    """Of two branches to compare, which is chosen next, and with which message the first was."""
    if "a" in request.GET:
        first = named(request, "a")
        return {"side": "b", "first": first.pk, "keeps": f"&a={first.pk}"}
    return {"side": "a", "first": None, "keeps": "&choose=1"} if "choose" in request.GET else None
