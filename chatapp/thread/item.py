"""One item of an answer as a page shows it: the same values for reload and stream, so that the same partial makes the same HTML."""

from __future__ import annotations

import re
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cached_property
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from ..core.durations import in_short, thinking_in_words, thought_in_words
from ..core.items import Kind, Outcome
from ..core.pretty_json import json_value
from ..core.signs.visible import visible, visible_name
from ..core.titles import unmarked
from ..markdown.kept import Blocks
from ..pages.elements import body_id, item_id
from ..pages.signed_in import Anybody
from ..pages.stencils import Stencil
from ..pages.words.moments import Moment
from .gap_in_words import gap_in_words
from .item_words import DECIDED, OUTCOMES
from .items_so_far import ASKS, HANDED, NEXT, ItemSoFar
from .timeline import YOU

GIST = 120
RULER = 240
_SENTENCE = re.compile(r"(?<=[.!?…])\s")
# How a call stands, where its time does not say it.
WRITING, RUNNING, MISSING = "writing", "running", "missing"
_STANDS = {
    WRITING: "being written",
    NEXT: "waits for its turn",
    HANDED: "waits for its result",
    MISSING: "no result",
    **OUTCOMES,
}
# It is the program's turn, or it went on without a result.
_OF_PROGRAMS = {NEXT: "", Outcome.UNKNOWN: "its result never came"}
# `_item_reasoning.html`, `_item_tool_call.html` and so on.
_STENCILS = {
    kind: Stencil(f"thread/_item_{kind}.html")
    for kind in (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL)
}
_BARE = (Kind.ASSISTANT_MESSAGE, Kind.USER_MESSAGE, Kind.TOOL_RESULT)


