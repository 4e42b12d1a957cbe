"""What somebody who brings files sees: what they chose, what is in it, how far it has come, and what they brought before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, Q, Sum
from django.utils import timezone

from ...core.plural import many
from ...pages.words.amounts import in_bytes
from ...pages.words.moments import Moment
from ..formats.shape import Remark
from ..models import Import, ImportFile
from ..store.imports import count_written, label_of
from ..store.uploads import open_import
from .how_far import HowFar

MOST_EARLIER = 20
_WORDS = {
    Remark.ORPHAN: "Messages whose parent is missing, now first questions",
    Remark.LOOP: "A loop of messages, cut where it closed",
    Remark.TWICE: "The same message twice, one kept",
    Remark.LATE_PARENT: "Messages that stood before what they answer",
    Remark.ROOTS: "Conversations with several first questions",
    Remark.HEAD: "The message to open is not there; the newest is opened",
    Remark.TIME: "Moments that cannot be right",
    Remark.DURATION: "Times of thoughts that cannot be right",
    Remark.NO_QUESTION: "Answers without a question, put below an empty one",
    Remark.NO_RESULT: "Calls without a result, now of unknown outcome",
    Remark.ENDED: "Answers that were still being written, now interrupted",
    Remark.FOR_SHOW: "What no model can have said: shown, and never sent to one",
    Remark.PICTURE: "Pictures that the file only names",
    Remark.FILE: "Files that the file only names",
    Remark.SYSTEM: "System messages of the program",
    Remark.UNKNOWN: "Pieces of a kind that is not known here",
    Remark.EMPTY: "Questions and conversations without words",
    Remark.TOOL: "Tools that this server does not have, or has otherwise",
    Remark.TOO_LARGE: "What is larger than 4 MB",
    Remark.SIDE: "What helpers of the program said among themselves",
}


# From where, in which file, and how exactly it knows the times of thoughts.
SOURCES = (
    ("Thoughtline", "any export in its own JSON, or everything as a zip", "to the millisecond"),
    (
        "ChatGPT",
        "Settings, Data controls, Export: the zip that comes by mail",
        "to the millisecond, older ones in seconds",
    ),
    ("Claude", "Settings, Privacy, Export data: the zip", "to the millisecond"),
    ("Claude Code, Codex", "the .jsonl files of its sessions", "to the millisecond"),
    ("Open WebUI", "Settings, Chats, Export", "whole seconds"),
    ("assistant-ui", "an exported repository, or stored rows of its AI SDK adapter", "whole seconds"),
    ("LibreChat", "Export conversation, as JSON", "none in the file"),
)


@dataclass(frozen=True, slots=True)
class ShownFile:
    pk: UUID
    name: str
    words: str
    problem: str
    received: int
    size: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class ShownRemark:
    """`places`: by the title of each conversation."""

    words: str
    count: str
    places: Sequence[str]


@dataclass(frozen=True, slots=True)
class Shares:
    """Where each part of a line begins, and how wide it is, in hundredths."""

    exact: float
    seconds: float

    @property
    def both(self) -> float:
        return self.exact + self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """`coming`: conversations that would come, `found` in the files."""

    coming: int
    found: int
    known: int
    messages: int
    branches: int
    thoughts: int
    instructions: int
    exact: int
    seconds: int
    unknown: int
    repaired: Sequence[ShownRemark]
    left_out: Sequence[ShownRemark]

    @property
    def shares(self) -> Shares:
        whole = max(1, self.thoughts)
        return Shares(round(100 * self.exact / whole, 1), round(100 * self.seconds / whole, 1))


@dataclass(frozen=True, slots=True)
class Earlier:
    pk: UUID
    name: str
    words: str
    at: Moment
    count: int
    was_stopped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPage:
    """`brought`: what is under way, if anything."""

    brought: Import | None
    files: Sequence[ShownFile]
    dry_run: DryRun | None
    how_far: HowFar | None
    earlier: Sequence[Earlier]
    sources: Sequence[tuple[str, str, str]] = SOURCES

    @property
    def step(self) -> str:
        return Import.State(self.brought.state) if self.brought else Import.State.CHOOSING

    @property
    def is_at_work(self) -> bool:
        return self.step in (Import.State.CHECKING, Import.State.COMING)


def import_page(user: User, zone: tzinfo) -> ImportPage:
    brought = open_import(user)
    files = list(brought.files.order_by("created_at", "pk")) if brought else []
    state = Import.State(brought.state) if brought else Import.State.CHOOSING
    return ImportPage(
        brought=brought,
        files=[_file(each) for each in files],
        dry_run=_dry_run(brought, files) if brought and state == Import.State.CHECKED else None,
        how_far=_how_far(brought, files, state) if brought else None,
        earlier=_earlier(user, zone),
    )


def _file(row: ImportFile) -> ShownFile:
    whole = row.received == row.size
    read = "read completely" if row.format else "all here" if whole else f"{in_bytes(row.received)} are here"
    words = ", ".join(filter(None, (label_of(row.format), in_bytes(row.size), read)))
    return ShownFile(row.pk, row.name, words, row.problem, row.received, row.size, whole)


def _dry_run(brought: Import, files: Sequence[ImportFile]) -> DryRun:
    reports = [each.report for each in files if each.report]
    found = brought.found.count()
    fresh = brought.found.filter(is_known=False)
    exact, seconds, unknown = (sum(report["thoughts"][n] for report in reports) for n in range(3))
    remarks = _joined(report["remarks"] for report in reports)
    return DryRun(
        coming=fresh.count(),
        found=found,
        known=found - fresh.count(),
        messages=sum(report["messages"] for report in reports),
        branches=sum(report["branches"] for report in reports),
        instructions=sum(report["instructions"] for report in reports),
        thoughts=exact + seconds + unknown,
        exact=exact,
        seconds=seconds,
        unknown=unknown,
        repaired=[_remark(remark, told) for remark, told in remarks if not remark.is_left_out],
        left_out=[_remark(remark, told) for remark, told in remarks if remark.is_left_out],
    )


def _joined(reports: Iterator[dict[str, Any]]) -> list[tuple[Remark, dict[str, Any]]]:
    joined: dict[Remark, dict[str, Any]] = {}
    for report in reports:
        for name, told in report.items():
            if name in list(Remark):
                kept = joined.setdefault(Remark(name), {"count": 0, "places": []})
                kept["count"] += told["count"]
                kept["places"] += told["places"]
    return [(remark, joined[remark]) for remark in Remark if remark in joined]


def _remark(remark: Remark, told: dict[str, Any]) -> ShownRemark:
    places = [_place(*each) for each in told["places"]]
    more = told["count"] - sum(count for *_, count in told["places"])
    return ShownRemark(
        _WORDS[remark], f"{told['count']:,}", [*places, *([f"and {more:,} more"] if more > 0 else [])]
    )


def _place(title: str, day: str, count: int) -> str:
    on = f", {_day(date.fromisoformat(day))}" if day else ""
    return f"“{title or 'Untitled'}”{on}: {count:,}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B}" if day.year == timezone.now().year else f"{day.day} {day:%B} {day.year}"


def _how_far(brought: Import, files: Sequence[ImportFile], state: Import.State) -> HowFar | None:
    name = files[0].name if len(files) == 1 else many(len(files), "file")
    if state == Import.State.CHECKING:
        size = sum(each.size for each in files)
        read = sum(each.size if each.is_read else min(each.read, each.size) for each in files)
        of = (
            f"{in_bytes(read)} of {in_bytes(size)} looked through"
            if read
            else f"{in_bytes(size)} to look through"
        )
        return HowFar(name, of, read, size)
    if state != Import.State.COMING:
        return None
    coming = brought.found.filter(is_known=False) if brought.skips_known else brought.found.all()
    sums = coming.aggregate(
        all=Sum("messages"),
        found=Count("pk"),
        came=Count("pk", filter=Q(conversation__deleted_at=None, conversation__isnull=False)),
    )
    whole, written = sums["all"] or 0, count_written(brought)
    words = (
        f"{written:,} of {many(whole, 'message')} · {sums['came']:,} of {many(sums['found'], 'conversation')}"
    )
    if left := _seconds_left(brought, written, whole):
        words += f" · about {left} s left"
    return HowFar(name, words, min(written, whole), whole)


def _seconds_left(brought: Import, written: int, whole: int) -> int:
    """As fast as until now; 0 where nobody can say."""
    if not written or brought.started_at is None:
        return 0
    passed = (timezone.now() - brought.started_at).total_seconds()
    return max(0, round(passed * (whole - written) / written))


def _earlier(user: User, zone: tzinfo) -> list[Earlier]:
    ended = (Import.State.CAME, Import.State.STOPPED)
    rows = Import.objects.filter(owner=user, state__in=ended).order_by("-created_at")[:MOST_EARLIER]
    return [_brought_before(row, zone) for row in rows]


def _brought_before(row: Import, zone: tzinfo) -> Earlier:
    files = list(row.files.filter(problem=""))
    there = row.found.filter(conversation__deleted_at=None, conversation__isnull=False)
    labels = ", ".join(sorted({label_of(each.format) for each in files if each.format}))
    exact = sum(each.report["thoughts"][0] for each in files if each.report)
    words = [labels, f"{many(exact, 'thought')} to the millisecond" if exact else ""]
    name = files[0].name if len(files) == 1 else many(len(files), "file")
    at: datetime = row.ended_at or row.created_at
    told = ", ".join(filter(None, words))
    return Earlier(
        row.pk, name, told, Moment(at.astimezone(zone)), there.count(), row.state == Import.State.STOPPED
    )
