"""One process, as rows and sentences name it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...core.durations import in_short
from ...core.plural import many
from ...core.signs.visible import visible
from ...core.values import count_in, fields
from ...pages.words.amounts import NOTHING
from ...pages.words.moments import lasted
from ...processes.itself import Task
from ..part.doing import Does
from ..store.presence import There

# What stands for a turn in the picture: as in the line of an answer; nobody is drawn as waiting for nothing.
_DRAWN = {Does.THINKS: "reasoning", Does.CALLS: "tool_call", Does.WRITES: "assistant_message"}
MOST_DRAWN, LEAST_DRAWN, WIDE = 16, 8, 13
_SAID = (
    (Does.THINKS, "thinks", "think"),
    (Does.WRITES, "writes", "write"),
    (Does.CALLS, "calls a tool", "call tools"),
    (Does.ASKS, "has just asked", "have just asked"),
    (Does.RETRIES, "waits for a busy provider", "wait for busy providers"),
    (Does.SAVES, "waits for the database", "wait for the database"),
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A turn of that kind, or nobody's; `x`: where it stands."""

    x: float
    kind: str


@dataclass(frozen=True, slots=True)
class Process:
    """`clock`: how a moment is said to whoever looks."""

    there: There
    now: datetime
    silent: str = field(default="")

    @property
    def name(self) -> str:
        return self.there.name

    @property
    def machine(self) -> str:
        return visible(self.there.machine)

    @property
    def since(self) -> str:
        return lasted(self.now - self.there.began)

    @property
    def serves(self) -> bool:
        return self.there.task in (Task.SERVES, Task.EVERYTHING)

    @property
    def works(self) -> bool:
        return self.there.task in (Task.WORKS, Task.EVERYTHING)

    @property
    def is_alive(self) -> bool:
        return self.there.silent_since is None

    @property
    def is_ending(self) -> bool:
        return self.figures.get("is_ending") is True

    @property
    def figures(self) -> dict[str, Any]:
        return self.there.figures

    def number(self, name: str) -> float:
        """Nothing where it is not told, as of another version."""
        told = self.figures.get(name)
        return float(told) if isinstance(told, int | float) else 0.0

    @property
    def at_work(self) -> Counter[str]:
        told = fields(self.figures.get("at_work"))
        return Counter({does: number for does, value in told.items() if (number := count_in(value))})

    @property
    def turns(self) -> int:
        return sum(self.at_work.values())

    @property
    def doing(self) -> str:
        """In words what its turns do, and whether it takes more."""
        said = [
            f"{number} {one if number == 1 else more}"
            for does, one, more in _SAID
            if (number := self.at_work[does])
        ]
        words = ", ".join(said) or "nothing to do"
        if self.is_ending:
            return f"{words}; ends after {'it' if self.turns == 1 else 'them'}" if said else "ends"
        if self.figures.get("fetches") is False:
            return f"{words}; takes no more at the moment"
        free = self.number("places") - self.turns
        return f"full: {words}" if self.figures.get("places") and free <= 0 else words

    @property
    def slots(self) -> list[Slot]:
        kinds = [_DRAWN.get(does, "waiting") for does, _, _ in _SAID for _ in range(self.at_work[does])]
        drawn = [*kinds[:MOST_DRAWN], *[""] * (LEAST_DRAWN - len(kinds))]
        return [Slot(WIDE * n + (0 if kind else 0.75), kind) for n, kind in enumerate(drawn)]

    @property
    def picture_width(self) -> int:
        return WIDE * len(self.slots)

    @property
    def not_drawn(self) -> int:
        return max(0, self.turns - MOST_DRAWN)

    @property
    def sockets(self) -> str:
        return f"{int(self.number('sockets')):,}"

    @property
    def requests(self) -> str:
        return f"{int(self.number('requests')):,}"

    @property
    def late(self) -> str:
        return f"{self.number('late_ms'):.0f} ms"

    @property
    def heard(self) -> str:
        """How long ago it was heard of."""
        if self.there.task == Task.EVERYTHING:
            return "now"
        ms = (self.now - self.there.said).total_seconds() * 1000
        return f"{in_short(round(ms))} ago"

    @property
    def programs(self) -> int:
        return int(self.number("programs"))


def named(processes: list[Process]) -> str:
    """`web-1`, `web-1 and work-2`, `web-1, work-2 and 3 more`."""
    names = [each.name for each in processes]
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or NOTHING


def counted(number: int, thing: str, things: str = "") -> str:
    """`one worker`, `12 workers`; at the beginning of a sentence too."""
    return f"1 {thing}" if number == 1 else many(number, thing, things)
