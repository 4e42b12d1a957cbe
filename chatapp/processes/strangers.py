"""Programs of somebody else, as children of this process. Their streams are read on the event loop, of which our own helpers know nothing:
they share the module beside this one, and would load asyncio for no use."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import PIPE
from collections.abc import Mapping, Sequence
from contextlib import suppress

from .children import forget_leader, note_leader, tell_group

# For ending by itself, after a polite signal, and after an impolite one.
PATIENCE = 1.0


async def start_stranger(
    command: Sequence[str], environment: Mapping[str, str], *, longest_line: int
) -> asyncio.subprocess.Process:
    """A program of somebody else, whose three streams are read here. OSError where there is none."""
    process = await asyncio.create_subprocess_exec(
        *command,
        env=dict(environment),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        limit=longest_line,
        start_new_session=True,
    )
    note_leader(process.pid)
    return process


async def end_stranger(process: asyncio.subprocess.Process) -> None:
    """Its children go with it."""
    assert process.stdin is not None
    process.stdin.close()
    for way in (None, signal.SIGTERM, signal.SIGKILL):
        if way is not None:
            tell_group(process.pid, way)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await process.wait()
            break
    tell_group(process.pid, signal.SIGKILL)
    forget_leader(process.pid)
    # Somebody else may still hold its pipes.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
