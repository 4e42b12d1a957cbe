"""What the formulas of one answer have defined so far: commands of their own, and numbers that others refer to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

# What the commands of one answer may come to when they are written out.
MOST_EXPANDED = 100_000
MOST_COMMANDS = 100
MOST_LABELS = 500
LONGEST_BODY = 500
LONGEST_KEY = 100


class WrongFormula(ValueError):
    """Says why there is no picture of this formula."""


@dataclass(frozen=True)
class Definition:
    """As `\\newcommand` says it. With a `default` the first of its arguments may be left out."""

    arguments: int
    body: str
    default: str | None = None


@dataclass
class Definitions:
    commands: dict[str, Definition] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    expanded: int = 0

    @property
    def size(self) -> int:
        return len(self.commands) + len(self.labels)

    def define(self, name: str, command: Definition) -> None:
        if len(command.body) > LONGEST_BODY or len(self.commands) >= MOST_COMMANDS:
            raise WrongFormula("Too much is defined here.")
        if not name.startswith("\\") or command.arguments > 9:
            raise WrongFormula("Only commands can be defined here.")
        self.commands[name] = command

    def spend(self, signs: int) -> None:
        self.expanded += signs
        if self.expanded > MOST_EXPANDED:
            raise WrongFormula("What is defined here is too long when it is written out.")

    def name(self, label: str, number: str | None) -> str:
        """What stands beside an equation that was given this name. Without a number of its own it gets the next."""
        shown = number or self._next()
        if len(self.labels) < MOST_LABELS and len(label) <= LONGEST_KEY:
            self.labels[label] = shown
        return shown

    def _next(self) -> str:
        taken = set(self.labels.values())
        return next(each for each in map(str, range(1, len(taken) + 2)) if each not in taken)

    def kept(self) -> dict[str, Any]:
        """As plain values, for what comes later in the same text."""
        return asdict(self)

    @classmethod
    def again(cls, kept: dict[str, Any]) -> Definitions:
        commands = {name: Definition(**each) for name, each in kept.get("commands", {}).items()}
        return cls(commands, dict(kept.get("labels", {})), kept.get("expanded", 0))
