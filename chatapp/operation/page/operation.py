"""The page of operation as a whole: what the rows and the processes say, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from uuid import UUID

from ...core.counting import ENDED, FIRST
from ...core.durations import in_short
from ...core.signs.visible import visible
from ...core.values import count_in, fields
from ...insight.page.insight import time_of
from ...insight.page.reasons import is_failure
from ...pages.words.amounts import NOTHING, in_bytes
from ...pages.words.moments import Moment, lasted
from ...processes.itself import Task
from ...store.database.pool import Connections
from ..models import Upkeep
from ..part.doing import Does, Doing
from ..store.presence import There
from ..store.taken_over import Taken
from ..store.upkeep import SAVED, VERIFIED
from ..store.waiting import PERSON, PROGRAM, RUNS, SLOT, LiveTurns, TurnRunning
from .charts import LagPicture, WaitedPicture, lagged, waited
from .process import Process, counted
from .trouble import SLOW_MS, Complaint, Situation, breaches_in_words, troubles

MOST_RUNNING = 8
_WAITS = (
    (SLOT, "A free slot", "first come, first served"),
    (PERSON, "Its person", "a call that needs a yes or no"),
    (PROGRAM, "Its program", "a call that the program makes itself"),
)
_DOES = {
    Does.THINKS: "thinks for {}",
    Does.WRITES: "writes for {}",
    Does.CALLS: "calls",
    Does.ASKS: "asked {} ago",
    Does.RETRIES: "its provider is busy, for {}",
    Does.SAVES: "waits for the database, for {}",
}
_DRAWN = {Does.THINKS: "reasoning", Does.CALLS: "tool_call", Does.WRITES: "assistant_message"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSeen:
    """What was read for the page. `now` and `database_ms` as the database told them; `today`: sums of the day by provider."""

    now: datetime
    zone: tzinfo
    database: str
    database_ms: float
    connections: Connections | None
    there: Sequence[There]
    turns: Mapping[str, LiveTurns]
    running: Sequence[TurnRunning]
    taken: Sequence[Taken]
    upkeep: Mapping[str, Upkeep]
    today: Mapping[str, Counter[str]]
    label: Callable[[str], str]
    provider_label: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Card:
    name: str
    health: str
    word: str
    detail: str


@dataclass(frozen=True, slots=True)
class Waits:
    what: str
    how: str
    number: str
    oldest: str


@dataclass(frozen=True, slots=True)
class Runs:
    """`kind`: how it is drawn; `code`: the tool's name."""

    owner: str
    via: str
    model: str
    age: str
    kind: str
    words: str
    code: str
    at: str


@dataclass(frozen=True, slots=True)
class Done:
    """`when`: in a few signs; `words`: what came of it, and whose doing it was."""

    when: str
    words: str


@dataclass(frozen=True, slots=True)
class TakenRow:
    when: Moment
    owner: str
    model: str
    place: str
    after: str
    became: str