@dataclass(frozen=True)
class ShownItem:
    """One element of an answer. Its shell is what is around the blocks of its body. `asked`: who allows its call; `by_program`: a
    program drives what it is an element of."""

    message: UUID
    piece: ItemSoFar
    blocks: Blocks = ()
    thoughts_open: bool = False
    viewer: Anybody | None = None
    zone: tzinfo = UTC
    asked: str = YOU
    by_program: bool = False

    @property
    def id(self) -> str:
        return item_id(self.message, self.piece.key)

    @property
    def body_id(self) -> str:
        return self.id if self.piece.kind in _BARE and not self.piece.role else body_id(self.id)

    def html(self) -> str:
        return self._render("".join(self.blocks))

    def shell(self) -> str:
        return self._render("")

    def _render(self, inside: str) -> str:
        kind, body = self.piece.kind, SafeString(inside)
        if kind not in _STENCILS:
            context = {"item": self, "piece": self.piece, "body": body}
            return render_to_string(f"thread/_item_{kind}.html", context)
        look, words = self._look(), self._said()
        words |= {"item.id": self.id, "item.body_id": self.body_id, "piece.key": self.piece.key, "body": body}
        return _STENCILS[kind].fill({**look, "piece.open": self.piece.open}, words)

    def _look(self) -> dict[str, Hashable]:
        """What its template decides by."""
        if self.piece.kind is Kind.TOOL_CALL:
            look = {"item.state": str(self.state), "item.is_at_work": self.is_at_work}
            return {**look, "item.is_programs": self.is_programs}
        if self.piece.kind is Kind.USER_MESSAGE:
            return {"piece.role": bool(self.piece.role)}
        return {"item.thoughts_open": self.thoughts_open}

    def _said(self) -> dict[str, Any]:
        """What stands in it beside its names."""
        match self.piece.kind:
            case Kind.ASSISTANT_MESSAGE:
                return {"piece.cut": self.piece.cut, "item.gap": self.gap}
            case Kind.REASONING:
                return self._thought()
            case Kind.TOOL_CALL:
                return self._call()
            case Kind.USER_MESSAGE:
                return {"item.gist": self.gist} if self.piece.role else {}
            case Kind.TOOL_RESULT | Kind.PERMISSION_DECISION:
                return {}

    def _thought(self) -> dict[str, Any]:
        ruler = {"item.ruler.0": self.ruler[0], "item.ruler.1": self.ruler[1]}
        if self.piece.open:
            return {"item.elapsed_ms": self.elapsed_ms, "item.running": self.running, **ruler}
        return {"item.words": self.words, "item.gist": self.gist, **ruler}

    def _call(self) -> dict[str, Any]:
        return {
            "piece.call_id": self.piece.call_id,
            "item.name": self.name,
            "item.argument": self.argument,
            "item.stands": self.stands,
            "item.clock": self.clock,
            "item.clock_ms": self.clock_ms,
            "item.took": self.took,
            "item.progress": self.progress,
        }

    # What the partials ask for

    @property
    def gap(self) -> str:
        """When it was cut and when it went on."""
        return gap_in_words(self.piece.gap, self.zone)

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
        if self.piece.withheld:
            return ""
        first = unmarked(self.piece.text[:2000]).partition("\n")[0]
        if not first:
            # One that was stopped may have had words to come.
            return "" if self.piece.cut else "Kept by the provider, without words"
        return _SENTENCE.split(first)[0][:GIST]

    @cached_property
    def argument(self) -> str:
        """The first thing that was asked, in one line."""
        arguments = json_value(self.piece.text)
        values = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
        words = " ".join(str(values[0])[: 20 * GIST].split()) if values and values[0] is not None else ""
        return visible(words[:GIST])

    @property
    def name(self) -> str:
        return visible_name(self.piece.name)

    @property
    def state(self) -> str:
        """Of a call."""
        result = self.piece.result
        if self.piece.open:
            return WRITING
        if result is None:
            return self.piece.waits or MISSING
        return RUNNING if result.open else result.outcome or Outcome.DONE

    @property
    def is_programs(self) -> bool:
        """A call that the program makes which asked, and nobody here."""
        return self.by_program or self.piece.by_program

    @property
    def is_at_work(self) -> bool:
        return self.state in (WRITING, RUNNING)

    @property
    def stands(self) -> str:
        if self.is_programs and self.state in _OF_PROGRAMS:
            return _OF_PROGRAMS[self.state]
        return f"waits for {self.asked}" if self.state == ASKS else _STANDS.get(self.state, "")

    @property
    def clock(self) -> str:
        """Of a call that runs. Tenths of seconds may come of it, so it begins with none."""
        ms = self.piece.result.elapsed if self.piece.result else 0.0
        return "0 s" if ms < 1000 else thinking_in_words(ms).removeprefix("Thinking for ")

    @property
    def clock_ms(self) -> int:
        return round(self.piece.result.elapsed) if self.piece.result else 0

    @property
    def progress(self) -> str:
        """The newest of what a running tool said of itself."""
        text = self.piece.result.text if self.piece.result and self.piece.result.open else ""
        return visible(text.rstrip("\n").rpartition("\n")[2][:GIST])

    def progress_html(self) -> str:
        return render_to_string("thread/_progress.html", {"item": self})

    @property
    def took(self) -> str:
        result = self.piece.result
        if result is None or result.ms is None or result.open:
            return ""
        return in_short(result.ms, tenths=True)

    # Of a decision

    @property
    def decided(self) -> str:
        """What was decided, and by whom where that is told."""
        decided = self.piece.decided
        if decided is None:
            return "Decided"
        if not decided.by:
            return f"{DECIDED[decided.decision]}:"
        by = "you" if decided.by == str(getattr(self.viewer, "pk", "")) else visible(decided.name)
        return f"{DECIDED[decided.decision]} by {by}"

    @property
    def decided_at(self) -> Moment | None:
        with suppress(ValueError, OverflowError):
            at = self.piece.decided.at if self.piece.decided else ""
            return Moment(datetime.fromisoformat(at).astimezone(self.zone))
        return None
