"""What a page shows of a message: the same values for reload and stream, so that the same partials make the same HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from ..core.durations import in_short, thinking_in_words, thought_in_words
from ..core.items import Kind
from ..models import LIVE, Message, Role
from ..store.leaving_out import has_older
from .bodies import json_value
from .elements import item_id, message_id
from .endings import Ending, ending
from .meter import Larger
from .pieces import Piece
from .rendered import Blocks

GIST = 120
RULER = 240
_MARKS = re.compile(r"[*_`#>]+")
_SENTENCE = re.compile(r"(?<=[.!?…])\s")


@dataclass(frozen=True)
class ShownItem:
    """One element of an answer. Its shell is what is around the blocks of its body."""

    message: UUID
    piece: Piece
    blocks: Blocks = ()
    thoughts_open: bool = False

    @property
    def id(self) -> str:
        return item_id(self.message, self.piece.key)

    @property
    def body_id(self) -> str:
        return self.id if self.piece.kind in _BARE else f"{self.id}-b"

    def html(self) -> str:
        return self._render("".join(self.blocks))

    def shell(self) -> str:
        return self._render("")

    def _render(self, body: str) -> str:
        context = {"item": self, "piece": self.piece, "body": SafeString(body)}
        return render_to_string(f"_item_{self.piece.kind}.html", context)

    # What the partials ask for

    @cached_property
    def words(self) -> str:
        return thought_in_words(self.piece.ms, cut=self.piece.cut)

    @cached_property
    def running(self) -> str:
        return thinking_in_words(self.piece.elapsed).removeprefix("Thinking for ")

    @property
    def elapsed_ms(self) -> int:
        return round(self.piece.elapsed)

    @cached_property
    def ruler(self) -> tuple[int, str]:
        """Its width, and the unit of a tick where that is not the second."""
        ms = self.piece.elapsed if self.piece.open else self.piece.ms
        if ms is None:
            return 0, ""
        seconds = max(1, int(ms // 1000) if self.piece.open else -int(-ms // 1000))
        return (seconds * 4, "") if seconds <= 60 else (min(RULER, seconds // 10 * 4), "ten")

    @cached_property
    def gist(self) -> str:
        lines = (_MARKS.sub("", line).strip() for line in self.piece.text[:2000].splitlines())
        first = next((line for line in lines if line), "")
        return _SENTENCE.split(first)[0][:GIST] if first else "Kept by the provider, without words"

    @cached_property
    def argument(self) -> str:
        """The first thing that was asked, in one line."""
        arguments = json_value(self.piece.text)
        values = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
        return " ".join(str(values[0]).split())[:GIST] if values and values[0] is not None else ""

    @property
    def outcome(self) -> str:
        return (self.piece.result.outcome if self.piece.result else "") or "running"

    @property
    def took(self) -> str:
        result = self.piece.result
        if result is None or result.ms is None:
            return ""
        return in_short(result.ms, tenths=True)


_BARE = (Kind.ASSISTANT_MESSAGE, Kind.USER_MESSAGE, Kind.PERMISSION_DECISION, Kind.TOOL_RESULT)


@dataclass(frozen=True, kw_only=True)
class Look:
    """Who looks, and at what: what the acts below a message depend on."""

    viewer: Any
    leaf: UUID | None
    siblings: dict[UUID, tuple[UUID, ...]] = field(default_factory=dict)
    zone: tzinfo = UTC
    larger: Callable[[str], Sequence[Larger]] = lambda model: ()
    thoughts_open: bool = False


@dataclass(frozen=True)
class ShownMessage:
    """A question or an answer with everything around its items."""

    row: Message
    items: Sequence[ShownItem]
    look: Look
    timeline: Any = None
    waits: str = ""

    @property
    def id(self) -> str:
        return message_id(self.row.pk)

    @property
    def version(self) -> str:
        """Changes with everything that can change what is shown of the items."""
        return f"{self.row.attempt}.{self.row.next_seq}.{self.row.status}"

    @property
    def at(self) -> datetime:
        """When it was made, by the clock of whoever looks."""
        return self.row.created_at.astimezone(self.look.zone)

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
    def larger(self) -> Sequence[Larger]:
        return self.look.larger(self.row.model)

    @property
    def may_leave_out(self) -> bool:
        return has_older(self.row)

    @property
    def may_go_on(self) -> bool:
        return self.row.pk == self.look.leaf

    @cached_property
    def end(self) -> Ending | None:
        return ending(self.row, self.look.viewer, waits=self.waits)

    @property
    def in_a_word(self) -> str:
        """For those who listen: that it has ended, and how."""
        if self.end:
            return self.end.sentence
        words = getattr(self.timeline, "words", "")
        return f"Answer finished, {words[:1].lower()}{words[1:]}" if words else "Answer finished"

    def html(self) -> str:
        return self._render(SafeString("".join(item.html() for item in self.items) + self.end_html()))

    def shell(self) -> str:
        return self._render(SafeString(""))

    def end_html(self) -> str:
        return render_to_string("_end.html", {"message": self, "end": self.end}) if self.end else ""

    def _render(self, body: SafeString) -> str:
        return render_to_string("_message.html", {"message": self, "body": body})