class OperationPage:
    def __init__(self, seen: OperationSeen) -> None:
        self._seen = seen
        self.processes = [Process(each, seen.now, self._clock(each.silent_since)) for each in seen.there]
        self.is_many = all(each.there.task != Task.EVERYTHING for each in self.processes)

    def _clock(self, at: datetime | None) -> str:
        if at is None:
            return ""
        moment, today = Moment(at.astimezone(self._seen.zone)), self._seen.now.astimezone(self._seen.zone)
        return moment.clock if moment.at.date() == today.date() else moment.day

    # Whether all is well

    @cached_property
    def troubles(self) -> list[Complaint]:
        seen = self._seen
        return troubles(
            Situation(
                now=seen.now,
                processes=self.processes,
                turns=seen.turns,
                connections=seen.connections,
                database_ms=seen.database_ms,
                is_many=self.is_many,
                proved=seen.upkeep.get(VERIFIED),
            )
        )

    @property
    def verdict(self) -> str:
        if any(each.is_bad for each in self.troubles):
            return "Something is wrong"
        return "It runs, with something to know" if self.troubles else "It runs well"

    @property
    def summary(self) -> str:
        """Who there is, and what they have to do."""
        alive = [each for each in self.processes if each.is_alive]
        serve, work = [each for each in alive if each.serves], [each for each in alive if each.works]
        pages = counted(sum(int(each.number("sockets")) for each in serve), "open page")
        number = self._seen.turns[RUNS].number
        if not self.is_many:
            writes = f"writes {counted(number, 'answer')}" if number else "has nothing to answer"
            who = f"One process does everything: it serves {pages} and {writes}"
        else:
            serves = "serves" if len(serve) == 1 else "serve"
            who = (
                f"{counted(len(serve), 'web process', 'web processes')} {serves} {pages}, "
                f"{counted(len(work), 'worker')} {_writes(len(work), number)}"
            )
        programs = sum(each.programs for each in alive)
        also = f", and {counted(programs, 'request')} of programs {'is' if programs == 1 else 'are'} being answered"
        return f"{who}{also if programs else ''}; {self._waiting_in_words}."

    @property
    def _waiting_in_words(self) -> str:
        number = sum(self._seen.turns[what].number for what in (SLOT, PERSON, PROGRAM))
        return f"{number:,} {'waits' if number == 1 else 'wait'}" if number else "nothing waits"

    @property
    def as_of(self) -> str:
        return f"{self._seen.now.astimezone(self._seen.zone):%H:%M:%S}"

    # What it stands on

    @property
    def cards(self) -> list[Card]:
        return [self._database, *([self._redis] if self.is_many else []), *self._providers]

    @property
    def _database(self) -> Card:
        seen = self._seen
        used = (
            f"; {seen.connections.number} of {seen.connections.most} connections in use"
            if seen.connections
            else ""
        )
        is_slow = seen.database_ms > SLOW_MS
        detail = f"answers in {seen.database_ms:.1f} ms{used}"
        return Card(seen.database, "slow" if is_slow else "good", "slow" if is_slow else "well", detail)

    @property
    def _redis(self) -> Card:
        alive = [each for each in self.processes if each.is_alive]
        away = [each for each in alive if each.figures.get("redis_away_since")]
        if away or not alive:
            return Card("Redis", "bad", "away", "pages pause until it is back; nothing is lost")
        times = sorted(each.number("redis_ms") for each in alive)
        memory = max(each.number("redis_memory") for each in alive)
        words = f"answers in {times[len(times) // 2]:.1f} ms; {in_bytes(int(memory))}"
        return Card("Redis", "good", "well", f"{words}{self._redis_was_away}")

    @property
    def _redis_was_away(self) -> str:
        told = [each.figures.get("redis_was_away") for each in self.processes]
        times = [pair for pair in told if isinstance(pair, list) and len(pair) == 2]
        if not times:
            return ""
        since, seconds = max(times)
        at = self._clock(datetime.fromtimestamp(float(since), self._seen.zone))
        return f"; last away {at}, for {in_short(round(float(seconds) * 1000))}"

    @property
    def _providers(self) -> list[Card]:
        """Those that are busy one by one; of the others who answered today."""
        busy = self._busy
        cards = [
            Card(
                self._seen.provider_label(name),
                "slow",
                "busy",
                f"{counted(number, 'answer')} {'tries' if number == 1 else 'try'} again, for {in_short(ms)}",
            )
            for name, (number, ms) in busy.items()
        ]
        well = [name for name in self._seen.today if name not in busy]
        if well:
            names = ", ".join(self._seen.provider_label(name) for name in well)
            cards.append(
                Card(names, "good", "well", f"first sign after {self._first_signs(well)}, median of today")
            )
        return cards

    @property
    def _busy(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for each in self.processes:
            if not each.is_alive:
                continue
            for name, told in fields(each.figures.get("busy")).items():
                number, ms = told if isinstance(told, list) and len(told) == 2 else (0, 0)
                before = found.get(name, (0, 0))
                found[name] = (before[0] + (count_in(number) or 0), max(before[1], count_in(ms) or 0))
        return found

    def _first_signs(self, names: Sequence[str]) -> str:
        return " and ".join(time_of(self._seen.today[name], FIRST).half for name in names)

    # What waits

    @property
    def waits(self) -> list[Waits]:
        turns = self._seen.turns
        rows = [
            self._waits(what, how, turns[name].number, lasted(turns[name].oldest))
            for name, what, how in _WAITS
        ]
        number = sum(number for number, _ in self._busy.values())
        oldest = in_short(max((ms for _, ms in self._busy.values()), default=0))
        return [*rows, self._waits("Its provider", "busy, trying again", number, oldest)]

    def _waits(self, what: str, how: str, number: int, oldest: str) -> Waits:
        return Waits(what, how, f"{number:,}", oldest if number else NOTHING)

    @cached_property
    def waited(self) -> WaitedPicture | None:
        return waited(self.processes, self._seen.now, self._seen.zone) if self.is_many else None

    @property
    def waits_now(self) -> int:
        return self._seen.turns[SLOT].number

    # What runs

    @cached_property
    def _doing(self) -> dict[str, tuple[int, Doing]]:
        """By the message, and how long its turn has run."""
        found = {}
        for each in self.processes:
            told, since_then = (
                each.figures.get("turns"),
                round((each.now - each.there.said).total_seconds() * 1000),
            )
            for turn in told if isinstance(told, list) else ():
                match turn:
                    case [str(message), int(ms), str(does), int(since), str(name)] if does in set(Does):
                        found[message] = (ms + since_then, Doing(Does(does), since + since_then, name))
        return found

    @property
    def running(self) -> list[Runs]:
        return [self._runs(each) for each in self._seen.running[:MOST_RUNNING]]

    def doing(self, turn: UUID) -> tuple[int, Doing] | None:
        """How long it has run, and what it does, where the process that runs it has said so."""
        return self._doing.get(turn.hex)

    def _runs(self, row: TurnRunning) -> Runs:
        known = self.doing(row.turn) if row.turn else None
        ms, doing = known or (round(row.age.total_seconds() * 1000), None)
        at = next((each.name for each in self.processes if each.there.runner == row.runner), "elsewhere")
        words = _DOES[doing.does].format(in_short(doing.ms)) if doing else "is being answered"
        return Runs(
            owner=visible(row.owner),
            via=visible(row.via) or "in the chat",
            model=visible(self._seen.label(row.model)),
            age=in_short(ms),
            kind=_DRAWN.get(doing.does, "waiting") if doing else "assistant_message",
            words=words,
            code=visible(doing.name) if doing else "",
            at=at,
        )

    # Who there is

    @property
    def legend(self) -> list[tuple[str, str]]:
        """What pictures are drawn with, and what that says."""
        return [*((kind, does) for does, kind in _DRAWN.items()), ("waiting", "waits"), ("", "free")]

    @property
    def workers(self) -> list[Process]:
        return [each for each in self.processes if each.works]

    @property
    def servers(self) -> list[Process]:
        return [each for each in self.processes if each.serves]

    @cached_property
    def lagged(self) -> LagPicture | None:
        return lagged(self.processes, self._seen.now) if self.is_many else None

    # What was

    @property
    def taken(self) -> list[TakenRow]:
        return [self._taken(row) for row in self._seen.taken]

    def _taken(self, row: Taken) -> TakenRow:
        return TakenRow(
            when=Moment(row.at.astimezone(self._seen.zone)),
            owner=visible(row.owner) or NOTHING,
            model=visible(self._seen.label(row.model)) if row.model else NOTHING,
            place=visible(row.place) or "a process before this one",
            after=in_short(row.silent_ms),
            became="went on elsewhere" if row.goes_on else "given up: Continue is offered",
        )

    @property
    def verified(self) -> Done:
        row = self._seen.upkeep.get(VERIFIED)
        if row is None:
            return Done("never", "manage.py verify_log does it")
        return Done(self._clock(row.at), f"{breaches_in_words(row.breaches)}, by {visible(row.by)}")

    @property
    def saved(self) -> Done:
        row = self._seen.upkeep.get(SAVED)
        if row is None:
            return Done("never", "manage.py backup does it")
        size = "to another program" if row.size is None else in_bytes(row.size)
        return Done(self._clock(row.at), f"{size}, of {row.kind}, by {visible(row.by)}")

    @cached_property
    def turns_today(self) -> str:
        return f"{sum(each['turns'] for each in self._seen.today.values()):,}"

    @property
    def failed_today(self) -> str:
        ended = sum(self._seen.today.values(), Counter())
        failed = sum(
            n for name, n in ended.items() if name.startswith(ENDED) and is_failure(name[len(ENDED) :])
        )
        return f"{failed:,}"


def _writes(workers: int, answers: int) -> str:
    one = workers == 1
    if not answers:
        return f"{'has' if one else 'have'} nothing to do"
    return f"{'writes' if one else 'write'} {counted(answers, 'answer')}"
