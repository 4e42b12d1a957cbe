"""A bound on what runs at the same time."""

from __future__ import annotations

from asyncio import AbstractEventLoop, Semaphore, get_running_loop


class AtOnce:
    """So many at a time in the loop that runs; there is one in each process, and tests have one after the other."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free: dict[AbstractEventLoop, Semaphore] = {}

    def __call__(self) -> Semaphore:
        loop = get_running_loop()
        if loop not in self._free:
            self._free = {loop: Semaphore(self._most)}
        return self._free[loop]
