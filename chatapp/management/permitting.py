"""Asks at a terminal whether a call may run: the arguments whole, one letter for an answer."""

from __future__ import annotations

import asyncio
import os
import sys
from uuid import UUID

from chatapp import store
from chatapp.core.decision import Decision
from chatapp.core.items import Item
from chatapp.core.signs.visible import visible_name
from chatapp.management.terminal import Terminal
from chatapp.store import in_thread
from chatapp.store.models import Message
from chatapp.thread.item_body import arguments, misleading
from chatapp.turns.engine import Engine

LETTERS = {"y": Decision.ONCE, "a": Decision.CONVERSATION, "n": Decision.DENIED}
CHOICE = "Allow? [y] once, [a] always in this conversation, [n] no: "


def can_ask() -> bool:
    """Whether somebody sits there who could answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


async def permit(engine: Engine, answer: UUID, view: Terminal) -> None:
    """Every call that waits, one after the other; the last word sets the turn going."""
    while calls := await in_thread(_asking_calls)(answer):
        call = calls[0]
        view.ask(f"{visible_name(call.name)} wants to run with {arguments(call.text)}\n")
        for host in misleading(call.text):
            view.ask(f"{host.shown} {host.words} {host.real}.\n")
        decision = await _choice(view)
        owner = (await in_thread(_answer_row)(answer)).conversation.owner
        await engine.decide(answer, {call.key: (decision, engine.shown_hash(call))}, by=owner)


async def _choice(view: Terminal) -> Decision:
    while True:
        view.ask(CHOICE)
        letter = (await _typed_line()).strip().lower()[:1]
        if letter in LETTERS:
            return LETTERS[letter]


async def _typed_line() -> str:
    """A line from the terminal, without keeping the loop or a thread waiting."""
    loop, typed = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    line = os.read(sys.stdin.fileno(), 4096)
    if not line:
        raise EOFError
    return line.decode(errors="replace")


def _asking_calls(answer: UUID) -> list[Item]:
    asks = store.asks_of(_answer_row(answer))
    return [item for item in store.load_items(answer) if item.key in asks]


def _answer_row(answer: UUID) -> Message:
    return Message.objects.select_related("conversation__owner").get(pk=answer)
