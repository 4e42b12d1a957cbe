"""A conversation as it was: every message of every branch, with its durations, its failures, and what was sent for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString

from ...core.items import Item
from ...core.named import number
from ...core.recorded import Recorded
from ...core.signs.visible import Leave, visible
from ...core.tree import Tree
from ...pages.elements import message_id
from ...pages.in_address import id_in
from ...pages.signed_in import SignedIn
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ...store import names_of
from ...store.models import Conversation, Message, Role, Status
from ...store.places import load_tree
from ...thread.message import Standpoint
from ...thread.page import for_others
from ...thread.sent import sent_of
from ...turns.engine import engine
from ..models import Look
from ..page import Formatting, cut, left_out
from ..store import browsing
from ..store.looks import append_looks
from .closed import closed

WINDOW = 50
END = "admin/chatapp/conversation/_end.html"


@dataclass(frozen=True, slots=True)
class Link:
    """To another message, by its number."""

    number: int
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A message as the thread draws it, and what is told of it here alone. `more`: so many signs of it stand only where it
    is shown whole."""

    pk: UUID
    html: SafeString
    number: int
    is_question: bool
    by: str
    at: str
    status: str
    more: int
    above: Link | None
    below: Sequence[Link]
    siblings: Sequence[Link]


@dataclass(frozen=True, slots=True)
class Window:
    """The messages of one page, of all there are or of one branch."""

    messages: Sequence[UUID]
    number: int
    last: int

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next(self) -> int | None:
        return self.number + 1 if self.number < self.last else None


def transcript(request: SignedIn, pk: UUID, context: dict[str, Any]) -> HttpResponse:
    if not may_read():
        return closed(request, context)
    row = Conversation.objects.select_related("owner").filter(pk=pk, deleted_at=None).first()
    if row is None:
        raise Http404
    append_looks(request.user, [pk], Look.What.TRANSCRIPT, address=visitor_address(request))
    tree = load_tree(pk)
    branch = _message_in(request, "branch", tree)
    whole = _message_in(request, "whole", tree)
    window = _window(request, tree, tree.path_to(branch) if branch else tuple(tree.parents), whole)
    teller = _Teller(request, tree, whole is not None)
    context |= {
        "title": visible(row.title, Leave.PROSE) or "Without a title",
        "row": row,
        "owner": visible(row.owner.get_username()),
        "began": day_and_time(row.created_at, zone_of(request)),
        "instructions": visible(row.instructions, Leave.PROSE),
        "tools": visible(", ".join(names_of(row))),
        "count": len(tree.parents),
        "leaves": sum(1 for at in tree.parents if at not in tree.children),
        "replay": browsing.load_replay(pk),
        "window": window,
        "branch": branch,
        "whole": whole,
        "written": teller.tell(window.messages),
        "formatting": teller.formatting,
    }
    context["replayed"] = _replay_in_words(context["replay"])
    return render(request, "admin/chatapp/conversation/transcript.html", context)


def _message_in(request: HttpRequest, name: str, tree: Tree[UUID]) -> UUID | None:
    pk = id_in(request, name)
    if pk and pk not in tree.parents:
        raise Http404
    return pk


def _window(request: HttpRequest, tree: Tree[UUID], told: Sequence[UUID], whole: UUID | None) -> Window:
    if whole:
        return Window((whole,), 1, 1)
    last = max(1, -(-len(told) // WINDOW))
    at = _message_in(request, "at", tree)
    page = told.index(at) // WINDOW + 1 if at in told else _page_number(request)
    page = min(page, last)
    return Window(told[(page - 1) * WINDOW : page * WINDOW], page, last)


def _page_number(request: HttpRequest) -> int:
    return number(request.GET.get("page", "")) or 1


def _replay_in_words(replay: browsing.Replay) -> str:
    rounds = [{"replayed": replay.replayed, "dropped": replay.dropped}]
    words = sent_of(Recorded({"rounds": rounds}), [], model="", label="their models", shortened=False)
    return visible(words[0].words) if replay.requests else ""


class _Teller:
    def __init__(self, request: HttpRequest, tree: Tree[UUID], whole: bool) -> None:
        self._engine, self._zone, self._tree = engine(), zone_of(request), tree
        self._whole, self.formatting = whole, Formatting()
        self._look = Standpoint(
            viewer=request.user, leaf=None, zone=self._zone, tools=self._engine.tools, acts="", end=END
        )
        self._numbers: Mapping[UUID, int] = {pk: number for number, pk in enumerate(tree.parents, 1)}

    def tell(self, messages: Sequence[UUID]) -> list[Written]:
        return [self._tell(row, items) for row, items in browsing.load_written(messages)]

    def _tell(self, row: Message, items: list[Item]) -> Written:
        above, siblings = self._tree.parents[row.pk], self._tree.siblings(row.pk)
        author = row.author.get_username() if row.author else ""
        label = self._engine.catalog.label(row.model)
        shown = partial(for_others, row, items, self._look, label)
        message = shown() if self._whole else shown(told=cut, blocks=self.formatting.blocks)
        return Written(
            pk=row.pk,
            # A thread leaves hidden signs in prose to those who write with them. Here nothing may hide.
            html=SafeString(visible(message.html(), Leave.PROSE)),
            number=self._numbers[row.pk],
            is_question=row.role == Role.USER,
            by=visible(author),
            at=day_and_time(row.created_at, self._zone),
            more=0 if self._whole else left_out(items),
            status="" if row.status == Status.COMPLETE else row.get_status_display().lower(),
            above=self._link(above) if above else None,
            below=[self._link(pk) for pk in self._tree.children.get(row.pk, ())],
            siblings=[self._link(pk) for pk in siblings] if len(siblings) > 1 else [],
        )

    def _link(self, pk: UUID) -> Link:
        return Link(self._numbers[pk], f"?at={pk}#{message_id(pk)}")
