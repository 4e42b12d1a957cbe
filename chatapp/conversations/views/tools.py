"""Which tools a conversation has: switched one by one or all at once; and what is allowed in it, taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from ...core.items import clean
from ...pages.access import my_conversation
from ...pages.commands import by_script, refused
from ...pages.signed_in import SignedIn
from ...store import Refused, choose_tools, definitions_of, names_of
from ...store.models import Conversation
from ...store.permissions import grants
from ...turns.engine import engine
from ..page.tools import tools_of


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def tools(request: SignedIn, pk: UUID) -> HttpResponse:
    conversation = my_conversation(request.user, pk)
    if request.method != "POST":
        return _tools_page(request, conversation)
    try:
        choose_tools(conversation.pk, _described(conversation, _switched_on(request, conversation)))
    except Refused as error:
        return refused(request, str(error))
    return HttpResponse() if by_script(request) else redirect("tools", conversation.pk)


@require_POST
@login_required
def take_back(request: SignedIn, pk: UUID) -> HttpResponse:
    """From now on the tool asks again."""
    conversation = my_conversation(request.user, pk)
    grants.take_back(conversation.pk, clean(request.POST.get("tool", "")))
    return _tools_page(request, conversation) if by_script(request) else redirect("tools", conversation.pk)


def _tools_page(request: SignedIn, conversation: Conversation) -> HttpResponse:
    context = {"conversation": conversation, "tools": tools_of(conversation)}
    return render(
        request,
        "conversations/told/_tools_list.html" if by_script(request) else "conversations/told/tools.html",
        context,
    )


def _switched_on(request: SignedIn, conversation: Conversation) -> list[str]:
    """One switch says itself; a whole form says all that are on. What is on keeps its place."""
    before = names_of(conversation)
    if name := request.POST.get("tool"):
        on = [*before, name] if request.POST.get("on") else [each for each in before if each != name]
    elif "choose_tools" not in request.POST:
        # No form of ours: it says nothing about what is to be on.
        on = before
    else:
        chosen = request.POST.getlist("tools")
        on = [*(name for name in before if name in chosen), *chosen]
    return list(dict.fromkeys(on))


def _described(conversation: Conversation, names: Sequence[str]) -> list[dict[str, Any]]:
    """A tool that is not here any more stays as it was described when it was chosen."""
    known = {definition["name"]: definition for definition in definitions_of(conversation)}
    known |= {name: tool.definition for name, tool in engine().tools.items()}
    return [known[name] for name in names if name in known]
