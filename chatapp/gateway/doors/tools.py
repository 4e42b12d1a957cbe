"""The tools that a program offers, and which of them its model may call, by whatever door it says so."""

from __future__ import annotations

from typing import NamedTuple, Self

from ...core.values import Json
from ...providers.base import Choice, ToolSpec
from .given import Given


class Tools(NamedTuple):
    """`call`: the one that must be called; `parallel`: whether several may be at once."""

    functions: tuple[ToolSpec, ...] = ()
    hosted: tuple[Json, ...] = ()
    choice: Choice | None = None
    call: str = ""
    parallel: bool | None = None

    def chosen(self, choice: Choice, by: Given) -> Self:
        if choice is Choice.REQUIRED and not (self.functions or self.hosted):
            raise by.wrong("demands a call, and no tools are offered")
        return self._replace(choice=choice)

    def named(self, by: Given) -> Self:
        """What hosted tools are called is not known here."""
        name = by.must("name").name()
        demanded = self.chosen(Choice.REQUIRED, by)
        if not self.hosted and name not in {tool.name for tool in self.functions}:
            raise by.wrong("names a tool that is not offered")
        return demanded._replace(call=name)
