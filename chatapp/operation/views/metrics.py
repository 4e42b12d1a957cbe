"""The figures of this process and of its database, as Prometheus reads them. Numbers only: no names, no words."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import Error
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from ...gateway.store.requests import count_requests
from ...processes.counters import ENDED, REQUESTS
from ...processes.itself import ITSELF
from ...store.database.pool import ask_database
from ..models import Upkeep
from ..part.figures import figures_now
from ..part.noticed import NOTICED
from ..store.presence import count_present
from ..store.taken_over import count_taken_over
from ..store.upkeep import SAVED, VERIFIED, load_upkeep
from ..store.waiting import PERSON, PROGRAM, RUNS, SLOT, count_live

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STATUS = {SLOT: "queued", RUNS: "running"}
Value = float | int | bool


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse(render_metrics(), content_type=CONTENT_TYPE)


@dataclass(frozen=True, slots=True)
class Family:
    """`values` by what the label says; under no label there is one."""

    name: str
    words: str
    values: Mapping[str, Value]
    label: str = ""
    kind: str = "gauge"

    def lines(self) -> Iterator[str]:
        yield f"# HELP thoughtline_{self.name} {self.words}\n# TYPE thoughtline_{self.name} {self.kind}\n"
        for each in sorted(self.values):
            labels = f'{{{self.label}="{each}"}}' if self.label else ""
            yield f"thoughtline_{self.name}{labels} {_number(self.values[each])}\n"


def one(name: str, words: str, value: Value) -> Family:
    return Family(name, words, {"": value})


def render_metrics() -> str:
    families = [*_of_this_process(), *_of_the_database()]
    return "".join(line for family in families for line in family.lines())


def _number(value: Value) -> str:
    return str(int(value)) if value == int(value) else f"{value:.6f}".rstrip("0")


def _of_this_process() -> Iterator[Family]:
    now = figures_now()
    yield Family("http_responses_total", "Answers to requests, by status.", REQUESTS, "status", "counter")
    yield Family("turns_ended_total", "Turns that ended here, by how they did.", ENDED, "status", "counter")
    yield one("process_memory_bytes", "Memory of this process.", _memory())
    yield one("loop_late_seconds", "How late the event loop came, at most of late.", now["late_ms"] / 1000)
    yield one("sockets", "Pages that listen to this process.", now["sockets"])
    yield Family("turns_here", "Turns that run in this process, by what they do.", now["at_work"], "does")
    yield one("programs_here", "Requests of programs that this process answers.", now["programs"])
    yield one("ending", "1 when this process was told to end.", ITSELF.is_ending)
    if now["pool"]:
        used, size, most, waiting = now["pool"]
        pool = {"used": used, "open": size, "most": most}
        yield Family("database_pool_connections", "Connections of this process to its database.", pool, "of")
        yield one("database_pool_waiting", "Who waits for a connection of this process.", waiting)
    if ITSELF.fetches:
        yield one("fetches", "1 when this process fetches turns.", now["fetches"])
        yield one("places", "How many turns may run in this process at a time.", now["places"])
    if settings.REDIS_URL:
        yield from _among_many(now)


def _among_many(now: dict[str, Any]) -> Iterator[Family]:
    yield one("redis_answers", "1 when Redis answers this process.", NOTICED.redis_away_since is None)
    yield one(
        "stream_unsaid_seconds", "For how long Redis has not taken what is said.", now["unsaid_ms"] / 1000
    )
    yield one("notices_heard", "1 when this process hears what others change.", now["hears"])
    if now["lag"]:
        median, most = (ms / 1000 for ms in now["lag"])
        yield Family(
            "stream_lag_seconds",
            "From a word said in another process until it is read here, in five minutes.",
            {"0.5": median, "0.99": most},
            "quantile",
        )


def _of_the_database() -> Iterator[Family]:
    words = "1 when the database answers."
    try:
        asked = ask_database()
        live, taken = count_live(asked.now), count_taken_over(asked.now)
        requests, present = count_requests(), count_present(asked.now)
        upkeep = load_upkeep()
    except Error:
        yield one("database_answers", words, 0)
        return
    yield one("database_answers", words, 1)
    yield one(
        "database_answer_seconds", "How long the database took to say what time it is.", asked.ms / 1000
    )
    waiting = live[PERSON].number + live[PROGRAM].number
    turns = {name: live[what].number for what, name in _STATUS.items()} | {"waiting": waiting}
    yield Family("turns", "Turns that have not ended, by status.", turns, "status")
    yield one("turns_live", "Turns that have not ended.", sum(turns.values()))
    waits = {what: live[what] for what in (SLOT, PERSON, PROGRAM)}
    number = {what: turns.number for what, turns in waits.items()}
    yield Family("turns_waiting", "Turns that wait, by what for.", number, "for")
    oldest = {what: turns.oldest.total_seconds() for what, turns in waits.items()}
    yield Family("turns_waiting_oldest_seconds", "For how long the oldest of them waits.", oldest, "for")
    yield one("turns_taken_over_day", "Turns taken over from silent processes in 24 hours.", taken)
    yield one("programs_live", "Requests of programs that are being answered.", requests)
    yield from _upkeep(upkeep)
    if settings.REDIS_URL:
        yield Family("processes", "Processes that are there, by their task.", present.by_task, "task")
        yield one("processes_silent", "Processes that fell silent within a day.", present.silent)
        yield one("processes_different", "Processes that are not set up as the others.", present.different)


def _upkeep(upkeep: Mapping[str, Upkeep]) -> Iterator[Family]:
    """Of what was never done nothing is told."""
    if proved := upkeep.get(VERIFIED):
        yield one(
            "log_verified_timestamp_seconds",
            "When the log was last verified, since 1970.",
            proved.at.timestamp(),
        )
        yield one("log_breaches", "How many breaches were found then.", proved.breaches)
    if saved := upkeep.get(SAVED):
        yield one("backup_timestamp_seconds", "When all was last saved, since 1970.", saved.at.timestamp())
        if saved.size is not None:
            yield one("backup_bytes", "How large the file was.", saved.size)


def _memory() -> int:
    """Now, where the system tells; else the most there ever was."""
    now = Path("/proc/self/statm")
    if now.exists():
        return int(now.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
