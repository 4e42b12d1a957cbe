"""What a crowd makes of work, and what that work needs: processes, connections, cores, memory and space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil

from bench.capacity.points import Cost, Work

# Of a core, which is what a process can have, so much is used when most are there.
FULL = 0.6
# As the product has them: connections of a process that serves, and of one that works; to Redis; turns of one that works.
SERVES, WORKS, BUS, PLACES = 10 + 1, 10 + 1 + 4, 16, 500
SOCKETS = 5000
# MB of a process; kB of a page that is open, of an answer at each of its ends, and in Redis (`bench.many --parts crowd`).
BASE, PAGE, ANSWER, STREAM = 115.0, 68.0, 88.0, 16.0
# kB of the database for a question with its answer (`bench.backup`).
STORED = 9.6
# A day is as long as this, were it always as full as when most are there.
DAY_HOURS = 8
# At least two of each, so that one may die or be exchanged.
FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """`online`: the share that is there when most are; `asks`: of each of them, in an hour; an answer takes `seconds` at `pace` letters
    a second, and is on `tabs` pages."""

    people: int
    online: float = 0.1
    asks: float = 12.0
    seconds: float = 30.0
    pace: float = 40.0
    tabs: float = 1.2
    notices: float = 3.0

    @property
    def questions(self) -> float:
        """A second."""
        return self.people * self.online * self.asks / 3600

    @property
    def answers(self) -> float:
        """At once."""
        return self.questions * self.seconds

    @property
    def letters(self) -> float:
        return self.answers * self.pace

    @property
    def sockets(self) -> float:
        return self.people * self.online * self.tabs

    def work(self, web: int, work: int) -> Work:
        """Of one second."""
        return Work(
            web=web,
            work=work,
            seconds=1,
            questions=self.questions,
            letters=self.letters,
            frames=self.letters * self.tabs,
            answering=self.answers,
            notices=self.questions * self.notices,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """`hearing`: the share of a core that each process spends on notices. None of the processes where these leave no time for
    anything else."""

    crowd: Crowd
    web: int
    work: int
    cores: Mapping[str, float]
    hearing: float

    @property
    def database_connections(self) -> int:
        return self.web * SERVES + self.work * WORKS

    @property
    def bus_connections(self) -> int:
        return (self.web + self.work) * BUS

    @property
    def buses(self) -> int:
        """Each Redis has one core."""
        return max(1, ceil(self.cores["redis"] / FULL))

    @property
    def database_cores(self) -> int:
        return max(2, ceil(self.cores["postgresql"] / FULL))

    @property
    def gigabytes(self) -> float:
        """Of memory, of our processes."""
        crowd = self.crowd
        megabytes = (self.web + self.work) * BASE
        return (megabytes + (crowd.sockets * PAGE + crowd.answers * (1 + crowd.tabs) * ANSWER) / 1000) / 1000

    @property
    def bus_megabytes(self) -> float:
        """Streams are kept for a minute after their end."""
        crowd = self.crowd
        return crowd.questions * (crowd.seconds + 60) * STREAM / 1000

    @property
    def gigabytes_a_day(self) -> float:
        return self.crowd.questions * 3600 * DAY_HOURS * STORED / 1e6


def need(crowd: Crowd, costs: Mapping[str, Cost]) -> Need | None:
    """None where every process would only hear what others say."""
    rate = crowd.questions * crowd.notices
    web = _processes(costs["web"], crowd, rate, max(FEWEST, ceil(crowd.sockets / SOCKETS)))
    work = _processes(costs["work"], crowd, rate, max(FEWEST, ceil(crowd.answers / PLACES)))
    if web is None or work is None:
        return None
    load = crowd.work(web, work)
    cores = {part: cost.of(load, part) for part, cost in costs.items()}
    return Need(crowd=crowd, web=web, work=work, cores=cores, hearing=rate * costs["web"].notice)


def _processes(cost: Cost, crowd: Crowd, rate: float, fewest: int) -> int | None:
    left = FULL - cost.second - cost.notice * rate
    return max(fewest, ceil(cost.of_doing(crowd.work(1, 1)) / left)) if left > 0 else None


# What stops first, and what is changed then.
LIMITS: dict[str, Callable[[Need], bool]] = {
    "PostgreSQL's `max_connections` of 100 as it comes": lambda found: found.database_connections > 97,
    "one Redis, whose commands all run on one core": lambda found: found.buses > 1,
    "500 connections to PostgreSQL": lambda found: found.database_connections > 500,
    "a tenth of each process goes into notices that are not for it": lambda found: found.hearing > 0.1,
    "sixteen cores of PostgreSQL": lambda found: found.database_cores > 16,
    "a terabyte of conversations in a year": lambda found: found.gigabytes_a_day * 365 > 1000,
}


def reached(crowd: Crowd, costs: Mapping[str, Cost]) -> dict[str, int]:
    """With how many people each limit is met, to two digits; what is met first comes first."""
    found = {name: _least_people(crowd, costs, limit) for name, limit in LIMITS.items()}
    return dict(sorted(found.items(), key=lambda each: each[1]))


def _least_people(crowd: Crowd, costs: Mapping[str, Cost], limit: Callable[[Need], bool]) -> int:
    low, high = 1, 100_000_000
    while high - low > low // 200 + 1:
        middle = (low + high) // 2
        needed = need(replace(crowd, people=middle), costs)
        low, high = (low, middle) if needed is None or limit(needed) else (middle, high)
    digits = 10 ** (len(str(high)) - 2)
    return round(high / digits) * digits
