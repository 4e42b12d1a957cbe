"""Very many answers at once, at the pace at which models think: how late, what is lost, and what each of them holds of memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bench.crowd.ours import Ours
from bench.crowd.scene import Scene, of_hundred
from bench.crowd.told import Table, line
from bench.processes.deployment import Many
from bench.watcher import Watcher

LATE_MS = 500.0
# All have asked and have their first letter before the first answer ends.
ASKING, SECONDS = 60.0, 90.0


def climb(many: Ours, people: int, paces: Sequence[float], table: Table) -> None:
    """Until letters come late, or not at all."""
    held = 0.0
    for pace in paces:
        if not _holds(many, people, pace, table):
            break
        held = pace * people
    print(f"held: {held:.0f} letters a second of {people} answers, 99 of 100 within {LATE_MS:.0f} ms")
    table.add(f"{people} answers: letters a second, 99 of 100 within {LATE_MS:.0f} ms", many.name, held)


def _holds(many: Ours, people: int, pace: float, table: Table) -> bool:
    scene = Scene(people=people, pace=pace, plain=True, seconds=SECONDS, asking=ASKING, reloaded=False)
    assert isinstance(many.served, Many)
    holding = _Holding(many.served, people)
    run = many.play(scene, holding.look)
    print(line(scene.name, many.name, run), flush=True)
    holding.tell(many.name, table)
    table.add_run(scene, many.name, run)
    return run.whole and of_hundred(run.steady, 99) < LATE_MS


class _Holding:
    """Memory before anybody was there, with their pages open, and while all are answered."""

    def __init__(self, many: Many, people: int) -> None:
        self._many, self._people = many, people
        self._found = [many.held()]

    async def look(self, _: Sequence[Watcher]) -> None:
        self._found.append(self._many.held())
        await asyncio.sleep(ASKING + 5)
        self._found.append(self._many.held())

    def tell(self, name: str, table: Table) -> None:
        before, seated, answered = self._found
        for part in before:
            page, stream = seated[part] - before[part], answered[part] - seated[part]
            print(
                f"  {part}: {_each(page, self._people)} for a page, {_each(stream, self._people)} for an answer"
            )
            table.add(f"{part}: kB for a page that is open", name, page / self._people * 1000)
            table.add(f"{part}: kB for an answer under way", name, stream / self._people * 1000)


def _each(mb: float, people: int) -> str:
    return f"{mb / people * 1000:.0f} kB"
