"""The tree of a conversation as a picture, from which every message opens."""

from __future__ import annotations

from itertools import islice
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ...store.places import load_head, load_tree
from ...store.tree_map import load_beginnings
from ...turns.engine import engine
from ..access import my_conversation
from ..tree_map import map_of, window


@require_safe
@login_required
def show(request: HttpRequest, pk: UUID) -> HttpResponse:
    conversation = my_conversation(request.user, pk)
    tree = load_tree(conversation.pk, load_head(request.user, conversation))
    shown = window(tree, _begin(request.GET.get("from", "")))
    beginnings = load_beginnings(list(islice(tree.parents, shown.start, shown.stop)))
    drawn = map_of(tree, shown, beginnings, engine().catalog.label)
    return render(request, "map.html", {"conversation": conversation, "map": drawn})


def _begin(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadRequest("The map begins at a row, which is a number.")
    return int(text)
