"""The drafts of this process's turns are saved together: a transaction for each, every second, is what a busy server would do most."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import store
from ..store import Claim, Fenced, in_thread

TOGETHER_SECONDS = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    claim: Claim
    draft: Callable[[], dict[str, Any]]
    holds: asyncio.Future[bool]


class Drafts:
    def __init__(self, together: float = TOGETHER_SECONDS) -> None:
        self._together = together
        self._waiting: list[_Waiting] = []
        self._saving: set[asyncio.Task[None]] = set()

    async def save(self, claim: Claim, draft: Callable[[], dict[str, Any]]) -> None:
        """Returns when it is stored as it was just then, with those that came about the same time."""
        mine = _Waiting(claim, draft, asyncio.get_running_loop().create_future())
        self._waiting.append(mine)
        if len(self._waiting) == 1:
            task = asyncio.create_task(self._save_all())
            self._saving.add(task)
            task.add_done_callback(self._saving.discard)
        if not await mine.holds:
            raise Fenced

    async def _save_all(self) -> None:
        await asyncio.sleep(self._together)
        saving, self._waiting = self._waiting, []
        still = [one for one in saving if not one.holds.done()]
        try:
            kept = await in_thread(store.save_drafts)([(one.claim, one.draft()) for one in still])
        except Exception as error:
            for one in still:
                if not one.holds.done():
                    one.holds.set_exception(error)
            return
        for one in still:
            if not one.holds.done():
                one.holds.set_result(one.claim in kept)
