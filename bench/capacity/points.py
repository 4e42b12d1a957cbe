"""What was measured (`measured.json`, which `bench.many --parts points` writes), and what each thing costs by it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

MEASURED = Path(__file__).with_name("measured.json")
PARTS = ("web", "work", "redis", "postgresql")
# What the costs say of this point, it proves: they are not worked out from it.
PROOF = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """So much of it in so many seconds, at so many processes that serve and that work. `frames`: messages on sockets; a few letters that
    come together are one. `answering`: seconds of answers that were being written, added up. `notices`: each is heard by every process."""

    web: int
    work: int
    seconds: float
    questions: float = 0
    letters: float = 0
    frames: float = 0
    answering: float = 0
    notices: float = 0

    def hearing(self, part: str) -> int:
        """The processes of this part that rest and hear; what PostgreSQL does for each of them, it does for all."""
        return {"web": self.web, "work": self.work, "redis": 1, "postgresql": self.web + self.work}[part]


@dataclass(frozen=True, slots=True)
class Point:
    name: str
    work: Work
    cpu: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of CPU of one part: of a process for each second and for each notice; and of all of them for the others."""

    second: float = 0.0
    notice: float = 0.0
    question: float = 0.0
    frame: float = 0.0
    answering: float = 0.0

    def of_being_there(self, work: Work, part: str) -> float:
        return (self.second * work.seconds + self.notice * work.notices) * work.hearing(part)

    def of_doing(self, work: Work) -> float:
        return self.question * work.questions + self.frame * work.frames + self.answering * work.answering

    def of(self, work: Work, part: str) -> float:
        return self.of_being_there(work, part) + self.of_doing(work)


def load_points(file: Path = MEASURED) -> dict[str, Point]:
    rows = json.loads(file.read_text())["points"]
    points = (Point(row.pop("name"), cpu=row.pop("cpu"), work=Work(**row)) for row in rows)
    return {point.name: point for point in points}


def costs(points: Mapping[str, Point]) -> dict[str, Cost]:
    return {part: _cost(points, part) for part in PARTS}


def _cost(points: Mapping[str, Point], part: str) -> Cost:
    rest, notices = points["rest"], points["notices"]
    second = rest.cpu[part] / (rest.work.seconds * rest.work.hearing(part))
    heard = notices.cpu[part] - Cost(second).of_being_there(notices.work, part)
    notice = max(0.0, heard) / (notices.work.notices * notices.work.hearing(part))
    there = Cost(second, notice)
    rows = [
        (
            (point.work.questions, point.work.frames, point.work.answering),
            point.cpu[part] - there.of_being_there(point.work, part),
        )
        for point in points.values()
        if point.work.questions and point.name != PROOF
    ]
    return Cost(second, notice, *_least_squares(rows))


Row = tuple[Sequence[float], float]


def _least_squares(rows: Sequence[Row]) -> list[float]:
    """None below zero; a point that is small weighs as much as one that is large."""
    weighed = [([value / found for value in values], 1.0) for values, found in rows if found > 0]
    width = len(rows[0][0])
    best, least = [0.0] * width, float("inf")
    for size in range(1, width + 1):
        for chosen in combinations(range(width), size):
            solved = _solved(weighed, chosen)
            if solved is None or min(solved) < 0:
                continue
            tried = [0.0] * width
            for place, value in zip(chosen, solved, strict=True):
                tried[place] = value
            missed = sum((_dot(values, tried) - found) ** 2 for values, found in weighed)
            if missed < least:
                best, least = tried, missed
    return best


def _solved(rows: Sequence[Row], chosen: Sequence[int]) -> list[float] | None:
    """The normal equations of these unknowns, by elimination."""
    columns = [[values[place] for values, _ in rows] for place in chosen]
    found = [each for _, each in rows]
    system = [[*(_dot(one, other) for other in columns), _dot(one, found)] for one in columns]
    size = len(system)
    for place in range(size):
        pivot = max(range(place, size), key=lambda row: abs(system[row][place]))
        system[place], system[pivot] = system[pivot], system[place]
        if not system[place][place]:
            return None
        system[place] = [value / system[place][place] for value in system[place]]
        for row in range(size):
            if row != place:
                factor = system[row][place]
                system[row] = [a - factor * b for a, b in zip(system[row], system[place], strict=True)]
    return [row[-1] for row in system]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
