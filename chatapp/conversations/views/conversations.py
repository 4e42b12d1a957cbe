"""The list of conversations, and what a person does to one of them: name, pin, archive, delete, bring back."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import retarget, trigger_client_event

from ...pages import commands
from ...pages.access import my_conversation
from ...pages.engine_calls import call
from ...pages.signed_in import SignedIn
from ...store import Refused, deleting, titles
from ...store.models import Conversation
from ...turns.engine import engine
from .. import store as listing
from ..page.sidebar import (
    LIST,
    BadQuery,
    Toast,
    conversation_archived,
    conversation_deleted,
    conversation_on_screen,
    sidebar,
    wanted_by,
)


@require_safe
@login_required
def conversations(request: SignedIn) -> HttpResponse:
    """The list by itself; for htmx its rows alone, from where the last ones ended."""
    try:
        found = sidebar(request, wanted_by(request.GET))
    except BadQuery as problem:
        return commands.refused(request, str(problem), 400)
    template = (
        "conversations/list/_list_rows.html"
        if commands.by_script(request)
        else "conversations/list/conversations.html"
    )
    return render(request, template, {"sidebar": found, "listed": found})


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def title(request: SignedIn, pk: UUID) -> HttpResponse:
    mine = my_conversation(request.user, pk)
    if request.method != "POST":
        template = (
            "conversations/list/_rename.html"
            if commands.by_script(request)
            else "conversations/list/rename.html"
        )
        return render(request, template, {"conversation": mine})
    try:
        titles.retitle(mine.pk, request.POST.get("title", ""))
    except Refused as refusal:
        return commands.refused(request, str(refusal), 400)
    if not commands.by_script(request):
        return commands.to_conversation(mine.pk)
    opened = conversation_on_screen(request)
    return render(
        request, "conversations/list/_renamed.html", {"row": listing.load_row(mine.pk), "open": opened}
    )


@require_POST
@login_required
def pin(request: SignedIn, pk: UUID) -> HttpResponse:
    mine = my_conversation(request.user, pk)
    listing.pin(mine.pk, pinned=_is_on(request))
    return _anew(request)


@require_POST
@login_required
def archive(request: SignedIn, pk: UUID) -> HttpResponse:
    mine = my_conversation(request.user, pk)
    listing.archive(mine.pk, archived=_is_on(request))
    return _gone(request, mine, conversation_archived(mine.pk)) if _is_on(request) else _anew(request)


@require_POST
@login_required
def delete_conversation(request: SignedIn, pk: UUID) -> HttpResponse:
    """It is gone before its turns are stopped, so that none begins meanwhile."""
    mine = my_conversation(request.user, pk)
    for answer in deleting.delete_conversation(mine.pk):
        call(engine().stop, answer, by=str(request.user.pk))
    if _is_on_screen(request, mine):
        return commands.away(request, f"{reverse('home')}?deleted={mine.pk}")
    return _gone(request, mine, conversation_deleted(mine.pk))


@require_POST
@login_required
def restore(request: SignedIn, pk: UUID) -> HttpResponse:
    if not deleting.restore_conversation(pk, request.user):
        raise Http404
    return _anew(request) if commands.by_script(request) else commands.to_conversation(pk)


def _anew(request: SignedIn) -> HttpResponse:
    """The whole list, as it was filtered."""
    if not commands.by_script(request):
        return _back(request)
    listed = sidebar(request, wanted_by(request.POST))
    return retarget(render(request, "conversations/list/_list_rows.html", {"listed": listed}), f"#{LIST}")


def _gone(request: SignedIn, conversation: Conversation, toast: Toast) -> HttpResponse:
    """The row leaves the list, and the toast offers to take that back."""
    if not commands.by_script(request):
        return _back(request)
    response = render(request, "pages/_toast.html", {"toast": toast})
    return trigger_client_event(response, "gone", {"row": f"c-{conversation.pk}"})


def _is_on(request: SignedIn) -> bool:
    return request.POST.get("on", "1") == "1"


def _is_on_screen(request: SignedIn, conversation: Conversation) -> bool:
    """Without a script nothing tells; then one is led away from it in any case."""
    return not commands.by_script(request) or conversation_on_screen(request) == conversation.pk


def _back(request: SignedIn) -> HttpResponse:
    came_from = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(came_from, {request.get_host()}, request.is_secure())
    response = redirect(came_from if ours else "conversations")
    response.status_code = 303
    return response
