"""Processes say that they are there, and of which others that was said."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from ...core.values import fields
from ...processes.itself import Task
from ..models import KnownProcess
from .fingerprints import differences

# Whoever has said nothing for so long has fallen silent; after so long nobody speaks of it any more.
SILENT, FORGOTTEN = timedelta(seconds=35), timedelta(days=1)
# Several that come at once take the same name, and all but one try again.
TRIES = 5


@dataclass(frozen=True, slots=True)
class Introduced:
    """What a process says of itself once."""

    runner: str
    task: str
    machine: str
    code: str


@dataclass(frozen=True, slots=True)
class There:
    """`silent_since`: where nothing has been heard of it for too long."""

    runner: str
    task: str
    name: str
    machine: str
    code: str
    began: datetime
    said: datetime
    silent_since: datetime | None
    fingerprints: dict[str, Any]
    figures: dict[str, Any]


def say(me: Introduced, fingerprints: dict[str, str], figures: dict[str, Any]) -> None:
    mine = KnownProcess.objects.filter(runner=me.runner)
    changes = {"said_at": Now(), "fingerprints": fingerprints, "figures": figures}
    if not mine.update(**changes):
        _come(me, changes)


def _come(me: Introduced, changes: dict[str, Any]) -> None:
    KnownProcess.objects.filter(said_at__lt=Now() - FORGOTTEN).delete()
    for left in reversed(range(TRIES)):
        try:
            with transaction.atomic():
                KnownProcess.objects.create(
                    runner=me.runner,
                    task=me.task,
                    number=_free_number(me.task),
                    machine=me.machine,
                    code=me.code,
                    began_at=Now(),
                    **changes,
                )
            return
        except IntegrityError:
            if not left:
                raise


def _free_number(task: str) -> int:
    taken = set(KnownProcess.objects.filter(task=task).values_list("number", flat=True))
    return next(number for number in count(1) if number not in taken)


def leave(runner: str) -> None:
    """It ends as it was told to."""
    KnownProcess.objects.filter(runner=runner).delete()


def replace_lost(is_gone: Callable[[str], bool]) -> None:
    """Whoever comes back into the folder of a process that died takes its place."""
    names = list(KnownProcess.objects.values_list("runner", flat=True))
    KnownProcess.objects.filter(runner__in=[name for name in names if is_gone(name)]).delete()


def load_present(now: datetime) -> list[There]:
    """By their names. `now` by the database's clock."""
    rows = KnownProcess.objects.filter(said_at__gte=now - FORGOTTEN).order_by("task", "number")
    return [_there(row, now) for row in rows]


def shared_folders(there: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Machines that have one folder between them, of processes by the names of their runners, which begin with the id of the folder,
    and by their machines."""
    machines: dict[str, set[str]] = defaultdict(set)
    for runner, machine in there:
        machines[runner.partition("/")[0]].add(machine)
    return [sorted(names) for names in machines.values() if len(names) > 1]


def load_fingerprints(now: datetime) -> dict[str, dict[str, str]]:
    """Of those that are not silent, by the names of their runners; whoever came first is the first."""
    rows = KnownProcess.objects.filter(said_at__gte=now - SILENT).order_by("began_at", "runner")
    return {runner: fields(prints) for runner, prints in rows.values_list("runner", "fingerprints")}


def _there(row: KnownProcess, now: datetime) -> There:
    return There(
        runner=row.runner,
        task=row.task,
        name=str(row),
        machine=row.machine,
        code=row.code,
        began=row.began_at,
        said=row.said_at,
        silent_since=row.said_at if now - row.said_at > SILENT else None,
        fingerprints=fields(row.fingerprints),
        figures=fields(row.figures),
    )


@dataclass(frozen=True, slots=True)
class ProcessesThere:
    """How many processes there are of each task; how many fell silent, and how many are not set up as the others."""

    by_task: dict[str, int]
    silent: int
    different: int


def count_present(now: datetime) -> ProcessesThere:
    rows = list(
        KnownProcess.objects.filter(said_at__gte=now - FORGOTTEN)
        .order_by("began_at", "runner")
        .values_list("runner", "task", "said_at", "fingerprints")
    )
    alive = [row for row in rows if now - row[2] <= SILENT]
    tasks = Counter(task for _, task, _, _ in alive)
    other = {each.who for each in differences({runner: fields(prints) for runner, _, _, prints in alive})}
    by_task = {str(task): tasks[task] for task in (Task.SERVES, Task.WORKS)}
    return ProcessesThere(by_task, len(rows) - len(alive), len(other))


def name_of(runner: str) -> str:
    """As people call it; nothing where nobody knows it any more."""
    row = KnownProcess.objects.filter(runner=runner).first()
    return f"{row} on {row.machine}" if row else ""
