"""Asks a process of its own for the text of a page, and gives it up where that takes too long."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

from ...processes.children import Helper, Overdue
from ..base import ToolError
from .page_text import PageRead

_THREADS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="reading")


async def page_read(html: str, url: str, *, cpu_seconds: float = 4, wall_seconds: float = 8) -> PageRead:
    """The budget is CPU time, since a busy machine is no fault of the page; the time on the wall is for what hangs."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_THREADS, _read_apart, html, url, cpu_seconds, wall_seconds)


def _read_apart(html: str, url: str, cpu_seconds: float, wall_seconds: float) -> PageRead:
    helper = Helper("chatapp.tools.page.readable", str(cpu_seconds))
    try:
        answer = helper.last_answer(f"{url}\n{html}".encode(errors="replace"), within=wall_seconds)
    except Overdue:
        raise ToolError("The page is built in such a way that it takes too long to read.") from None
    finally:
        helper.end()
    return PageRead(**json.loads(answer))
