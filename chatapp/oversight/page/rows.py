"""A row of the list of conversations: what it is called, whose it is, and its figures in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from uuid import UUID

from ...core.durations import in_short
from ...core.plural import many
from ...core.signs.visible import Leave, visible
from ...pages.words.amounts import NOTHING, paid, short
from ...pages.words.moments import Moment
from ...reviews.models import Verdict
from ...store.models import Conversation, Status
from ..store.browsing import ConversationFigures

# The ruler of a list: a tick is a minute.
TICK, MOST_RULER = 4, 120
UNTITLED = "Without a title"
_VERDICTS: dict[str, str] = {Verdict.NEEDS_WORK: "work", Verdict.REJECTED: "bad"}


@dataclass(frozen=True, slots=True)
class RowState:
    """`kind`: how it is drawn: `runs`, `waits`, `failed`, or as a review; empty where it is only said."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRow:
    """`told`: what stands under its title; `more`: tokens and cost are those of its newest answers alone."""

    pk: UUID
    title: str
    told: str
    owner: str
    owner_pk: int
    models: str
    branches: int
    thought: str
    ruler: int
    tokens: str
    cost: str
    more: bool
    state: RowState
    last: Moment
    when: str


def title_of(row: Conversation) -> str:
    return visible(row.title, Leave.PROSE) or UNTITLED


def rows_of(
    rows: Sequence[Conversation],
    figures: Mapping[UUID, ConversationFigures],
    reviewed: Mapping[UUID, str],
    zone: tzinfo,
    now: datetime,
) -> list[ConversationRow]:
    return [
        _row(row, figures.get(row.pk, ConversationFigures()), reviewed.get(row.pk), zone, now) for row in rows
    ]


def _row(
    row: Conversation, figures: ConversationFigures, review: str | None, zone: tzinfo, now: datetime
) -> ConversationRow:
    last = Moment((figures.last or row.updated_at).astimezone(zone))
    said = [many(figures.messages, "message")]
    said += [f"by {visible(row.program)}"] if row.program else []
    said += ["archived"] if row.archived_at else []
    return ConversationRow(
        pk=row.pk,
        title=title_of(row),
        told=", ".join(said),
        owner=visible(row.owner.get_username()),
        owner_pk=row.owner_id,
        models=visible(", ".join(name.partition(":")[2] or name for name in sorted(figures.models))),
        branches=figures.branches,
        thought=NOTHING if figures.thinking is None else in_short(figures.thinking),
        ruler=min(MOST_RULER, -(-(figures.thinking or 0) // 60_000) * TICK),
        tokens=_tokens(figures),
        cost=paid(figures.used) if figures.used["cost"] or figures.used["unpriced"] else NOTHING,
        more=figures.more,
        state=_state(row, figures.states, review),
        last=last,
        when=last.clock if last.at.date() == now.astimezone(zone).date() else f"{last.at:%-d %b %Y}",
    )


def _tokens(figures: ConversationFigures) -> str:
    number = figures.used["input"] + figures.used["output"]
    return f"{short(number)}{'+' if figures.more else ''}" if number else NOTHING


def _state(row: Conversation, states: set[str], review: str | None) -> RowState:
    """What an administrator would do something about comes first."""
    if states & {Status.RUNNING, Status.QUEUED}:
        return RowState("runs", "answers now")
    if Status.WAITING in states:
        who = "its program" if row.program else visible(row.owner.get_username())
        return RowState("waits", f"asks {who}")
    if Status.FAILED in states:
        return RowState("failed", "failed")
    if review is not None:
        return RowState(_VERDICTS.get(review, "good"), review) if review else RowState("open", "in review")
    for status in (Status.INTERRUPTED, Status.STOPPED):
        if status in states:
            return RowState("", str(status))
    return RowState("", "answered" if states else "empty")
