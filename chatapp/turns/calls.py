"""The calls of one turn: what may run runs, all at once; what needs somebody's word is named; what cannot run is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .. import store
from ..core.events import ItemDelta, ItemDone, ItemsStored, ItemStarted
from ..core.history import NO_RESULT
from ..core.items import Item, Kind, Outcome, clean
from ..store import Permissions, in_thread
from ..tools.base import Tool, ToolOutput, can_be_read
from .state import TurnState

AT_ONCE = 8
# A tool tells how far it is at most this often, and not for ever.
REPORT_SECONDS = 0.1
MOST_REPORTS = 1000
LONGEST_REPORT = 200


class Calls:
    """`refresh`: what staff said of the tools of servers a moment ago counts too."""

    def __init__(
        self,
        turn: TurnState,
        tools: Mapping[str, Tool],
        now: Callable[[], float],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self.turn, self.tools, self._now, self._refresh = turn, tools, now, refresh
        self._places = asyncio.Semaphore(AT_ONCE)

    async def settle(self, calls: Sequence[Item]) -> list[Item]:
        """Gives the calls that a person has to allow first. After a take-over the same: what may have run does not run again,
        unless its tool says that this is harmless."""
        if not calls:
            return []
        if any("." in call.name for call in calls):
            await self.turn.patiently(self._refresh)()
        known = await self.turn.patiently(in_thread(store.load_permissions))(self.turn.claim.message)
        asks = [call for call in calls if self._must_ask(call, known)]
        await _together(self._settle(call, known) for call in calls if call not in asks)
        return asks

    async def answer(self, call: Item, text: str, outcome: Outcome) -> None:
        await self._record(call, self._start(call), ToolOutput(text, outcome))

    def _must_ask(self, call: Item, known: Permissions) -> bool:
        tool = self._offered(call, known)
        if tool is None or tool.safe or self._is_lost(call, tool, known) or not can_be_read(call.text):
            return False
        return not known.allow(call, fingerprint=tool.fingerprint)

    async def _settle(self, call: Item, known: Permissions) -> None:
        tool = self._offered(call, known)
        if tool is None:
            await self.answer(call, _no_tool(call.name), Outcome.FAILED)
        elif self._is_lost(call, tool, known):
            await self.answer(call, NO_RESULT, Outcome.UNKNOWN)
        else:
            async with self._places:
                await self._run(call, tool)

    def _offered(self, call: Item, known: Permissions) -> Tool | None:
        return self.tools.get(call.name) if call.name in known.offered else None

    def _is_lost(self, call: Item, tool: Tool, known: Permissions) -> bool:
        """It began, and nobody knows what came of it."""
        return call.key in known.begun and not tool.idempotent

    async def _run(self, call: Item, tool: Tool) -> None:
        await self.turn.write("begin_call", items=(call,))
        key = self._start(call)
        await self._record(call, key, await tool.run(call.text, _Progress(self.turn, key, self._now).tell))

    def _start(self, call: Item) -> str:
        key = self.turn.keys.take()
        self.turn.publish(ItemStarted(key, Kind.TOOL_RESULT, call.name, call.call_id))
        return key

    async def _record(self, call: Item, key: str, output: ToolOutput) -> None:
        result = Item(
            key=key,
            kind=Kind.TOOL_RESULT,
            text=output.text,
            round=call.round,
            call_id=call.call_id,
            name=call.name,
            outcome=output.outcome,
        )
        done = ItemDone(result)
        at = self.turn.note(done)
        await self.turn.write("append_result", items=(result,), measured=self.turn.measured([key]))
        # A result is a fact: it is a row before anybody sees it.
        self.turn.show(done, at)
        self.turn.publish(ItemsStored((key,)))


def _no_tool(name: str) -> str:
    return f"There is no tool named {name}." if name else "The call names no tool."


@dataclass(slots=True)
class _Progress:
    turn: TurnState
    key: str
    now: Callable[[], float]
    last: float = float("-inf")
    told: int = 0

    def tell(self, words: str) -> None:
        line = " ".join(clean(words[: 4 * LONGEST_REPORT]).split())[:LONGEST_REPORT]
        now = self.now()
        if line and now - self.last >= REPORT_SECONDS and self.told < MOST_REPORTS:
            self.last, self.told = now, self.told + 1
            self.turn.publish(ItemDelta(self.key, f"{line}\n"))


async def _together(works: Iterable[Awaitable[None]]) -> None:
    """All at once; the first that fails ends the others."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
