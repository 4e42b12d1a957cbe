"""What a page shows of a message: the same values for reload and stream, so that the same partials make the same HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import cache, cached_property
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from ..core.plural import many, one_or_more
from ..pages.elements import message_id
from ..pages.signed_in import Anybody
from ..pages.stencils import Stencil
from ..pages.words.moments import Moment
from ..store import asks_of
from ..store.leaving_out import has_older
from ..store.models import LIVE, Message, Role, Status
from ..tools import Tool
from .endings import Ending, ending
from .item import ShownItem
from .meter import Larger
from .permission import AskedCall, asked_calls, in_a_sentence
from .programs import (
    PARTED,
    HandedCall,
    handed_calls,
    handed_for,
    handed_ms,
    programs_words,
    put_back,
    with_program,
)
from .timeline import Timeline

OWN_ACTS = "thread/_acts_own.html"
_MESSAGE, _TIMELINE = Stencil("thread/_message.html"), Stencil("thread/_timeline.html")
_RESTORED, _PARTED = Stencil("thread/program/_restored.html"), Stencil("thread/program/_parted.html")
_WORDS = "thread/program/_words.html"


@dataclass(frozen=True, kw_only=True)
class Standpoint:
    """Who looks, and at what: what the acts below a message depend on."""

    viewer: Anybody
    leaf: UUID | None
    siblings: Mapping[UUID, tuple[UUID, ...]] = field(default_factory=dict)
    zone: tzinfo = UTC
    larger: Callable[[str], Sequence[Larger]] = lambda model: ()
    tools: Mapping[str, Tool] = field(default_factory=dict)
    # What drives the conversation, where a program does: nobody else writes into it.
    program: str = ""
    # The templates of what can be done to it, and of how it ended: others can do less, or nothing.
    acts: str = OWN_ACTS
    end: str = "thread/_end.html"


def version_of(row: Message) -> str:
    """Changes with everything that can change what is shown of the items."""
    version = f"{row.attempt}.{row.next_seq}.{row.status}{'.expected' * row.is_expected}"
    # What is allowed for a conversation is asked no more, also where no item says so.
    return f"{version}.{len(asks_of(row))}" if row.status == Status.WAITING else version


@dataclass(frozen=True)
class ShownMessage:
    """A question or an answer with everything around its items."""

    row: Message
    items: Sequence[ShownItem]
    look: Standpoint
    timeline: Timeline
    waits: str = ""

    @property
    def id(self) -> str:
        return message_id(self.row.pk)

    @property
    def version(self) -> str:
        return version_of(self.row)

    @cached_property
    def at(self) -> Moment:
        """When it was made."""
        return Moment(self.row.created_at.astimezone(self.look.zone))

    @property
    def is_question(self) -> bool:
        return self.row.role == Role.USER

    @property
    def is_live(self) -> bool:
        return self.row.status in LIVE

    @property
    def place(self) -> tuple[int, int]:
        """Which of its siblings it is, counted from 1."""
        mine = self.look.siblings.get(self.row.pk, ())
        return (mine.index(self.row.pk) + 1, len(mine)) if self.row.pk in mine else (1, 1)

    @property
    def previous(self) -> UUID | None:
        n, _ = self.place
        return self.look.siblings[self.row.pk][n - 2] if n > 1 else None

    @property
    def next(self) -> UUID | None:
        n, count = self.place
        return self.look.siblings[self.row.pk][n] if n < count else None

    @property
    def branches(self) -> bool:
        return self.place[1] > 1

    @property
    def beside(self) -> tuple[UUID, UUID] | None:
        """Two siblings to look at side by side: this one, and the one before it or else after it."""
        if self.previous:
            return self.previous, self.row.pk
        return (self.row.pk, self.next) if self.next else None

    @property
    def larger(self) -> Sequence[Larger]:
        return self.look.larger(self.row.model)

    @property
    def may_leave_out(self) -> bool:
        return has_older(self.row)

    @property
    def may_go_on(self) -> bool:
        return self.row.pk == self.look.leaf and not self.look.program

    @cached_property
    def asks(self) -> tuple[AskedCall, ...]:
        """The calls that wait for somebody's word."""
        return asked_calls(self.row, [item.piece for item in self.items], self.look.tools)

    @cached_property
    def handed(self) -> tuple[HandedCall, ...]:
        """The calls that its program makes now."""
        return handed_calls(self.row, [item.piece for item in self.items])

    @cached_property
    def handed_ms(self) -> int:
        return handed_ms(self.row.touched_at)

    @property
    def handed_for(self) -> str:
        return handed_for(self.handed_ms)

    @cached_property
    def end(self) -> Ending | None:
        if self.asks:
            return Ending(self.row.status, in_a_sentence(self.asks))
        if self.handed:
            return Ending(self.row.status, with_program(self.handed, self.look.program))
        return ending(self.row, self.look.viewer, waits=self.waits)

    @property
    def in_a_word(self) -> str:
        """For those who listen: that it has ended, and how."""
        if self.end:
            return self.end.sentence
        words = self.timeline.words
        return f"Answer finished, {words[:1].lower()}{words[1:]}" if words else "Answer finished"

    def html(self) -> str:
        if not self.items and not self.end:
            return self.shell()
        items = "".join(item.html() for item in self.items)
        return self._render(SafeString(self._programs_words_html + items + self.end_html()))

    def shell(self) -> str:
        return self._shell

    @cached_property
    def _shell(self) -> str:
        return self._render(SafeString(""))

    def end_html(self) -> str:
        return render_to_string(self.look.end, {"message": self, "end": self.end}) if self.end else ""

    def _render(self, body: SafeString) -> str:
        look = {"message.is_question": self.is_question, "message.row.role": self.row.role}
        words = {"message.id": self.id, "message.row.pk": self.row.pk, "message.version": self.version}
        inside = {"timeline": self._timeline_html, "body": body, "acts": self._acts_html}
        inside |= {"restored": self._restored_html, "parted": self._parted_html}
        return _MESSAGE.fill({**look, "message.row.status": self.row.status}, {**words, **inside})

    @property
    def _programs_words_html(self) -> str:
        said = programs_words(self.row) if self.is_question else None
        return render_to_string(_WORDS, {"message": self, "said": said}) if said else ""

    @property
    def _restored_html(self) -> str:
        count = 0 if self.is_question else put_back(self.row)
        if not count:
            return ""
        words = {"put_back": many(count, "thought"), "label": self.timeline.label}
        words["them"] = one_or_more(count, "it", "them")
        return _RESTORED.fill({}, {"message.id": self.id, **words})

    @property
    def _parted_html(self) -> str:
        """Where a program asked otherwise than before."""
        n, _ = self.place
        if not self.look.program or n == 1:
            return ""
        before = "its first try" if n == 2 else "the try before"
        words = {"message.id": self.id, "message.row.conversation_id": self.row.conversation_id}
        said = PARTED[Role(self.row.role)].format(before)
        look = before.replace("its", "the")
        return _PARTED.fill(
            {}, {**words, "message.previous": self.previous, "said": said, "look": f"See {look}"}
        )

    @property
    def _timeline_html(self) -> str:
        return "" if self.is_question else _TIMELINE.fill_with("timeline", self.timeline)

    @property
    def _acts_html(self) -> str:
        branches = self._branches_in_words()
        if not self.look.acts or (self.look.acts == OWN_ACTS and self.is_live and not branches):
            return ""
        look = {
            "is_live": self.is_live,
            "is_question": self.is_question,
            "is_driven": bool(self.look.program),
        }
        look["may_ask_again"] = self.may_go_on or not (self.is_question or self.look.program)
        words = {
            "id": self.id,
            "row.pk": self.row.pk,
            "row.conversation_id": self.row.conversation_id,
            "at.exact": self.at.exact,
            "at.day": self.at.day,
            "at.clock": self.at.clock,
        }
        return _acts(self.look.acts).fill(
            _of_message({**look, "branches": bool(branches)}), _of_message({**words, **branches})
        )

    def _branches_in_words(self) -> dict[str, Any]:
        """What their picker says, where there are several."""
        if not self.beside:
            return {}
        (n, count), (one, other) = self.place, self.beside
        return {
            "row.parent_id": self.row.parent_id,
            "previous": self.previous,
            "next": self.next,
            "place.0": n,
            "place.1": count,
            "beside.0": one,
            "beside.1": other,
        }


@cache
def _acts(template: str) -> Stencil:
    return Stencil(template)


def _of_message(said: Mapping[str, Any]) -> dict[str, Any]:
    return {f"message.{name}": value for name, value in said.items()}
