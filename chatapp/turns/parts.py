"""What features keep going beside the turns of a process, without the engine knowing them: each adds its own to the list."""

from __future__ import annotations

from collections.abc import Callable

from ..providers.configured import Catalog
from ..tools.at_hand import ToolsAtHand


class EnginePart:
    async def load(self) -> None:
        """What the rows say, before anything starts."""

    async def keep(self) -> None:
        """Runs as long as the process serves."""

    async def refresh(self) -> None:
        """What the rows say by now, before a tool is called."""

    async def close(self) -> None: ...


PARTS: list[Callable[[Catalog, ToolsAtHand], EnginePart]] = []
