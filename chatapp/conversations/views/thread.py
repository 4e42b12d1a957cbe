"""A conversation: the branch on screen, and what was above it."""

from __future__ import annotations

from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from ...core.named import identity, number
from ...pages.access import my_conversation, my_message
from ...pages.preferences import preference_of
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...reviews.news import reviews_here
from ...store import Seen, count_questions, load_draft, places
from ...store.models import LIVE, Conversation, Message
from ...thread.meter import meter_for
from ...thread.outline import outline_of
from ...thread.page import NEWEST, load_thread, viewer_of
from ...turns.engine import engine
from ..forms import AskForm
from ..news.question import answering
from ..page.composer import composer_for
from ..page.provenance import provenance_of
from ..page.tools import tools_of

# So many are shown at once at most, by those who have no script that asks for more.
MOST = 1000


@require_safe
@login_required
def conversation(request: SignedIn, pk: UUID) -> HttpResponse:
    return render_conversation(request, my_conversation(request.user, pk))


@require_safe
@login_required
def earlier(request: SignedIn, pk: UUID) -> HttpResponse:
    """The messages above those on screen."""
    mine = my_conversation(request.user, pk)
    before = _named(request, "before", mine)
    if before is None:
        raise Http404
    thread = load_thread(mine, before.pk, viewer_of(request), goes_on=True)
    return render(request, "thread/_messages.html", {"thread": thread})


def render_conversation(
    request: SignedIn,
    mine: Conversation,
    *,
    form: AskForm | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    """The page. `form`: what was sent and refused stands in the composer again."""
    head = places.load_head(request.user, mine)
    at = _named(request, "at", mine)
    leaf = places.load_leaf(request.user, at) if at else head
    newest = _newest(request, at, leaf)
    thread = load_thread(mine, leaf, viewer_of(request), seen=_seen(leaf), newest=newest)
    catalog = engine().catalog
    last = thread.followed
    composer = composer_for(
        request.user,
        preference_of(request.user),
        mine,
        last,
        async_to_sync(catalog.models_soon)(),
        form=form,
        refused=refused,
    )
    context = {
        "thread": thread,
        "conversation": mine,
        "composer": composer,
        "answering": answering(last),
        "looks_next_at": _looks_next_at(request, mine, last),
        "tools": tools_of(mine),
        "meter": meter_for(last, catalog),
        "outline": outline_of(thread.messages),
        "more": newest + NEWEST * 4,
        "questions": count_questions(mine.pk, leaf),
        "provenance": provenance_of(mine, request.user, zone_of(request)),
        "reviews": reviews_here(mine.pk, request.user, catalog, zone_of(request)),
    }
    return render(request, "conversations/conversation.html", context, status=status)


def _looks_next_at(request: SignedIn, mine: Conversation, last: Message | None) -> str:
    """Where a page without scripts sees how the answer has grown; nowhere while it shows what was sent and refused, which would be
    lost. Each time another address: to one that differs in what stands behind the # alone, or in nothing, browsers only scroll."""
    if last is None or answering(last) != "1" or request.method == "POST":
        return ""
    query = request.GET.copy()
    if "grown" in query:
        del query["grown"]
    else:
        query["grown"] = ""
    return f"{reverse('conversation', args=[mine.pk])}?{query.urlencode()}#m-{last.parent_id}"


def _named(request: SignedIn, name: str, mine: Conversation) -> Message | None:
    """The message that the address names, if it is one of this conversation."""
    if name not in request.GET:
        return None
    pk = identity(request.GET[name])
    if pk is None:
        raise Http404
    message = my_message(request.user, pk)
    if message.conversation_id != mine.pk:
        raise Http404
    return message


def _newest(request: SignedIn, at: Message | None, leaf: UUID | None) -> int:
    """How many messages are shown: the usual number, what was asked for, or as many as reach up to a named one."""
    wanted = number(request.GET.get("newest", ""))
    count = NEWEST if wanted is None else min(wanted, MOST)
    if at is not None and leaf is not None:
        path = places.load_tree(at.conversation_id).path_to(leaf)
        count = max(count, len(path) - path.index(at.pk) + 5)
    return max(count, 2)


def _seen(leaf: UUID | None) -> Seen | None:
    """The draft of an answer that is being written: as of now, else as it was last saved."""
    if leaf is None or not Message.objects.filter(pk=leaf, status__in=LIVE).exists():
        return None
    return async_to_sync(engine().live.seen)(leaf) or load_draft(leaf)
