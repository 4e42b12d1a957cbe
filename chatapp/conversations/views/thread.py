"""A conversation: the branch on screen, and what was above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from ...core.named import number
from ...core.tree import Tree
from ...exchange.store.bringing import was_imported
from ...next_questions.page import shown_next
from ...next_questions.store import load_next, waits_in
from ...pages.access import conversation_to_open, my_message
from ...pages.in_address import id_in
from ...pages.preferences import preference_of
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...reviews.news import reviews_here
from ...store import Seen, load_draft, places
from ...store.models import LIVE, Conversation, Message
from ...thread.meter import meter_for, render_meter
from ...thread.outline import render_outline, render_questions
from ...thread.page import NEWEST, Thread, load_earlier, load_thread, viewer_of
from ...turns.engine import engine
from ..forms import AskForm
from ..news.question import answering
from ..page.composer import composer_for
from ..page.leads import render_leads
from ..page.provenance import provenance_of
from ..page.run import render_run
from ..page.tools import tools_of

# Asked for by those without scripts: to write while the answer is written, so that the page must stay as it is.
WRITE = "write"
# So many are shown at once at most, by those who have no script that asks for more.
MOST = 1000


@require_safe
@login_required
def conversation(request: SignedIn, pk: UUID) -> HttpResponse:
    return render_conversation(request, pk)


@require_safe
@login_required
def earlier(request: SignedIn, pk: UUID) -> HttpResponse:
    """The messages above those on screen."""
    before = id_in(request, "before")
    if before is None:
        raise Http404
    message = my_message(request.user, before)
    if message.conversation_id != pk:
        raise Http404
    thread = load_earlier(message.conversation, message.pk, viewer_of(request))
    return render(request, "thread/_messages.html", {"thread": thread})


def render_conversation(
    request: SignedIn,
    pk: UUID,
    *,
    form: AskForm | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page. `form`: what was sent and refused stands in the composer again."""
    mine = conversation_to_open(request.user, pk, has_next=waits_in, is_imported=was_imported)
    preference, end = preference_of(mine.owner), _end_on_screen(request, mine)
    viewer = viewer_of(request, preference)
    thread = load_thread(mine, end.leaf, viewer, seen=_seen(end), newest=end.newest, tree=end.tree)
    last = thread.followed
    context = {
        "conversation": mine,
        "preference": preference,
        "thread": thread,
        "more": end.newest + NEWEST * 4,
        "answering": answering(last),
        **_around_messages(request, mine, thread),
    }
    if mine.program:
        context |= _at_program(request, mine, thread) | {"refused": refused}
    else:
        listings = async_to_sync(engine().catalog.models_soon)()
        composer = composer_for(request.user, preference, mine, last, listings, form=form, refused=refused)
        context |= {"composer": composer, **_at_composer(request, mine, last)}
    return render(request, "conversations/conversation.html", context, status=status)


def _at_program(request: SignedIn, mine: Conversation, thread: Thread) -> dict[str, Any]:
    """What stands where one otherwise writes, and the line above the run."""
    last, leaf = thread.followed, thread.leaf
    return {
        "along": leaf is not None and leaf.row.order == mine.next_order - 1,
        "leads": SafeString(render_leads(mine.program, leaf.row if leaf else None)),
        "run": render_run(mine, zone_of(request)),
        "looks_next_at": _looks_next_at(request, mine, last),
    }


def _at_composer(request: SignedIn, mine: Conversation, last: Message | None) -> dict[str, Any]:
    """What waits to be asked, what may be called, and how the last answer is doing."""
    waits = load_next(request.user, last.pk) if last and vars(mine)["has_next"] else None
    return {
        "next": waits and last and shown_next(waits, last.status),
        "tools": tools_of(mine),
        "meter": render_meter(meter_for(last, engine().catalog)),
        "looks_next_at": "" if waits and waits.is_edited else _looks_next_at(request, mine, last),
        "writes_next": WRITE in request.GET and answering(last) != "",
    }


def _around_messages(request: SignedIn, mine: Conversation, thread: Thread) -> dict[str, Any]:
    """What stands above the messages, and beside them."""
    zone = zone_of(request)
    return {
        "provenance": provenance_of(mine, request.user, zone),
        "reviews": reviews_here(mine.pk, request.user, engine().catalog, zone),
        "outline": render_outline(thread.messages),
        "questions": render_questions(thread.questions),
    }


def _looks_next_at(request: SignedIn, mine: Conversation, last: Message | None) -> str:
    """Where a page without scripts sees how the answer has grown; nowhere while it shows what was sent and refused, which would be
    lost. Each time another address: to one that differs in what stands behind the # alone, or in nothing, browsers only scroll."""
    if last is None or answering(last) != "1" or request.method == "POST" or WRITE in request.GET:
        return ""
    query = request.GET.copy()
    if "grown" in query:
        del query["grown"]
    else:
        query["grown"] = ""
    return f"{reverse('conversation', args=[mine.pk])}?{query.urlencode()}#m-{last.parent_id}"


@dataclass(frozen=True, slots=True)
class _End:
    """Of the branch on screen, of which the `newest` are shown. `is_live`: it is being written. `tree`: where somebody asked for a place
    in it."""

    leaf: UUID | None
    is_live: bool
    newest: int
    tree: Tree[UUID] | None = None


def _end_on_screen(request: SignedIn, mine: Conversation) -> _End:
    """Where one last was, or below the message that the address names: then as many are shown as reach up to it."""
    at, wanted = id_in(request, "at"), number(request.GET.get("newest", ""))
    newest = max(2, NEWEST if wanted is None else min(wanted, MOST))
    if at is None:
        leaf = places.load_head(request.user, mine)
        return _End(leaf, leaf is not None and _is_live(mine, leaf), newest)
    way = places.load_way(mine.pk, at, vars(mine)["forks"])
    if way is None:
        raise Http404
    reaching = len(way.path) - way.path.index(at) + 5
    return _End(way.leaf, way.is_live, max(newest, reaching), way.tree)


def _is_live(mine: Conversation, leaf: UUID) -> bool:
    if mine.head and mine.head_id == leaf:
        return mine.head.status in LIVE
    return Message.objects.filter(pk=leaf, status__in=LIVE).exists()


def _seen(end: _End) -> Seen | None:
    """The draft of an answer that is being written: as of now, else as it was last saved."""
    if end.leaf is None or not end.is_live:
        return None
    return async_to_sync(engine().live.seen)(end.leaf) or load_draft(end.leaf)
