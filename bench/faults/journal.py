"""What was played, a line for each stretch, and what it comes to."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles


@dataclass
class Figures:
    """Of one stretch. Seconds; `taken` from a death to the claim, for each turn; `flows` from Redis' return to the
    next words, for each page."""

    faults: list[str] = field(default_factory=list)
    breaches: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    taken: dict[str, list[float]] = field(default_factory=dict)
    flows: dict[str, list[float]] = field(default_factory=dict)
    sights: dict[str, int] = field(default_factory=dict)

    def note(self, which: dict[str, list[float]], kind: str, seconds: Sequence[float]) -> None:
        which.setdefault(kind, []).extend(round(each, 2) for each in seconds)


class Journal:
    def __init__(self, file: Path, *, resumes: bool) -> None:
        self._file = file
        lines = file.read_text().splitlines() if resumes and file.exists() else []
        self.stretches = [Figures(**json.loads(line)) for line in lines]
        if not resumes:
            file.write_text("")

    @property
    def faults(self) -> int:
        return sum(len(stretch.faults) for stretch in self.stretches)

    @property
    def breaches(self) -> list[str]:
        return [breach for stretch in self.stretches for breach in stretch.breaches]

    def add(self, stretch: Figures) -> None:
        self.stretches.append(stretch)
        with self._file.open("a") as file:
            file.write(json.dumps(asdict(stretch)) + "\n")

    def keep_logs(self, folder: Path) -> None:
        """Beside the journal, what each process wrote."""
        kept = self._file.with_suffix(".logs")
        kept.mkdir(exist_ok=True)
        for log in folder.glob("*/log.txt"):
            shutil.copy(log, kept / f"{log.parent.name}.txt")

    def report(self) -> None:
        kinds = Counter(name.rpartition(" (")[0] for each in self.stretches for name in each.faults)
        for kind, count in sorted(kinds.items()):
            print(f"{count:5} {kind}")
        for name, which in (("taken over", "taken"), ("next words", "flows")):
            for kind, seconds in sorted(self._all(which).items()):
                print(f"{name}: {kind}: {_spread(seconds)}")
        sights = sum((Counter(each.sights) for each in self.stretches), Counter[str]())
        print(", ".join(f"{what} {count}" for what, count in sorted(sights.items())))
        for skipped in sorted({what for each in self.stretches for what in each.skipped}):
            print(f"SKIPPED LOUDLY: {skipped}")
        print(f"faults: {self.faults}")
        print(f"breaches: {len(self.breaches)}", flush=True)

    def _all(self, which: str) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for stretch in self.stretches:
            for kind, seconds in getattr(stretch, which).items():
                found.setdefault(kind, []).extend(seconds)
        return found


def _spread(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return f"{len(seconds)} times, {seconds}"
    cuts = quantiles(seconds, n=100)
    return f"{len(seconds)} times, median {median(seconds):.1f} s, 95 of 100 {cuts[94]:.1f} s, worst {max(seconds):.1f} s"
