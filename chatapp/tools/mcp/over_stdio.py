"""A server that is a child of this process and speaks line by line. The official package's own way to start one gives it more
of our environment than it needs, and keeps lines of any length."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from ...processes.strangers import end_stranger, start_stranger
from .server_place import FRAME, PIECES, TOO_LONG, TOO_MANY, Problem, ServerCommand, pieces

log = logging.getLogger(__name__)


@asynccontextmanager
async def started(name: str, command: ServerCommand) -> AsyncIterator[TransportStreams]:
    process = await _start_command(command)
    arrived, arriving = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    leaving, left = anyio.create_memory_object_stream[SessionMessage](0)
    async with arrived, arriving, leaving, left, anyio.create_task_group() as group:
        group.start_soon(_pass_on, process, arrived)
        group.start_soon(_write, process, left)
        group.start_soon(_overhear, name, process)
        try:
            yield arriving, leaving
        finally:
            with anyio.CancelScope(shield=True):
                await end_stranger(process)
            group.cancel_scope.cancel()


async def _start_command(command: ServerCommand) -> asyncio.subprocess.Process:
    try:
        line = (command.program, *command.arguments)
        return await start_stranger(line, command.environment, longest_line=FRAME)
    except OSError as error:
        raise Problem(f"Its command cannot be started: {error.strerror}.") from None


async def _pass_on(process: asyncio.subprocess.Process, arrived: ObjectSendStream[Any]) -> None:
    assert process.stdout is not None
    async with arrived:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            while line := await _next_line(process.stdout):
                if (message := _as_message(line)) is not None:
                    await arrived.send(SessionMessage(message))


async def _next_line(stdout: asyncio.StreamReader) -> bytes:
    try:
        return await stdout.readuntil(b"\n")
    except asyncio.IncompleteReadError:
        return b""
    except asyncio.LimitOverrunError:
        raise Problem(TOO_LONG) from None


def _as_message(line: bytes) -> Any:
    """None for what is not meant as a message: some servers print to where they should not."""
    if not line.lstrip().startswith(b"{"):
        return None
    if pieces(line) > PIECES:
        raise Problem(TOO_MANY)
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        raise Problem("It sent something that is no message of MCP.") from None


async def _write(process: asyncio.subprocess.Process, left: ObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        async for message in left:
            process.stdin.write(
                message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )
            await process.stdin.drain()


async def _overhear(name: str, process: asyncio.subprocess.Process) -> None:
    """All of it is read, or it would wait for us. Only that there was something is told: it may repeat what it was asked."""
    assert process.stderr is not None
    size = 0
    while data := await process.stderr.read(4096):
        size += len(data)
    if size:
        log.debug("the MCP server %s complained, in %s bytes", name, size)
