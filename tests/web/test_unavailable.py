"""While the database cannot do its work, every address says so in words and in time, and keeps what was sent; then it heals by itself."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.models import Share
from tests.faults import FAULTS, short_patience
from tests.turns.stage import play

from .addresses import ADDRESSES
from .front import HTMX, Visitor, house, session_of
from .test_access import Belongings, address

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

# Where even reading has to write first: a look of an administrator, and the token of a mail, which moves into the session.
WRITES_FIRST = ("/accounts/reset/<uidb64>/<token>/",)
ANSWERS_WITH_503 = ("/health/ready",)


def places(hers: Belongings) -> list[tuple[str, str]]:
    """Every address, with something of hers behind it."""
    token = Share.objects.get(pk=hers.link).token
    named = [
        (path, address(path, hers.ids_for(path)[0], hers) if "<uuid" in path else path) for path in ADDRESSES
    ]
    more = {"/s/<token>/": f"/s/{token}/", "/insight/<slug:what>.csv": "/insight/models.csv"}
    return [(path, place.replace("/s/<token>/", f"/s/{token}/")) for path, place in named] + [*more.items()]


async def answer(who: Visitor, method: str, place: str, form: Any, headers: dict[str, str]) -> Any:
    if method == "POST":
        return await who.post(place, form, headers=headers)
    return await who.send(method, place, headers=headers)


def people(*users: Any) -> list[Visitor]:
    """And a stranger."""
    return [*(Visitor(session_of(user)) for user in users), Visitor("")]


def read(reading: list[tuple[Visitor, str]]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []

    async def story() -> None:
        async with house():
            for who, place in reading:
                found.append((place, (await who.get(place)).status_code))

    play(story())
    return found


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["browser", "script"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_address_takes_it_for_a_mistake_of_ours(alice, dana, fault, headers):
    hers = Belongings(alice)
    here, everybody = places(hers), people(alice, dana)

    async def story():
        async with house():
            for path, place in here:
                for who in everybody:
                    for method in ADDRESSES[path].methods:
                        response = await answer(who, method, place, ADDRESSES[path].form, headers)
                        assert response.status_code in (503, *range(200, 500)), (method, path)
                        if response.status_code == 503 and path not in ANSWERS_WITH_503:
                            assert response.headers["retry-after"] == "5", (method, path)
                            assert method == "HEAD" or "database" in response.text, (method, path)

    with short_patience(), FAULTS[fault]():
        play(story())


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "away"])
def test_what_is_only_read_is_read_while_nothing_can_be_written(alice, dana, fault):
    hers = Belongings(alice)
    paths = [each for each in places(hers) if each[0] not in (*WRITES_FIRST, *ANSWERS_WITH_503)]
    reading = [(who, place) for _, place in paths for who in people(alice, dana)]
    usual = read(reading)
    with short_patience(), FAULTS[fault]():
        assert read(reading) == usual
