"""Whatever a program sends, through whichever door, to whichever wire: an answer, or a refusal with a sentence. Nothing of ours breaks, and
nothing is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: its nonsense is what is sent here")

from django.contrib.auth.models import User

from chatapp.gateway.models import KeyRequest
from chatapp.store import in_thread
from tests.providers.fuzz import places
from tests.support.providers import LINES, catalog_for
from tests.support.stage import play

from .doors.bodies import CHAT, MESSAGES
from .doors.test_reading_laws import NONSENSE, with_at
from .knocking import CHAT as CHATTING
from .knocking import MESSAGES as MESSAGING
from .knocking import RESPONSES, Json, key_of, knock, open_house
from .test_openapi import RESPONSES_BODY

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("as_often_as_they_like")]
# What it names by an id nobody has kept.
ITEMS = [item for item in RESPONSES_BODY["input"] if item != {"id": "msg_9"}]
BODIES = {CHATTING: CHAT, MESSAGING: MESSAGES, RESPONSES: RESPONSES_BODY | {"input": ITEMS}}
THREE = [line for line in LINES if line.provider in ("openai", "anthropic", "deepseek")]
# Of each door and wire, without --whole.
HEARD = 150


def bodies(path: str, model: str) -> Iterator[Json]:
    """Nonsense in every place of a request that uses all that its door knows."""
    body = deepcopy(BODIES[path]) | {"model": model}
    yield body
    for place in range(len(list(places(body)))):
        for nonsense in NONSENSE:
            changed: Any = with_at(body, place, nonsense)
            if isinstance(changed, dict):
                yield changed | {"model": model}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("line", THREE, ids=str)
def test_nonsense_anywhere_is_answered_or_refused(
    up: Any, alice: User, path: str, line: Any, request: pytest.FixtureRequest
) -> None:
    told = list(bodies(path, line.model("plain")))
    if not request.config.getoption("--whole"):
        told = [told[0], *Random(f"{path}{line}").sample(told, HEARD)]

    async def story() -> None:
        async with open_house() as engine:
            engine.catalog = catalog_for(up)
            secret = await key_of(alice, keeps_responses=True)
            for body in told:
                answer = await knock("POST", path, body, key=secret)
                assert answer.status in (200, 400, 404, 413, 429), (answer.text[:500], body)
                assert answer.is_over and (answer.status == 200 or answer.error)
            assert not await in_thread(KeyRequest.objects.exists)()

    play(story())
