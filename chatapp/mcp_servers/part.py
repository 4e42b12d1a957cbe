"""Keeps this process connected to the servers of tools that the rows name, and their tools at hand."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import Error

from ..store import in_thread
from ..tools import Tool
from ..tools.at_hand import ToolsAtHand
from ..tools.mcp.as_tool import tool_of
from ..tools.mcp.offered import Offered
from ..tools.mcp.server import TIMES, Server, Times
from ..tools.mcp.server_place import Problem, ServerAddress, ServerCommand, ServerPlace
from ..turns.engine import engine
from ..turns.keys import key_in
from ..turns.parts import PARTS, EnginePart
from . import store as mcp_servers
from .models import McpServer, McpTool
from .store import ServerRow

log = logging.getLogger(__name__)

EVERY = 5.0
OFF = "Switched off."
GONE = "Not in MCP_SERVERS_FILE any more."
NOT_HERE = "Not connected by this process yet."


def mcp() -> Mcp:
    """Of this process."""
    return engine().part(Mcp)


@dataclass(frozen=True, slots=True)
class _Kept:
    row: ServerRow
    server: Server


class Mcp(EnginePart):
    """What is asked here changes nothing: rows are what counts, and they are looked at every few seconds."""

    def __init__(
        self,
        commands: Mapping[str, ServerCommand],
        tools: ToolsAtHand,
        *,
        times: Times = TIMES,
        every: float = EVERY,
    ) -> None:
        self.tools = tools
        self._commands, self._times, self._every = commands, times, every
        self._kept: dict[int, _Kept] = {}
        self._leaving: list[Server] = []
        self._rows: Sequence[ServerRow] | None = None
        self._soon = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def load(self) -> None:
        """The tools at hand as the rows have them; nothing is connected yet."""
        if self._commands:
            await in_thread(mcp_servers.register_commands)(self._commands)
        await self._look()

    async def refresh(self) -> None:
        """What the rows say counts from now on; the connections follow in their own time."""
        rows = await in_thread(mcp_servers.load_servers)()
        if rows != (self._rows or []):
            self.tools.change(self._usable(await in_thread(mcp_servers.load_tools)()))
            self.look_soon()

    async def keep(self) -> None:
        self._loop, self._soon = asyncio.get_running_loop(), asyncio.Event()
        while True:
            self._soon.clear()
            try:
                await self._look()
            except Error as error:
                log.warning("the MCP servers could not be looked at: %s", type(error).__name__)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._soon.wait()

    def look_soon(self) -> None:
        """From any thread: the rows have changed."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._soon.set)

    def is_command(self, name: str) -> bool:
        return name in self._commands

    def told(self, server: McpServer) -> str:
        """How a server is, for people."""
        if not server.url and not self.is_command(server.name):
            return GONE
        if not server.is_on:
            return OFF
        kept = self._kept.get(server.pk)
        return kept.server.told if kept else NOT_HERE

    async def close(self) -> None:
        self._loop, self._rows = None, None
        await self._let_go(list(self._kept))

    async def _look(self) -> None:
        rows = await in_thread(mcp_servers.load_servers)()
        if rows == self._rows:
            return
        await self._connect(rows)
        self.tools.change(self._usable(await in_thread(mcp_servers.load_tools)()))
        self._rows = rows

    async def _connect(self, rows: Sequence[ServerRow]) -> None:
        wanted = {row.pk: row for row in rows if row.is_on and (row.url or self.is_command(row.name))}
        old = [
            pk for pk, kept in self._kept.items() if pk not in wanted or wanted[pk].place != kept.row.place
        ]
        await self._let_go(old)
        for pk, row in wanted.items():
            if pk not in self._kept:
                server = Server(row.name, partial(self._place, row), partial(self._found, row), self._times)
                server.start()
                self._kept[pk] = _Kept(row, server)

    async def _let_go(self, servers: Sequence[int]) -> None:
        # Whoever is cancelled while he waits leaves the rest to `close`.
        self._leaving += [self._kept.pop(pk).server for pk in servers]
        await asyncio.gather(*(server.end() for server in self._leaving))
        self._leaving.clear()

    def _place(self, row: ServerRow) -> ServerPlace:
        if not row.url:
            return self._commands[row.name]
        try:
            key = key_in(row.key_variable)
        except LookupError as error:
            raise Problem(str(error)) from None
        return ServerAddress(row.url, private=row.private_network, key=key)

    async def _found(self, row: ServerRow, offered: Sequence[Offered]) -> bool:
        try:
            await in_thread(mcp_servers.save_offered)(row, offered)
        except Error as error:
            log.warning("the tools of %s were not stored: %s", row.name, type(error).__name__)
            return False
        self._soon.set()
        return True

    def _usable(self, rows: Sequence[McpTool]) -> dict[str, Tool]:
        return {tool.name: tool for row in rows if (tool := self._tool(row)) is not None}

    def _tool(self, row: McpTool) -> Tool | None:
        kept = self._kept.get(row.server_id)
        if kept is None:
            return None
        judged = row.judged == row.fingerprint
        return tool_of(
            kept.server,
            Offered(row.name, row.description, row.schema),
            safe=row.safe and judged,
            idempotent=row.idempotent and judged,
            usual=row.in_new_conversations,
        )


PARTS.append(lambda catalog, tools: Mcp(settings.MCP_SERVERS, tools))
