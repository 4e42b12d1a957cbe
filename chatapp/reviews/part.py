"""Reminds reviewers by mail of what has waited for long, where mail is set. Nothing of what anybody said is in it."""

from __future__ import annotations

import asyncio
import logging

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import Error
from django.urls import reverse
from django.utils import timezone

from ..core.plural import many, one_or_more
from ..processes.itself import ITSELF, Task
from ..providers.configured import Catalog
from ..store import in_thread
from ..tools.at_hand import ToolsAtHand
from ..turns.parts import PARTS, EnginePart
from .store.reminding import take_reminders

log = logging.getLogger(__name__)

EVERY_SECONDS = 3600.0
FIRST_SECONDS = 60.0


class Reminders(EnginePart):
    async def keep(self) -> None:
        wait = FIRST_SECONDS
        while settings.EMAIL_HOST and ITSELF.task is not Task.SERVES:
            await asyncio.sleep(wait)
            wait = EVERY_SECONDS
            try:
                for person, number in await in_thread(take_reminders)(timezone.now()):
                    await asyncio.to_thread(remind, person, number)
            except (Error, OSError) as error:
                log.warning("a reviewer could not be reminded: %s", type(error).__name__)


def remind(person: User, number: int) -> None:
    them = one_or_more(number, "it", "them")
    where = f"\n\n{settings.PUBLIC_URL}{reverse('queue')}" if settings.PUBLIC_URL else ""
    waits = f"{many(number, 'submission')} {one_or_more(number, 'waits', 'wait')} for you"
    words = f"{waits} to review {them}, or to give {them} back so that somebody else can.{where}\n"
    send_mail(f"{waits} on Thoughtline", words, None, [person.email])


def _made(catalog: Catalog, tools: ToolsAtHand) -> Reminders:
    return Reminders()


PARTS.append(_made)
