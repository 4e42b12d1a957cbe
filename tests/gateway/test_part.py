"""What a process that died was answering is counted by the next one that serves."""

from __future__ import annotations

import asyncio

import pytest

from chatapp.gateway.models import KeyRequest
from chatapp.gateway.part import KeyRequests
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.gateway.store.requests import begin_request
from chatapp.insight.models import PersonDay
from chatapp.store import in_thread
from tests.support.front import house
from tests.support.stage import play, until


@pytest.mark.django_db(transaction=True)
def test_what_a_dead_process_was_answering_is_ended_and_what_this_one_answers_goes_on(alice):
    def begin(runner: str) -> None:
        row, _ = keys.create_key(alice, KeyChoices(name="Editor"))
        begin_request(row, model="demo:thinker", estimate=70, runner=runner)

    async def story():
        async with house() as engine:
            here = engine.runner.name
            await in_thread(begin)(here)
            await in_thread(begin)(f"{here.partition('/')[0]}/dead")
            await in_thread(begin)("elsewhere/alive")
            keeping = asyncio.create_task(KeyRequests(every=0.01).keep())
            await until(in_thread(PersonDay.objects.exists))
            keeping.cancel()
            left = await in_thread(lambda: set(KeyRequest.objects.values_list("runner", flat=True)))()
            assert left == {here, "elsewhere/alive"}
            assert (await in_thread(PersonDay.objects.get)()).input == 70

    play(story())
