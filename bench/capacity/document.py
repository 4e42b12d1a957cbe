"""The tables of `docs/scale.md`, which are worked out and not written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.capacity.model import FULL, Crowd, Need, need, reached
from bench.capacity.points import PARTS, PROOF, Cost, Point, costs, load_points

DOCUMENT = Path(__file__).parents[2] / "docs" / "scale.md"
PEOPLE = (10_000, 1_000_000)
WORDS = {
    "web": "a process that serves",
    "work": "a process that works",
    "redis": "Redis",
    "postgresql": "PostgreSQL",
}


def documented(text: str) -> str:
    """With the tables of today between their marks."""
    points = load_points()
    paid = costs(points)
    crowds = [Crowd(people=people) for people in PEOPLE]
    tables = {
        "points": proofs(points, paid),
        "prices": prices(paid),
        "needs": needs(crowds, paid),
        "limits": limits(crowds[0], paid),
    }
    for name, table in tables.items():
        text = _replaced(text, name, table)
    return text


def _replaced(text: str, name: str, table: str) -> str:
    """Between the marks of this name."""
    begins, ends = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, _, rest = text.partition(begins)
    return f"{before}{begins}\n\n{table}\n\n{ends}{rest.partition(ends)[2]}"


def proofs(points: Mapping[str, Point], paid: Mapping[str, Cost]) -> str:
    rows = []
    for point in points.values():
        work = point.work
        name = f"**{point.name}**" if point.name == PROOF else point.name
        cells = [f"{point.cpu[part]:.2f}; {paid[part].of(work, part):.2f}" for part in PARTS]
        did = [work.seconds, work.questions, work.letters, work.frames, work.answering, work.notices]
        rows.append([name, *(f"{each:,.0f}" for each in did), *cells])
    done = ["seconds", "questions", "letters", "frames", "seconds of answers", "notices"]
    return _table(["point", *done, *(WORDS[part] for part in PARTS)], rows)


def prices(paid: Mapping[str, Cost]) -> str:
    heads = [
        "of CPU",
        "a second of being there, ms",
        "a notice, µs",
        "a question, ms",
        "a frame, µs",
        "a second of an answer, ms",
    ]
    rows = []
    for part, cost in paid.items():
        told = (
            cost.second * 1e3,
            cost.notice * 1e6,
            cost.question * 1e3,
            cost.frame * 1e6,
            cost.answering * 1e3,
        )
        rows.append([WORDS[part], *(f"{each:.1f}" for each in told)])
    return _table(heads, rows)


def needs(crowds: Sequence[Crowd], paid: Mapping[str, Cost]) -> str:
    found = [need(crowd, paid) for crowd in crowds]
    return _table(
        ["when most are there", *(f"{crowd.people:,} people" for crowd in crowds)],
        list(_compared(crowds, found)),
    )


def _compared(crowds: Sequence[Crowd], found: Sequence[Need | None]) -> list[list[str]]:
    asked = {
        "pages open; answers at once": [f"{crowd.sockets:,.0f}; {crowd.answers:,.0f}" for crowd in crowds],
        "questions a second; letters a second": [
            f"{crowd.questions:,.1f}; {crowd.letters:,.0f}" for crowd in crowds
        ],
    }
    needed = {
        "processes that serve; that work": lambda each: f"{each.web}; {each.work}",
        "their cores; their memory": lambda each: (
            f"{each.cores['web'] + each.cores['work']:.1f}; {each.gigabytes:.1f} GB"
        ),
        f"cores for PostgreSQL, {FULL:.0%} used": lambda each: f"{each.database_cores}",
        "connections to it": lambda each: f"{each.database_connections:,}",
        "it grows by, a day": lambda each: f"{each.gigabytes_a_day:.1f} GB",
        "Redis, each a core; memory": lambda each: f"{each.buses}; {each.bus_megabytes:,.0f} MB",
        "connections to Redis, at most": lambda each: f"{each.bus_connections:,}",
        "of each process, hearing of others' turns": lambda each: f"{each.hearing:.1%}",
    }
    told = {what: [say(each) if each else "not to be had" for each in found] for what, say in needed.items()}
    return [[what, *cells] for what, cells in (asked | told).items()]


def limits(crowd: Crowd, paid: Mapping[str, Cost]) -> str:
    rows = [[f"{people:,}", name] for name, people in reached(crowd, paid).items()]
    return _table(["with so many people", "is met"], rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
