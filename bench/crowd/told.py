"""How it is printed: a line for each run while it is played, and in the end a table of all that took turns."""

from __future__ import annotations

from statistics import median

from bench.crowd.scene import Run, Scene, of_hundred

MOST_WORDS = 5
PLACES = (50, 95, 99)


def mebibytes(mb: float) -> float:
    return mb * 1e6 / 2**20


def line(what: str, player: str, run: Run) -> str:
    words = [
        f"{what:34} {player:6}",
        f"first letter {_places(run.first)} ms",
        f"relay {_places(run.relay)} ms, steady {_places(run.steady)}",
        f"CPU {run.per_thousand:.3f} s for 1,000",
        f"{mebibytes(run.memory):.0f} MiB",
        f"{len(run.refused)} refused, {len(run.lost)} lost" + f", {run.anew} shown anew" * bool(run.anew),
    ]
    return "\n  ".join(["   ".join(words), *(run.refused + run.lost)[:MOST_WORDS]])


def _places(values: list[float]) -> str:
    return " / ".join(f"{of_hundred(values, place):.1f}" for place in PLACES)


class Table:
    """What was measured of each player, by name, in the order in which it came. What came several times is told by its median."""

    def __init__(self, players: list[str]) -> None:
        self._players = players
        self._found: dict[str, dict[str, list[float]]] = {}

    def add(self, what: str, player: str, value: float) -> None:
        self._found.setdefault(what, {}).setdefault(player, []).append(value)

    def add_run(self, scene: Scene, player: str, run: Run) -> None:
        for name, values in (
            ("first letter", run.first),
            ("relay", run.relay),
            ("relay, steady", run.steady),
        ):
            for place in PLACES:
                self.add(f"{scene.name}: {name}, {place} of 100, ms", player, of_hundred(values, place))
        self.add(f"{scene.name}: CPU for 1,000, s", player, run.per_thousand)
        self.add(f"{scene.name}: refused or lost", player, len(run.refused) + len(run.lost))

    def show(self) -> None:
        """Each beside the first, and the first beside the floor, which is the last."""
        first, *others = self._players
        heads = [*self._players, *(f"{first}/{other}" for other in others)]
        print("\n| what | " + " | ".join(heads) + " |")
        print("| --- " * (len(heads) + 1) + "|")
        for what, found in self._found.items():
            middle = {player: median(values) for player, values in found.items()}
            cells = [_cell(middle.get(player)) for player in self._players]
            cells += [_ratio(middle.get(first), middle.get(other)) for other in others]
            print(f"| {what} | " + " | ".join(cells) + " |")


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float | None, other: float | None) -> str:
    return f"{value / other:.2f}" if value is not None and other else ""
