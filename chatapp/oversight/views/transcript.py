"""A conversation as the chat draws it, to be read and nothing else: one branch, its newest messages first to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from ...core.durations import in_short
from ...core.items import Item
from ...core.plural import many
from ...core.recorded import Recorded
from ...core.signs.visible import Leave, visible
from ...core.tree import Tree
from ...pages.elements import message_id
from ...pages.in_address import id_in, number_in
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...pages.words.amounts import cost, short
from ...pages.words.days import zone_of
from ...pages.words.moments import Moment, day_and_time
from ...store import names_of
from ...store.models import LIVE, Conversation, Message
from ...store.places import load_tree
from ...thread.message import Standpoint
from ...thread.page import NEWEST, for_others
from ...thread.sent import sent_of
from ...turns.engine import engine
from ..forms import ListAsked, asked_for
from ..models import Look
from ..page.bounds import Formatting, cut, left_out
from ..page.rows import title_of
from ..store import browsing
from ..store.looks import append_looks
from .browsing import HERE, LIST, where
from .closed import closed

ACTS, END = "oversight/_acts.html", "oversight/_end.html"
STILL_WRITTEN = "This answer is still being written. Reload the page to see more of it."


@dataclass(frozen=True, slots=True)
class MessageRead:
    """A message as the thread draws it. `more`: so many signs of it stand only where it is shown whole."""

    pk: UUID
    html: SafeString
    more: int


@dataclass(frozen=True, slots=True)
class BranchWindow:
    """Some messages of one branch. `earlier` and `later`: where those before and after them begin."""

    leaf: UUID | None
    messages: Sequence[UUID]
    earlier: int | None = None
    later: int | None = None


def transcript(request: SignedIn, pk: UUID) -> HttpResponse:
    if not may_read():
        return closed(request)
    row = opened(request, pk)
    tree = load_tree(pk, row.head_id)
    whole = _message_in(request, "whole", tree)
    window = BranchWindow(whole, (whole,)) if whole else _window(request, tree)
    reader = _Reader(request, tree, row, whole is not None)
    asked = asked_for(request.GET)
    context = {
        **told_of(request, row, asked),
        "window": window,
        "whole": whole,
        "messages": reader.read(window.messages),
        "formatting": reader.formatting,
        **_facts(request, row, tree),
    }
    return framed(request, "oversight/transcript.html", HERE, context)


def opened(request: SignedIn, pk: UUID) -> Conversation:
    """What is not there is not found; of what is there, the look is written down before anything of it is shown."""
    row = Conversation.objects.select_related("owner").filter(pk=pk, deleted_at=None).first()
    if row is None:
        raise Http404
    append_looks(request.user, [pk], Look.What.TRANSCRIPT, address=visitor_address(request))
    return row


def told_of(request: SignedIn, row: Conversation, asked: ListAsked) -> dict[str, Any]:
    """What stands above everything that is read of a conversation."""
    now = Moment(timezone.now().astimezone(zone_of(request)))
    return {
        "row": row,
        "title": title_of(row),
        "owner": visible(row.owner.get_username()),
        "is_mine": row.owner_id == request.user.pk,
        "looked": now,
        "asked": asked,
        "back": where(asked, LIST),
        "beside": f"{reverse('admin:beside')}?{'&'.join(filter(None, [f'of={row.pk}', asked.query]))}",
    }


def _facts(request: HttpRequest, row: Conversation, tree: Tree[UUID]) -> dict[str, Any]:
    replay = browsing.load_replay(row.pk)
    thought = browsing.load_thinking([row.pk]).get(row.pk)
    facts = [
        ("Began", day_and_time(row.created_at, zone_of(request))),
        ("Messages", f"{len(tree.parents):,}"),
        ("Branches", f"{sum(1 for at in tree.parents if at not in tree.children):,}"),
        ("Thought", "" if thought is None else in_short(thought)),
        ("Tokens", short(tokens) if (tokens := replay.used["input"] + replay.used["output"]) else ""),
        ("Cost", cost(replay.used) if replay.used["cost"] else ""),
    ]
    names = names_of(row)
    told = [
        "Instructions" if row.instructions else "",
        many(len(names), "tool") if names else "",
        many(replay.requests, "request") if replay.requests else "",
    ]
    return {
        "facts": [(name, words) for name, words in facts if words],
        "provenance": ", ".join(filter(None, told)),
        "instructions": visible(row.instructions, Leave.PROSE),
        "tools": visible(", ".join(names)),
        "replayed": _replay_in_words(replay),
        "more_replayed": replay.more,
        "has_live": Message.objects.filter(conversation=row, deletion=None, status__in=LIVE).exists(),
    }


def _message_in(request: HttpRequest, name: str, tree: Tree[UUID]) -> UUID | None:
    pk = id_in(request, name)
    if pk and pk not in tree.parents:
        raise Http404
    return pk


def _window(request: HttpRequest, tree: Tree[UUID]) -> BranchWindow:
    """The end of the branch, or where the message stands that was asked for."""
    at = _message_in(request, "at", tree)
    path = tree.path_to(tree.newest_leaf(at or tree.head) or at or tree.head)
    if not path:
        return BranchWindow(None, ())
    last = max(0, len(path) - NEWEST)
    begin = number_in(request, "from")
    if begin is None:
        # With a little of what was said before it.
        begin = last if at is None else min(last, max(0, path.index(at) - NEWEST // 10))
    begin = min(begin, len(path) - 1)
    return BranchWindow(
        leaf=path[-1],
        messages=path[begin : begin + NEWEST],
        earlier=max(0, begin - NEWEST) if begin else None,
        later=begin + NEWEST if begin + NEWEST < len(path) else None,
    )


def _replay_in_words(replay: browsing.Replay) -> str:
    rounds = [{"replayed": replay.replayed, "dropped": replay.dropped}]
    words = sent_of(Recorded({"rounds": rounds}), [], model="", label="their models", shortened=False)
    return visible(words[0].words) if replay.requests else ""


class _Reader:
    """Draws messages by the thread's own partials, for somebody who may only read them."""

    def __init__(self, request: SignedIn, tree: Tree[UUID], row: Conversation, whole: bool) -> None:
        self._engine, self._tree, self._whole = engine(), tree, whole
        self._viewer, self._zone = request.user, zone_of(request)
        self.formatting = Formatting()

    def read(self, messages: Sequence[UUID]) -> list[MessageRead]:
        look = Standpoint(
            viewer=self._viewer,
            leaf=None,
            siblings={pk: self._tree.siblings(pk) for pk in messages},
            zone=self._zone,
            tools=self._engine.tools,
            acts=ACTS,
            end=END,
        )
        return [self._read(row, items, look) for row, items in browsing.load_written(messages)]

    def _read(self, row: Message, items: list[Item], look: Standpoint) -> MessageRead:
        label = self._engine.catalog.label(row.model)
        shown = partial(for_others, row, items, look, label, waits=STILL_WRITTEN)
        message = shown() if self._whole else shown(told=cut, blocks=self.formatting.blocks)
        return MessageRead(row.pk, SafeString(message.html()), 0 if self._whole else left_out(items))


def place_of(conversation: UUID, message: UUID) -> str:
    """The address of a message, for whoever administers."""
    return f"{reverse('admin:transcript', args=[conversation])}?at={message}#{message_id(message)}"
