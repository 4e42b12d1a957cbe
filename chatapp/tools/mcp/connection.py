"""A session with one server, by the official package. It is told of no ability of ours: whatever a server asks, it is refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import httpcore2
import httpx2
from mcp import Client, MCPError
from mcp.client._input_required import InputRequiredRoundsExceededError
from mcp.client._transport import Transport, TransportStreams
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import NoBackChannelError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    Implementation,
    PaginatedRequestParams,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ...core.items import clean
from ..base import Report
from .line import BoundedLine
from .offered import MOST, LeftOut
from .over_http import reached
from .over_stdio import started
from .results import in_text
from .server_place import FORGOTTEN, Forgotten, Lost, Problem, ServerCommand, ServerPlace, ToolFailed

PAGES = 50
LISTEN_AGAIN = 30.0
WORDS = 500
# How often a call may say how far it is, and in how many letters.
REPORTS, REPORT = 0.25, 200
_US = Implementation(name="thoughtline", version="1")


class Session:
    """`news` is set when there is something to look at: other tools, or the end."""

    def __init__(self, client: Client, left_out: LeftOut, news: asyncio.Event, ended: asyncio.Event) -> None:
        self._client, self._left_out = client, left_out
        self.news, self.ended = news, ended

    async def tools(self) -> tuple[list[dict[str, Any]], LeftOut]:
        """As plain entries, those of the first pages, and what was left out already."""
        self._left_out.count, self._left_out.sentences = 0, []
        entries: list[dict[str, Any]] = []
        cursor, asked = None, set[str | None]()
        while len(asked) < PAGES and len(entries) <= MOST and cursor not in asked:
            asked.add(cursor)
            page = await self._client.session.list_tools(params=_from_cursor(cursor))
            entries += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        return entries, self._left_out

    async def call(self, tool: str, arguments: Mapping[str, Any], report: Report) -> str:
        try:
            result = await self._client.call_tool(tool, dict(arguments), progress_callback=_progress(report))
        except MCPError as error:
            raise _of_error(error) from None
        except (ValidationError, RuntimeError, InputRequiredRoundsExceededError):
            raise Lost("It sent something that is no answer to a call.") from None
        text = in_text(result)
        if result.is_error:
            raise ToolFailed(text)
        return text


def _from_cursor(cursor: str | None) -> PaginatedRequestParams | None:
    return PaginatedRequestParams(cursor=cursor) if cursor else None


def _of_error(error: MCPError) -> Problem:
    if error.error.message == FORGOTTEN:
        return Forgotten("It has forgotten this session.")
    if error.error.code == CONNECTION_CLOSED:
        return Lost("It ended during the call.")
    if error.error.code == PARSE_ERROR:
        return Lost("It sent something that is no answer to a call.")
    return ToolFailed(f"It refused the call: {_theirs(error)}")


def _theirs(error: MCPError) -> str:
    return " ".join(clean(error.error.message).split())[:WORDS]


def _progress(report: Report) -> Any:
    last = 0.0

    async def progress(done: float, total: float | None, message: str | None) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORTS:
            last = time.monotonic()
            report(clean(message or _figures(done, total))[:REPORT])

    return progress


def _figures(done: float, total: float | None) -> str:
    return f"{done:g} of {total:g}" if total is not None else f"{done:g}"


@asynccontextmanager
async def connected(name: str, place: ServerPlace) -> AsyncIterator[Session]:
    news, ended, left_out = asyncio.Event(), asyncio.Event(), LeftOut()

    def end() -> None:
        ended.set()
        news.set()

    async def notice(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            news.set()

    transport = _sifted(_transport(name, place), left_out, end)
    client = Client(transport, cache=None, client_info=_US, message_handler=notice)
    async with client, anyio.create_task_group() as beside:
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            beside.start_soon(_listen, client, news)
        yield Session(client, left_out, news, ended)
        beside.cancel_scope.cancel()


def _transport(name: str, place: ServerPlace) -> Transport:
    return started(name, place) if isinstance(place, ServerCommand) else reached(place)


@asynccontextmanager
async def _sifted(transport: Transport, left_out: LeftOut, ended: Any) -> AsyncIterator[TransportStreams]:
    async with transport as (arriving, leaving):
        yield BoundedLine(arriving, left_out, ended), leaving


async def _listen(client: Client, news: asyncio.Event) -> None:
    """Newer servers tell only those who listen that their tools are others."""
    tools = client.server_capabilities.tools
    while tools is not None and tools.list_changed:
        with suppress(MCPError, SubscriptionLost, TimeoutError, NoBackChannelError):
            async with client.listen(tools_list_changed=True) as subscription:
                async for _ in subscription:
                    news.set()
        await anyio.sleep(LISTEN_AGAIN)


def failure_in_words(error: BaseException) -> str:
    """Why there is no connection, in one sentence."""
    causes = list(_single_errors(error))
    for cause in causes:
        if isinstance(cause, Problem):
            return str(cause)
    return _sentence(causes[0])


def _single_errors(error: BaseException) -> Any:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _single_errors(inner)
    else:
        yield error


def _sentence(error: BaseException) -> str:
    match error:
        case TimeoutError() | httpcore2.TimeoutException() | httpx2.TimeoutException():
            return "It does not answer in time."
        case MCPError() if error.error.code == CONNECTION_CLOSED:
            return "It ended before it answered."
        case MCPError() if error.error.code == PARSE_ERROR:
            return "It answered with something that is not MCP."
        case MCPError():
            return f"It answered with an error: {_theirs(error)}"
        case httpcore2.ConnectError() | httpx2.ConnectError() | ConnectionError():
            return "Nobody answers at its address."
        case httpcore2.NetworkError() | httpcore2.ProtocolError() | httpx2.TransportError():
            return "The connection broke."
        case ValidationError():
            return "It answered with something that is not MCP."
        case _:
            return f"It cannot be talked to ({type(error).__name__})."
