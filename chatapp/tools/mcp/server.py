"""One server, kept connected by one task: it comes back by itself, and whoever calls meanwhile waits for the next try."""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base import OutcomeUnknown, Report, ToolError
from .full_name import full_name
from .offered import Offered, usable_tools
from .results import opening
from .server_place import Forgotten, Lost, Problem, ServerPlace, ToolFailed

if TYPE_CHECKING:
    from .connection import Session

log = logging.getLogger(__name__)

CONNECTED, CONNECTING = "Connected.", "Connecting."
CANCEL_AGAIN = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """In seconds. `connect` and `list`: at most; `look`: between two looks at its tools; `shortest` and `longest`: before
    another try; `calm`: that a connection must last for the next try to come soon; `gap`: at least between two looks."""

    connect: float = 30.0
    list: float = 30.0
    look: float = 300.0
    gap: float = 1.0
    shortest: float = 1.0
    longest: float = 60.0
    calm: float = 60.0


TIMES = Times()
Where = Callable[[], ServerPlace]
Found = Callable[[Sequence[Offered]], Awaitable[bool]]


class Server:
    """`where` is asked at each try, and may say in a Problem that there is no place. `found` gets the tools when they changed,
    and answers whether they were kept."""

    def __init__(self, name: str, where: Where, found: Found, times: Times = TIMES) -> None:
        self.name, self._where, self._found, self._times = name, where, found, times
        self._session: Session | None = None
        # Of this try or the next one, and the one that somebody waited for last.
        self._outcome: asyncio.Future[Session | None] | None = None
        self._awaited: asyncio.Future[Session | None] | None = None
        self._wanted = asyncio.Event()
        self._tools: list[Offered] | None = None
        self._state, self._left_out = CONNECTING, ""
        self._task: asyncio.Task[None] | None = None
        self._is_ending = False

    @property
    def is_connected(self) -> bool:
        return self._session is not None

    @property
    def told(self) -> str:
        """How it is, for people."""
        return " ".join(filter(None, (self._state, self._left_out)))

    def start(self) -> None:
        """It outlives the request that may have asked for it, and inherits nothing of it."""
        self._task = asyncio.create_task(self._keep(), context=contextvars.Context())

    async def end(self) -> None:
        self._is_ending = True
        while self._task is not None and not self._task.done():
            # While the official package cancels its own tasks, a cancellation from outside may be lost.
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=CANCEL_AGAIN)

    async def _keep(self) -> None:
        loop, wait = asyncio.get_running_loop(), self._times.shortest
        self._outcome = loop.create_future()
        try:
            while not self._is_ending:
                began = loop.time()
                await self._once()
                if loop.time() - began > self._times.calm:
                    wait = self._times.shortest
                await self._pause(wait)
                wait = min(wait * 2, self._times.longest)
        finally:
            outcome, self._outcome = self._outcome, None
            _settle_once(outcome, None)

    async def _pause(self, seconds: float) -> None:
        """Shorter where somebody calls, and none where somebody waits for the next try already."""
        if self._awaited is self._outcome or self._is_ending:
            return
        self._wanted.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wanted.wait()

    async def _once(self) -> None:
        """Until the connection ends, or does not come about."""
        outcome = self._outcome
        assert outcome is not None
        try:
            package = await asyncio.to_thread(_package)
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._times.connect):
                    session = await stack.enter_async_context(package.connected(self.name, self._where()))
                self._session, self._state = session, CONNECTED
                _settle_once(outcome, session)
                await self._stay(session)
        except Exception as error:
            words = await asyncio.to_thread(_in_words, error)
            level = logging.DEBUG if words == self._state else logging.INFO
            log.log(level, "the MCP server %s is not connected: %s", self.name, type(error).__name__)
            self._state = words
        finally:
            self._session = None
            if self._outcome is outcome:
                self._outcome = asyncio.get_running_loop().create_future()
            _settle_once(outcome, None)

    async def _stay(self, session: Session) -> None:
        while True:
            session.news.clear()
            if session.ended.is_set() or self._session is not session:
                raise Problem("It ended the connection.")
            async with asyncio.timeout(self._times.list):
                await self._look(session)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._times.look):
                    await session.news.wait()
            if self._session is session and not session.ended.is_set():
                await asyncio.sleep(self._times.gap)

    async def _look(self, session: Session) -> None:
        entries, left_out = await session.tools()
        tools = await asyncio.to_thread(usable_tools, self.name, entries, left_out)
        self._left_out = left_out.words()
        if tools != self._tools and await self._found(tools):
            self._tools = tools

    async def call(
        self, tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any], report: Report
    ) -> str:
        """What it answered, or ToolError."""
        await asyncio.to_thread(_check, schema, arguments)
        try:
            try:
                text = await (await self._ready()).call(tool, arguments, report)
            except Forgotten:
                self._forget()
                text = await (await self._ready()).call(tool, arguments, report)
        except ToolFailed as error:
            raise ToolError(
                f"{opening(full_name(self.name, tool))} It says that it failed.\n{error}"
            ) from None
        except Lost as error:
            raise OutcomeUnknown(f"The server {self.name} broke off. {error}") from None
        except Problem as error:
            raise ToolError(f"The server {self.name} does not answer. {error}") from None
        return f"{opening(full_name(self.name, tool))}\n{text}"

    async def _ready(self) -> Session:
        """Connected, or else after one more try."""
        if self._session is not None and self._session.ended.is_set():
            self._forget()
        if self._session is not None:
            return self._session
        if self._outcome is None:
            raise Problem(self._state)
        self._awaited = self._outcome
        self._wanted.set()
        session = await asyncio.shield(self._outcome)
        if session is None:
            raise Problem(self._state)
        return session

    def _forget(self) -> None:
        if self._session is not None:
            self._session.news.set()
            self._session = None
            self._outcome = asyncio.get_running_loop().create_future()


def _settle_once(outcome: asyncio.Future[Session | None], session: Session | None) -> None:
    if not outcome.done():
        outcome.set_result(session)


def _package() -> Any:
    return import_module(f"{__package__}.connection")


def _in_words(error: Exception) -> str:
    return str(_package().failure_in_words(error))


def _check(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    from .checking import CheckTooLong, argument_problems

    try:
        problems = argument_problems(schema, arguments)
    except (CheckTooLong, RecursionError):
        raise ToolError("The arguments are too complicated to be checked.") from None
    if problems:
        raise ToolError("The arguments do not fit: " + "; ".join(problems))
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ToolError("The arguments hold characters that cannot be sent.") from None
