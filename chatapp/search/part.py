"""Folds what is not folded yet, and indexes what is: in one process of those that serve or work, and only as fast as nobody feels it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from django.db import Error

from ..store import in_thread
from ..turns.engine import engine
from ..turns.parts import PARTS, EnginePart
from .store.filling import Filling, NotHeld, begin_mark, hold_mark, leave_mark, progress
from .store.grams import Making, next_sealed, next_segment, unseal

log = logging.getLogger(__name__)

# Seconds: between two pieces, and when nothing is left to do.
SOON, SELDOM = 0.02, 15.0


class Searchable(EnginePart):
    """`holder`: as whom it holds the mark, where that is not the process."""

    def __init__(self, holder: str = "", *, soon: float = SOON, seldom: float = SELDOM) -> None:
        self._holder, self._soon, self._seldom = holder, soon, seldom
        self._filling = Filling()
        self._making: Making | None = None
        self._looked_at, self._has_lost, self._holds = -1, False, False

    async def keep(self) -> None:
        while True:
            try:
                had_more = await in_thread(self._step)()
            except Error as error:
                log.warning("what was said could not be made searchable: %s", type(error).__name__)
                self._making, had_more = None, False
            await asyncio.sleep(self._soon if had_more else self._seldom)

    async def close(self) -> None:
        with suppress(Error):
            await in_thread(self._leave)()

    def _step(self) -> bool:
        """A piece of what is to be done; False where nothing is, or another process does it. The mark is held only for what there is to
        do, so that nothing is written where nobody says anything."""
        begin_mark()
        if not self._has_work():
            self._leave()
            return False
        self._holds = hold_mark(self._name)
        if not self._holds:
            self._making = None
            return False
        try:
            return self._work()
        except NotHeld:
            self._making, self._holds = None, False
            return False

    def _has_work(self) -> bool:
        if self._making or self._filling.has_more() or self._next_segment() is not None:
            return True
        self._looked_at, self._has_lost = next_sealed(self._looked_at)
        return self._has_lost

    def _work(self) -> bool:
        if self._filling.step(self._name):
            return True
        if self._making is None and (segment := self._next_segment()) is not None:
            self._making = Making(segment, self._name)
        if self._making:
            self._making = self._making if self._making.step() else None
            return True
        has_lost, self._has_lost = self._has_lost, False
        if has_lost:
            unseal(self._looked_at, self._name)
        return has_lost

    def _next_segment(self) -> int | None:
        return next_segment(progress().upto)

    @property
    def _name(self) -> str:
        return self._holder or engine().runner.name

    def _leave(self) -> None:
        if self._holds:
            self._holds = False
            leave_mark(self._name)


PARTS.append(lambda catalog, tools: Searchable())
