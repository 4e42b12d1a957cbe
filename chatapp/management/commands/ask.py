"""A door to talk through from a terminal: a real turn, by the same engine that serves the pages."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import Error

from chatapp.accounts.store import accounts
from chatapp.management import tables
from chatapp.management.permitting import can_ask, permit
from chatapp.management.terminal import JsonLines, Terminal
from chatapp.providers.configured import UnknownModel
from chatapp.store import Refused, in_thread, load_items
from chatapp.store.models import Conversation, Message, Status
from chatapp.turns.engine import Engine, engine
from chatapp.turns.watching import AT_WORK, watch

LEFT_OPEN = "The answer could not be kept, and is left unfinished. Is the disk full?"
LEFT_NOTED = "The answer could not be stored yet: what was said is kept beside the database, for the next start. Is the disk full?"
STOPPED_BY_KEY = 130
NOBODY_READS = 141

Stopping = list[asyncio.Task[bool]]


class Command(BaseCommand):
    help = "Ask a model, and see it think."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--model", default="", help="provider:model id; the default model when left out")
        parser.add_argument("--conversation", type=UUID, help="go on in this conversation")
        parser.add_argument(
            "--at", type=UUID, help="below this answer; the conversation's head when left out"
        )
        parser.add_argument(
            "--effort", default="", help="how much to think, in the model's own words, or off"
        )
        parser.add_argument(
            "--user", default="", help="whose conversation it becomes; the administrator's when left out"
        )
        parser.add_argument("--json", action="store_true", help="the events, one a line")

    def handle(self, *args: Any, **options: Any) -> None:
        _keep_the_answer_clean()
        tables.bring_up_to_date()
        try:
            code = asyncio.run(_ask_and_show(options))
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error)) from None
        if code:
            sys.exit(code)


def _keep_the_answer_clean() -> None:
    """What goes wrong is told in the answer's own words; log lines would stand between them."""
    if settings.LOG_LEVEL != "DEBUG":
        logging.getLogger("chatapp").setLevel(logging.CRITICAL)


async def _ask_and_show(options: dict[str, Any]) -> int:
    mine = engine()
    try:
        await mine.load()
        # Open pages of a server beside hear of this from its first word on.
        mine.notices.begin()
        if options["json"]:
            # A script is given every event, also of an answer that is over before anybody here looks.
            mine.live.keep_all()
        place = await in_thread(_starting_point)(options)
        model = options["model"] or await mine.default_model()
        started = await mine.ask(
            place.conversation,
            options["question"],
            parent=place.parent,
            model=model,
            effort=options["effort"],
            author=place.owner,
        )
        return await _show_until_end(mine, started.answer, JsonLines() if options["json"] else Terminal())
    except (Refused, UnknownModel) as error:
        raise CommandError(str(error)) from None
    finally:
        await mine.close()


async def _show_until_end(mine: Engine, answer: UUID, view: JsonLines | Terminal) -> int:
    """Ctrl-C stops the turn; what was seen of it is kept."""
    loop = asyncio.get_running_loop()
    stopping: Stopping = []
    loop.add_signal_handler(
        signal.SIGINT, lambda: stopping.append(loop.create_task(mine.stop(answer, by="terminal")))
    )
    row = await in_thread(_row_kept)(mine, answer)
    try:
        view.begin(row.conversation_id, answer, row.model)
        while True:
            async with view.ticking():
                await _follow(mine, answer, view, stopping)
            await asyncio.gather(*stopping)
            row = await in_thread(_row_kept)(mine, answer)
            if not await _permitted(mine, row, view, stopping):
                break
        row = await in_thread(_row_kept)(mine, answer)
        view.end(row)
    except BrokenPipeError:
        return await _nobody_reads(mine, answer)
    return STOPPED_BY_KEY if stopping else int(row.status not in (Status.COMPLETE, Status.STOPPED))


async def _permitted(mine: Engine, row: Message, view: JsonLines | Terminal, stopping: Stopping) -> bool:
    """True when somebody at the terminal has decided, so that the turn goes on."""
    if row.status != Status.WAITING or not isinstance(view, Terminal) or not can_ask():
        return False
    asking = asyncio.create_task(permit(mine, row.id, view))
    try:
        while not asking.done() and not stopping:
            await asyncio.wait({asking}, timeout=0.1)
        if asking.done():
            asking.result()
    except EOFError:
        return False
    finally:
        asking.cancel()
    await asyncio.gather(*stopping)
    return not stopping


async def _follow(mine: Engine, answer: UUID, view: JsonLines | Terminal, stopping: Stopping) -> None:
    """To the turn's end, or to the end of the work on it, should that leave the turn open. A terminal does not wait for ever."""

    async def show() -> None:
        async for news in watch(answer, mine.live, mine.notices, mine.keeper):
            view.show(news)

    showing = asyncio.create_task(show())
    left = asyncio.create_task(_left_open(mine, answer, stopping))
    overdue = asyncio.create_task(mine.keeper.overdue.wait())
    try:
        await asyncio.wait({showing, left, overdue}, return_when=asyncio.FIRST_COMPLETED)
        if overdue.done() or (left.done() and left.result()):
            raise CommandError(LEFT_NOTED if answer in mine.keeper.noted() else LEFT_OPEN)
        await showing
    finally:
        for task in (showing, left, overdue):
            task.cancel()
        await asyncio.gather(showing, left, overdue, return_exceptions=True)


async def _left_open(mine: Engine, answer: UUID, stopping: Stopping) -> bool:
    await mine.runner.wait(answer)
    if stopping:
        # Unlike gather, this leaves the stop alone when the looking ends first.
        await asyncio.wait(stopping)
    for stop in stopping:
        stop.result()
    row = await in_thread(_row_kept)(mine, answer)
    return row.status in AT_WORK and row.runner == mine.runner.name


async def _nobody_reads(mine: Engine, answer: UUID) -> int:
    """Whoever read the output has left, as `head` does: the turn is stopped, and nothing more is said."""
    await mine.stop(answer, by="terminal")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return NOBODY_READS


@dataclass(frozen=True)
class StartingPoint:
    """Who asks, and below which message; no conversation yet means a new one."""

    owner: User
    conversation: UUID | None = None
    parent: UUID | None = None


def _starting_point(options: dict[str, Any]) -> StartingPoint:
    owner = _owner(options["user"])
    if options["at"]:
        found = Message.objects.filter(pk=options["at"], conversation__owner=owner).first()
        if found is None or options["conversation"] not in (None, found.conversation_id):
            raise Refused(f"There is no message {options['at']} in that conversation.")
        return StartingPoint(owner, found.conversation_id, found.id)
    if options["conversation"]:
        mine = Conversation.objects.filter(pk=options["conversation"], owner=owner).first()
        if mine is None:
            raise Refused(f"There is no conversation {options['conversation']}.")
        return StartingPoint(owner, mine.id, mine.head_id)
    return StartingPoint(owner)


def _owner(name: str) -> User:
    if name:
        found = User.objects.filter(username=name).first()
        if found is None:
            raise Refused(f"There is no account named {name}.")
        return found
    return accounts.who_asks_from_a_terminal()


def _row_kept(mine: Engine, answer: UUID) -> Message:
    row, _ = mine.keeper.known(Message.objects.get(pk=answer), load_items(answer))
    return row
