"""The tools at hand in this process."""

from __future__ import annotations

from collections.abc import Collection, ItemsView, Iterator, Mapping, ValuesView
from dataclasses import replace
from threading import Lock

from .base import Tool


class ToolsAtHand(Mapping[str, Tool]):
    """The built in ones and those of servers, as they are now. They change all at once: whoever goes through them in another
    thread goes through the old ones to the end."""

    def __init__(self, built_in: Mapping[str, Tool]) -> None:
        self._built_in = built_in
        # Both are changed from threads of their own.
        self._changing = Lock()
        self._of_servers: Mapping[str, Tool] = {}
        self._now = dict(built_in)

    def change(self, of_servers: Mapping[str, Tool]) -> None:
        with self._changing:
            self._of_servers = of_servers
            self._put_together()

    def begin_without(self, names: Collection[str]) -> None:
        """New conversations have the built-in tools but for these."""
        own = self._built_in.items()
        with self._changing:
            self._built_in = {name: replace(tool, usual=name not in names) for name, tool in own}
            self._put_together()

    def _put_together(self) -> None:
        self._now = {**self._built_in, **self._of_servers, **self._built_in}

    def __getitem__(self, name: str) -> Tool:
        return self._now[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def items(self) -> ItemsView[str, Tool]:
        return self._now.items()

    def values(self) -> ValuesView[Tool]:
        return self._now.values()
