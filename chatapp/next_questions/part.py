"""Asks what waits as soon as the answer before it is complete: told of that by the log, and looking for itself now and then, for what
another process ended or left behind."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from django.db import Error, transaction

from ..providers.base import UnknownModel
from ..store import Refused, SentAlready, in_thread
from ..store.changes import changed
from ..turns.engine import engine
from ..turns.parts import PARTS, EnginePart
from . import store as next_questions
from .store import Due

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
BROKEN = "Something broke inside Thoughtline. Your question is safe; send it again."


class NextQuestions(EnginePart):
    def __init__(self, *, look: float = LOOK_SECONDS) -> None:
        self._look_seconds = look
        # The answers that are waited for, as this process knows; while it finds out, all of them may be.
        self._awaited: set[UUID] | None = None

    async def keep(self) -> None:
        loop, told = asyncio.get_running_loop(), asyncio.Event()

        def on_change(message: UUID | None, what: str, **_: Any) -> None:
            ended = what == "turn ended" and (self._awaited is None or message in self._awaited)
            if ended or what == "next question":
                transaction.on_commit(lambda: loop.call_soon_threadsafe(told.set), robust=True)

        changed.connect(on_change)
        try:
            while True:
                told.clear()
                await self._look_around()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_seconds):
                        await told.wait()
        finally:
            changed.disconnect(on_change)

    async def ask_all(self) -> None:
        """Everything that can be asked now."""
        self._awaited = None
        due, self._awaited = await in_thread(next_questions.load_due)()
        for each in due:
            await self._ask(each)

    async def _look_around(self) -> None:
        try:
            await self.ask_all()
        except Error as error:
            log.warning("questions that wait were not looked for: %s", type(error).__name__)

    async def _ask(self, due: Due) -> None:
        try:
            start = partial(next_questions.ask_when_due, due.id)
            await engine().ask_kept(start, model=due.model, effort=due.effort, submission=due.id)
        except (Refused, UnknownModel) as refusal:
            await self._note(due, str(refusal))
        except SentAlready:
            await self._note(due, next_questions.SENT)
        except Error:
            raise
        except Exception as error:
            # One that cannot be asked must not keep the others from being asked.
            log.error("a question that waits could not be asked: %s", type(error).__name__)
            await self._note(due, BROKEN)

    async def _note(self, due: Due, sentence: str) -> None:
        await in_thread(next_questions.note_why_not)(due.id, sentence)


PARTS.append(lambda catalog, tools: NextQuestions())
