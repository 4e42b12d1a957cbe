"""Asks a process of its own for the text of a page, and gives it up where that takes too long."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..base import ToolError

ROOT = Path(__file__).parents[3]
_THREADS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="reading")


@dataclass(frozen=True, slots=True)
class PageRead:
    title: str
    text: str
    whole: bool


async def page_read(html: str, url: str, *, cpu_seconds: float = 4, wall_seconds: float = 8) -> PageRead:
    """The budget is CPU time, since a busy machine is no fault of the page; the time on the wall is for what hangs."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREADS, _read, html, url, cpu_seconds, wall_seconds)


def _read(html: str, url: str, cpu_seconds: float, wall_seconds: float) -> PageRead:
    try:
        # It gets no environment, so no key either.
        done = subprocess.run(
            [sys.executable, "-m", "chatapp.tools.page.readable", str(cpu_seconds)],
            input=f"{url}\n{html}".encode(errors="replace"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": str(ROOT)},
            timeout=wall_seconds,
            check=True,
        )
    except subprocess.SubprocessError:
        raise ToolError("The page is built in such a way that it takes too long to read.") from None
    return PageRead(**json.loads(done.stdout))
