"""Notices between processes of one folder: told once they have become true."""

from __future__ import annotations

import asyncio
from typing import Any

from django.db import transaction

from ..notices import MemoryNotices
from .line import NeighbourLine, Words


class NeighbourNotices(MemoryNotices):
    def __init__(self, line: NeighbourLine) -> None:
        super().__init__()
        self._line = line
        line.answers["told"] = self._be_told

    def begin(self) -> None:
        self._line.begin()

    async def end(self) -> None:
        await super().end()
        await self._line.close()

    async def _be_told(self, words: Words, _: asyncio.StreamWriter) -> None:
        self._hear(words)

    def _tell_others(self, words: list[Any]) -> None:
        if self._line.neighbours():
            transaction.on_commit(lambda: self._line.tell(["told", *words]), robust=True)
