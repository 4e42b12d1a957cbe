"""Rendering within a budget: small texts here and now, all others in a process that can be given up.

Beyond the budget a text is shown as it was written.
"""

from __future__ import annotations

from typing import Any

from .asked.question import render_question
from .growing import Growing
from .parser import TooMuch
from .renderers import GivenUp, Renderers
from .tail import Known, Step, advance
from .whole import as_it_is, render_blocks

# Nothing so short takes long, whatever it is; a fence may hold code, and highlighters have their own ideas of time.
SMALL = 600
_FENCES = ("```", "~~~")
RENDERERS = Renderers()


async def render_blocks_within(
    text: str, *, message: str = "", key: str = "", renderers: Renderers = RENDERERS
) -> list[str]:
    """As `render_blocks`, without holding up the event loop."""
    if is_small(text):
        return render_blocks(text, message=message, key=key)
    try:
        made: list[str] = await renderers.ask("blocks", text, message, key)
    except GivenUp:
        return [as_it_is(text)]
    return made


def blocks_waiting(
    text: str, *, message: str = "", key: str = "", renderers: Renderers = RENDERERS
) -> list[str]:
    """As `render_blocks_within`, for a thread that may wait."""
    if is_small(text):
        return render_blocks(text, message=message, key=key)
    try:
        made: list[str] = renderers.do("blocks", text, message, key)
    except GivenUp:
        return [as_it_is(text)]
    return made


async def question_within(text: str, *, renderers: Renderers = RENDERERS) -> list[str]:
    """As `render_question`. Beyond the budget its code has no colours."""
    if is_small(text):
        return [render_question(text)]
    try:
        return [await renderers.ask("question", text)]
    except GivenUp:
        # As in renderers.py: whoever only renders has no use for an event loop.
        from asyncio import to_thread

        return [await to_thread(render_question, text, coloured=False)]


def question_waiting(text: str, *, renderers: Renderers = RENDERERS) -> list[str]:
    """As `question_within`, for a thread that may wait."""
    if is_small(text):
        return [render_question(text)]
    try:
        return [renderers.do("question", text)]
    except GivenUp:
        return [render_question(text, coloured=False)]


async def feed_within(growing: Growing, text: str, *, renderers: Renderers = RENDERERS) -> list[str]:
    """As `Growing.feed`."""
    if not growing.look(text):
        return []
    try:
        return growing.take(await _advanced(*growing.job(), renderers))
    except (GivenUp, TooMuch):
        return growing.give_up()


async def _advanced(tail: str, known: Known, ids: str, renderers: Renderers) -> Step:
    if is_small(tail):
        return advance(tail, known, ids)
    made: dict[str, Any] = await renderers.ask("advance", tail, vars(known), ids)
    return Step(made["blocks"], made["taken"], Known(**made["known"]))


def is_small(text: str) -> bool:
    return len(text) <= SMALL and not any(fence in text for fence in _FENCES)
