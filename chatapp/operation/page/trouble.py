"""What is wrong, or worth knowing, in sentences: the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ...core.durations import in_short
from ...core.plural import many
from ...pages.words.moments import lasted
from ...store.database.pool import Connections
from ..models import Upkeep
from ..part.doing import Does
from ..store.fingerprints import THE_KEY, differences
from ..store.presence import shared_folders
from ..store.waiting import SLOT, LiveTurns
from .process import Process, named

# Whoever fell silent longer ago than this is listed, and no news any more.
NEWS = timedelta(hours=1)
LONG_WAIT = timedelta(seconds=30)
LATE_MS, SLOW_MS, AHEAD_MS = 250, 100, 2000
NEARLY_ALL = 0.9
WHAT_A_KEY_OPENS = "Who signs in at one is not known to the other."


@dataclass(frozen=True, slots=True)
class Complaint:
    sentence: str
    is_bad: bool = True

    @property
    def health(self) -> str:
        return "bad" if self.is_bad else "slow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that troubles are seen in. `is_many`: processes are there beside each other."""

    now: datetime
    processes: Sequence[Process]
    turns: Mapping[str, LiveTurns]
    connections: Connections | None
    database_ms: float
    is_many: bool
    proved: Upkeep | None

    @property
    def alive(self) -> list[Process]:
        return [each for each in self.processes if each.is_alive]


def troubles(here: Situation) -> list[Complaint]:
    found = [
        *(_among_many(here) if here.is_many else ()),
        *_of_each(here),
        *_of_the_database(here),
        *_of_the_log(here),
    ]
    return sorted(found, key=lambda trouble: not trouble.is_bad)


def _among_many(here: Situation) -> Iterator[Complaint]:
    yield from _no_workers(here)
    yield from _silent(here)
    yield from _different(here)
    for names in shared_folders((each.there.runner, each.machine) for each in here.alive):
        yield Complaint(
            f"DATA_DIR is one folder for {' and '.join(names)}: each machine needs one of its own."
        )
    yield from _redis_away(here)
    deaf = [each for each in here.alive if each.figures.get("hears") is False]
    if deaf:
        yield Complaint(
            f"What others change is not heard at {named(deaf)}: pages there look every two seconds."
        )
    if len({each.there.code for each in here.alive}) > 1:
        yield Complaint(
            "Different versions run beside each other. That is well while an update goes on.", False
        )


def _no_workers(here: Situation) -> Iterator[Complaint]:
    workers = [each for each in here.alive if each.works and not each.is_ending]
    waiting = here.turns[SLOT].number
    if not workers:
        what = (
            f"{many(waiting, 'question')} {'waits' if waiting == 1 else 'wait'}"
            if waiting
            else "questions will wait"
        )
        yield Complaint(f"No worker is there: {what} until one is started, with ./start --work.")
    elif not any(each.figures.get("fetches") for each in workers):
        yield Complaint(
            "No worker fetches turns at the moment: each is still starting, or has lost the database."
        )
    elif here.turns[SLOT].oldest > LONG_WAIT:
        words = lasted(here.turns[SLOT].oldest)
        yield Complaint(
            f"The oldest question has waited {words} for a free slot. More workers would take it sooner.",
            False,
        )


def _silent(here: Situation) -> Iterator[Complaint]:
    for each in here.processes:
        since = each.there.silent_since
        if since and here.now - since < NEWS:
            yield Complaint(
                f"{each.name} on {each.machine} fell silent {lasted(here.now - since)} ago, at {each.silent}. "
                "What ran there goes on elsewhere."
            )


def _different(here: Situation) -> Iterator[Complaint]:
    known = {f"{each.name} on {each.machine}": each.there.fingerprints for each in here.alive}
    for each in differences(known):
        yield Complaint(f"{each.sentence} {WHAT_A_KEY_OPENS}" if each.name == THE_KEY else each.sentence)


def _redis_away(here: Situation) -> Iterator[Complaint]:
    away = [each for each in here.alive if each.figures.get("redis_away_since")]
    if away:
        seconds = max(here.now.timestamp() - each.number("redis_away_since") for each in away)
        words = lasted(timedelta(seconds=max(1, seconds)))
        whom = "anybody" if len(away) == len(here.alive) else named(away)
        yield Complaint(f"Redis has not answered {whom} for {words}. Pages pause, and go on when it is back.")


def _of_each(here: Situation) -> Iterator[Complaint]:
    saving = sum(each.at_work[Does.SAVES] for each in here.alive)
    if saving:
        yield Complaint(f"The database takes nothing: {many(saving, 'answer')} wait to be kept.")
    late = [each for each in here.alive if each.number("late_ms") > LATE_MS]
    if late:
        most = max(each.number("late_ms") for each in late)
        yield Complaint(
            f"{named(late)} had more to do than time, and came up to {in_short(round(most), tenths=True)} late.",
            False,
        )
    waiting = [each for each in here.alive if _waits_for_connection(each)]
    if waiting:
        yield Complaint(f"All connections to the database are in use at {named(waiting)}.", False)
    ahead = [each for each in here.alive if abs(each.number("ahead_ms")) > AHEAD_MS]
    if ahead:
        ms = max((each.number("ahead_ms") for each in ahead), key=abs)
        words, how = in_short(round(abs(ms))), "ahead of" if ms > 0 else "behind"
        yield Complaint(
            f"The clock of {ahead[0].machine} is {words} {how} the database’s. Nothing here minds; its logs do.",
            False,
        )


def _waits_for_connection(process: Process) -> bool:
    """Somebody waits, and there can be no more of them."""
    match process.figures.get("pool"):
        case [int(used), _, int(most), int(waiting)]:
            return used >= most and waiting > 0
        case _:
            return False


def _of_the_database(here: Situation) -> Iterator[Complaint]:
    if here.database_ms > SLOW_MS:
        yield Complaint(f"The database took {here.database_ms:.0f} ms to say what time it is.", False)
    if here.connections and here.connections.number > NEARLY_ALL * here.connections.most:
        words = f"{here.connections.number} of {here.connections.most}"
        yield Complaint(
            f"{words} connections of PostgreSQL are in use. Raise max_connections before it refuses some.",
            False,
        )


def _of_the_log(here: Situation) -> Iterator[Complaint]:
    if here.proved and here.proved.breaches:
        words = breaches_in_words(here.proved.breaches)
        yield Complaint(f"The log was found with {words}. manage.py verify_log names each.")


def breaches_in_words(number: int) -> str:
    return many(number, "breach", "breaches") if number else "no breach"
