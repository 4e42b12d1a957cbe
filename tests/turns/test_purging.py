"""What goes away by itself while a server runs."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from chatapp.store import in_thread
from chatapp.turns.purging import keep_purging
from tests.support.stage import play


@pytest.mark.django_db(transaction=True)
def test_sessions_that_have_ended_go_and_the_others_stay():
    def keys() -> set[str]:
        return set(Session.objects.values_list("session_key", flat=True))

    def made() -> None:
        for name, hours in (("old", -1), ("open", 1)):
            ends = timezone.now() + timedelta(hours=hours)
            Session.objects.create(session_key=name, session_data="", expire_date=ends)

    async def story():
        await in_thread(made)()
        purging = asyncio.create_task(keep_purging(every=0.01))
        while await in_thread(keys)() != {"open"}:
            assert not purging.done()
        purging.cancel()
        with suppress(asyncio.CancelledError):
            await purging

    play(story())
