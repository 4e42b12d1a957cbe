"""What reviewers said, as lines of JSON: each submission with its verdict or its labels, its notes and what was submitted; then pairs of
answers to one question of which one was judged better, and how well raters agree. Only of owners who agreed to that when they submitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import combinations
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from ...core import verbatim
from ...core.items import Item, Kind
from ...core.recorded import Recorded
from ...reviews.models import Label, LabelScale, Note, Rating, Seat, Submission, Submitted, Verdict
from ...reviews.page.agreement import METRICS, Metric, alpha, share_agreed
from ...store import load_items_of
from ...store.models import Message

# The better, the first.
_RANKS = {
    verdict: rank for rank, verdict in enumerate((Verdict.APPROVED, Verdict.NEEDS_WORK, Verdict.REJECTED))
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedReviews:
    """Empty and None: any. `until` is the last day of them."""

    reviewer: str = ""
    model: str = ""
    verdict: str = ""
    since: date | None = None
    until: date | None = None
    thoughts: bool = False


def agreed() -> QuerySet[Submission]:
    """What may leave: judged or rated, not taken back, and given for it by whoever owns it."""
    rows = Submission.objects.filter(may_leave=True, withdrawn_at=None, conversation__deleted_at=None)
    return rows.filter(decided_at__isnull=False)


def chosen_reviews(wanted: WantedReviews) -> list[Submission]:
    rows = (
        agreed()
        .select_related("leaf", "reviewer", "label_set")
        .defer("leaf__metadata")
        .order_by("decided_at", "pk")
    )
    if wanted.reviewer:
        rated = Seat.objects.filter(reviewer__username=wanted.reviewer, handed_in_at__isnull=False)
        rows = rows.filter(Q(reviewer__username=wanted.reviewer) | Q(pk__in=rated.values("submission")))
    if wanted.verdict:
        rows = rows.filter(verdict=wanted.verdict)
    if wanted.since:
        rows = rows.filter(decided_at__gte=_begin(wanted.since))
    if wanted.until:
        rows = rows.filter(decided_at__lt=_begin(wanted.until + timedelta(days=1)))
    return [row for row in rows if not wanted.model or wanted.model in row.by_models]


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def as_reviewed(rows: Sequence[Submission], wanted: WantedReviews) -> Iterator[bytes]:
    lines = _Lines(wanted.thoughts)
    for row in rows:
        yield verbatim.encode(lines.submission(row)) + b"\n"
    for better, worse in _pairs(rows):
        if pair := lines.pair(better, worse):
            yield verbatim.encode(pair) + b"\n"
    for line in lines.agreement():
        yield verbatim.encode(line) + b"\n"


def _pairs(rows: Sequence[Submission]) -> Iterator[tuple[Submission, Submission]]:
    """Answers to one question, judged differently."""
    by_question: dict[UUID, list[Submission]] = {}
    for row in rows:
        if row.verdict and row.leaf and row.leaf.parent_id and row.leaf.role == "assistant":
            by_question.setdefault(row.leaf.parent_id, []).append(row)
    for group in by_question.values():
        for one, other in combinations(group, 2):
            first, second = sorted((one, other), key=lambda row: _RANKS[Verdict(row.verdict)])
            if first.verdict != second.verdict and first.leaf_id != second.leaf_id:
                yield first, second


@dataclass(slots=True)
class _Lines:
    """People and submissions have numbers here, which mean nothing elsewhere."""

    thoughts: bool
    _reviewers: dict[int | None, int] = field(default_factory=dict)
    _numbers: dict[UUID, int] = field(default_factory=dict)
    _labels: dict[int, Label] = field(default_factory=dict)
    _units: dict[int, dict[tuple[Any, ...], list[str]]] = field(default_factory=dict)

    def submission(self, row: Submission) -> dict[str, Any]:
        messages = self._messages(row)
        ids = {pk: told["id"] for pk, told in messages.items()}
        self._numbers[row.pk] = len(self._numbers) + 1
        return {
            "kind": "submission",
            "submission": self._numbers[row.pk],
            "verdict": row.verdict,
            "reason": row.reason,
            **self._judged_by(row, ids),
            "decided_at": row.decided_at.astimezone(UTC).isoformat() if row.decided_at else None,
            "question": row.question,
            "leaf": ids.get(row.leaf_id) if row.leaf_id else None,
            "notes": [
                {"on": ids[message], "text": text} | ({"quote": quote} if quote else {})
                for message, text, quote in Note.objects.filter(submission=row)
                .order_by("created_at")
                .values_list("message", "text", "quote")
                if message in ids
            ],
            "messages": list(messages.values()),
        }

    def _judged_by(self, row: Submission, ids: Mapping[UUID, int]) -> dict[str, Any]:
        if row.label_set is None:
            return {"reviewer": self._number_of(row.reviewer_id)}
        ratings = Rating.objects.filter(seat__submission=row, seat__handed_in_at__isnull=False)
        found = ratings.select_related("label", "seat").order_by("label__place", "message__order", "pk")
        return {
            "labels": row.label_set.name,
            "ratings": [self._rating(rating, ids) for rating in found if rating.message_id in ids],
        }

    def _rating(self, rating: Rating, ids: Mapping[UUID, int]) -> dict[str, Any]:
        label = self._labels.setdefault(rating.label_id, rating.label)
        place = (rating.seat.submission_id, rating.message_id, rating.item_key)
        self._units.setdefault(label.pk, {}).setdefault(place, []).append(rating.value)
        told: dict[str, Any] = {
            "reviewer": self._number_of(rating.seat.reviewer_id or -rating.seat_id),
            "label": label.words,
            "scale": label.scale,
            "on": ids[rating.message_id],
            "value": rating.value,
        }
        return told | ({"thought": rating.item_key} if rating.item_key else {})

    def _number_of(self, reviewer: int | None) -> int:
        return self._reviewers.setdefault(reviewer, len(self._reviewers) + 1)

    def agreement(self) -> Iterator[dict[str, Any]]:
        """By each label, over the submissions that were told."""
        for pk, label in self._labels.items():
            metric = METRICS[LabelScale(label.scale)]
            units = list(self._units[pk].values())
            if metric is Metric.NONE:
                continue
            yield {
                "kind": "agreement",
                "labels": label.label_set.name,
                "label": label.words,
                "metric": metric,
                "alpha": alpha(units, metric),
                "agreed": share_agreed(units),
                "items": sum(len(unit) > 1 for unit in units),
            }

    def pair(self, better: Submission, worse: Submission) -> dict[str, Any] | None:
        one, other = self._messages(better), self._messages(worse)
        if better.leaf_id not in one or worse.leaf_id not in other or better.leaf is None:
            return None
        told = [
            {"submission": self._numbers[row.pk], "verdict": row.verdict, "reason": row.reason}
            | {
                name: found[row.leaf_id][name]
                for name in ("model", "text", "thoughts")
                if name in found[row.leaf_id]
            }
            for row, found in ((better, one), (worse, other))
            if row.leaf_id
        ]
        asked = self._above(one, better.leaf.parent_id)
        return {"kind": "pair", "history": asked, "chosen": told[0], "rejected": told[1]}

    def _above(self, found: Mapping[UUID, dict[str, Any]], leaf: UUID | None) -> list[dict[str, Any]]:
        """From the first question to this one."""
        by_id = {told["id"]: told for told in found.values()}
        path, at = list[dict[str, Any]](), found.get(leaf) if leaf else None
        while at is not None:
            path.append({"role": at["role"], "text": at["text"]})
            at = by_id.get(at["parent"])
        return path[::-1]

    def _messages(self, row: Submission) -> dict[UUID, dict[str, Any]]:
        """As they were when they were submitted."""
        fixed = dict(Submitted.objects.filter(submission=row).values_list("message", "items"))
        rows = Message.objects.filter(pk__in=fixed, deletion=None).order_by("order")
        found, items = list(rows), load_items_of(list(fixed))
        ids = {message.pk: number for number, message in enumerate(found, 1)}
        return {
            message.pk: self._message(message, items[message.pk][: fixed[message.pk]], ids)
            for message in found
        }

    def _message(self, row: Message, items: Sequence[Item], ids: Mapping[UUID, int]) -> dict[str, Any]:
        said = (Kind.USER_MESSAGE, Kind.ASSISTANT_MESSAGE)
        told: dict[str, Any] = {
            "id": ids[row.pk],
            "parent": ids.get(row.parent_id) if row.parent_id else None,
            "role": row.role,
            "text": "\n\n".join(item.text for item in items if item.kind in said),
        }
        if row.model:
            told["model"] = row.model
        thoughts = [item for item in items if item.kind is Kind.REASONING]
        if thoughts:
            durations = Recorded(row.metadata).thoughts
            told["thought_ms"] = sum(durations.get(item.key, 0) for item in thoughts)
        if thoughts and self.thoughts:
            told["thoughts"] = [item.text for item in thoughts]
        return told
