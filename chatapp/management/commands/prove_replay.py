"""Asks a real model for what only its earlier thoughts hold, and says whether they were carried."""

from __future__ import annotations

import asyncio
import logging
import sys
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import Error
from django.urls import reverse

from chatapp.accounts.store import accounts
from chatapp.management import tables
from chatapp.management.proving import Proof, ReplayVerdict
from chatapp.providers.configured import UnknownModel
from chatapp.store import Refused, in_thread
from chatapp.store.deleting import delete_conversation
from chatapp.turns.engine import engine

CODES = {ReplayVerdict.CARRIED: 0, ReplayVerdict.NOT_CARRIED: 1, ReplayVerdict.CANNOT_TELL: 2}
STOPPED_BY_KEY = 130


class Command(BaseCommand):
    help = "Prove with a real model that its thoughts go back to it. Ends with 0 (carried), 1 (not carried) or 2 (cannot tell)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", required=True, help="provider:model id")
        parser.add_argument(
            "--effort", default="", help="how much to think, in the model's own words, or off"
        )
        parser.add_argument("--remove", action="store_true", help="delete the conversation afterwards")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.LOG_LEVEL != "DEBUG":
            logging.getLogger("chatapp").setLevel(logging.CRITICAL)
        tables.bring_up_to_date()
        try:
            verdict = asyncio.run(self._prove(options))
        except (Refused, UnknownModel) as error:
            raise CommandError(str(error), returncode=CODES[ReplayVerdict.CANNOT_TELL]) from None
        except (Error, OSError) as error:
            raise CommandError(tables.unusable(error), returncode=CODES[ReplayVerdict.CANNOT_TELL]) from None
        except KeyboardInterrupt:
            sys.exit(STOPPED_BY_KEY)
        if CODES[verdict]:
            sys.exit(CODES[verdict])

    async def _prove(self, options: dict[str, Any]) -> ReplayVerdict:
        mine = engine()
        try:
            await mine.load()
            author = await in_thread(accounts.who_asks_from_a_terminal)()
            proof = Proof(
                mine,
                model=options["model"],
                effort=options["effort"],
                author=author,
                tell=self._say,
            )
            try:
                return await proof.run()
            finally:
                await proof.stop()
                if proof.conversation:
                    await self._leave(proof.conversation, remove=options["remove"])
        finally:
            await mine.close()

    async def _leave(self, conversation: UUID, *, remove: bool) -> None:
        if remove:
            await in_thread(delete_conversation)(conversation)
            self._say("The conversation is deleted.")
        else:
            self._say(
                f"The conversation: {settings.PUBLIC_URL}{reverse('conversation', args=[conversation])}"
            )

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
