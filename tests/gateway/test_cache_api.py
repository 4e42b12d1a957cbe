"""`/api/cache/reasoning`: what programs said is told in the shapes of the seed, cleared in three ways, and shown to managers alone."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp.gateway.models import ApiKey, KeptCleared, KeptLook, KeptResponse
from chatapp.gateway.store import cached, kept, purging
from chatapp.gateway.store.keys import revoke_key
from chatapp.pages.staff.password_given import HOLDS_SECONDS
from chatapp.store import in_thread
from tests.gateway.program import Program, program_of, restarted, result, served, thoughts_sent, user
from tests.support.faults import away, short_patience
from tests.support.front import visitor
from tests.support.script import call, response, text, thought
from tests.support.stage import play

pytestmark = pytest.mark.django_db(transaction=True)

WHERE = "/api/cache/reasoning"
CALLS = response(thought("I need the time."), call())
SAYS = response(thought("It is noon."), text("Noon."))
STATS = {
    *("memoryEntries", "dbEntries", "totalEntries", "totalChars", "hits", "misses", "replays"),
    *("replayRate", "byProvider", "byModel", "oldestEntry", "newestEntry"),
}
ENTRY = {"toolCallId", "provider", "model", "reasoning", "charCount", "createdAt", "expiresAt"}
AS_JAVASCRIPT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    restarted()
    yield
    restarted()


async def manager(dana: User) -> Program:
    return await program_of(dana, is_management=True)


async def read(who: Program, query: str = "") -> Any:
    answered = await who.send("GET", WHERE + query)
    assert answered.status_code == 200, answered.text
    return answered.json()


def rows(owner: User, number: int, *, provider: str = "p", model: str = "m", **more: Any) -> None:
    now = timezone.now()
    KeptResponse.objects.bulk_create(
        KeptResponse(
            secret=f"{provider[0]}{len(model)}{owner.pk:04}{n:020}",
            owner=owner,
            provider=provider,
            destination="https://provider.example",
            dialect="chat",
            model=model,
            digest=f"{n}",
            name=f"call_{n}",
            saved={"items": [], "keys": {}},
            thoughts=1,
            characters=10,
            size=100,
            created_at=now - timedelta(seconds=n),
            expires_at=now + timedelta(hours=1),
            **more,
        )
        for n in range(number)
    )


def test_what_a_program_was_told_is_shown_as_the_seed_has_it(alice, dana):
    async def story():
        async with served(CALLS, SAYS):
            editor, managing = await program_of(alice), await manager(dana)
            first = await editor.answer(user())
            await editor.answer(user(), first, result(first))
            told = await read(managing)
            assert set(told) == {"stats", "entries"}
            stats, (newest, oldest) = told["stats"], told["entries"]
            assert set(stats) == STATS and set(newest) == set(oldest) == ENTRY
            assert oldest["toolCallId"] == first["tool_calls"][0]["id"]
            assert (oldest["provider"], oldest["model"]) == ("scripted", "model")
            assert oldest["reasoning"] == "I need the time."
            assert oldest["charCount"] == len("I need the time.")
            assert AS_JAVASCRIPT.fullmatch(newest["createdAt"])
            assert (stats["oldestEntry"], stats["newestEntry"]) == (
                oldest["createdAt"],
                newest["createdAt"],
            )
            assert stats["memoryEntries"] == stats["dbEntries"] == stats["totalEntries"] == 2
            sums = {"entries": 2, "chars": len("I need the time.It is noon.")}
            assert stats["totalChars"] == sums["chars"]
            assert (stats["byProvider"], stats["byModel"]) == ({"scripted": sums}, {"model": sums})
            assert (stats["hits"], stats["misses"], stats["replays"]) == (1, 0, 1)
            assert stats["replayRate"] == "100.0%"

    play(story())


def test_the_rate_is_that_of_the_seed(alice, dana):
    async def story():
        async with served(SAYS):
            kept.memory.lookups.note(hits=84, misses=6, replays=81)
            assert (await read(await manager(dana)))["stats"]["replayRate"] == "90.0%"

    play(story())


def test_an_empty_cache_has_its_shape_too(dana):
    async def story():
        async with served(SAYS):
            told = await read(await manager(dana))
            assert set(told["stats"]) == STATS and told["entries"] == []
            assert told["stats"]["replayRate"] == "0.0%"
            assert told["stats"]["oldestEntry"] is told["stats"]["newestEntry"] is None

    play(story())


def test_entries_are_filtered_the_newest_first_and_the_figures_are_those_of_all(alice, dana):
    async def story():
        async with served(SAYS):
            await in_thread(rows)(alice, 3, provider="a", model="one")
            await in_thread(rows)(alice, 2, provider="b", model="one")
            await in_thread(rows)(alice, 2, provider="b", model="three")
            managing = await manager(dana)
            for query, number in (
                ("?provider=a", 3),
                ("?provider=b", 4),
                ("?model=one", 5),
                ("?provider=b&model=three", 2),
                ("?provider=nobody", 0),
                ("?provider=", 7),
                ("?provider=%00", 0),
            ):
                told = await read(managing, query)
                assert len(told["entries"]) == number, query
                assert told["stats"]["totalEntries"] == 7
                moments = [each["createdAt"] for each in told["entries"]]
                assert moments == sorted(moments, reverse=True)

    play(story())


LIMITS = {"1": 1, "0": 1, "-5": 1, "200": 200, "201": 200, "9" * 40: 200, "": 50, "many": 50, "1.5": 50}


@pytest.mark.parametrize(("said", "number"), LIMITS.items())
def test_a_limit_is_held_within_1_and_200(alice, dana, said, number):
    async def story():
        async with served(SAYS):
            await in_thread(rows)(alice, 210)
            assert len((await read(await manager(dana), f"?limit={said}"))["entries"]) == number

    play(story())


def test_what_has_expired_is_not_shown(alice, dana):
    async def story():
        async with served(SAYS):
            await in_thread(rows)(alice, 2)
            past = timezone.now() - timedelta(seconds=1)
            await in_thread(KeptResponse.objects.filter(name="call_1").update)(expires_at=past)
            told = await read(await manager(dana))
            assert [each["toolCallId"] for each in told["entries"]] == ["call_0"]
            assert told["stats"]["dbEntries"] == 1

    play(story())


@pytest.mark.parametrize("by", ["", "?provider=scripted", "?toolCallId={id}"])
def test_what_is_cleared_does_not_go_back_from_memory_or_after_a_restart(alice, dana, by):
    async def story():
        async with served(CALLS, SAYS) as (_, provider):
            editor, managing = await program_of(alice), await manager(dana)
            first = await editor.answer(user())
            query = by.format(id=first["tool_calls"][0]["id"])
            cleared = await managing.send("DELETE", WHERE + query)
            assert (cleared.status_code, cleared.json()) == (200, {"cleared": 1})
            assert len(kept.memory) == 0 and not await in_thread(KeptResponse.objects.exists)()
            missed = await editor.chat(user(), first, result(first))
            assert missed.headers["x-thoughtline-reasoning"] == "restored=0 missed=1 dropped=0"
            assert thoughts_sent(provider.asked[1]) == []

    play(story())


def test_clearing_takes_what_it_says_and_everything_takes_the_counts_as_well(alice, dana):
    async def story():
        async with served(CALLS, SAYS):
            editor, managing = await program_of(alice), await manager(dana)
            first = await editor.answer(user())
            await editor.answer(user(), first, result(first))
            await in_thread(rows)(alice, 3, provider="other")
            for query, number in (
                ("?provider=nobody", 0),
                (f"?provider={'x' * 300}", 0),
                ("?provider=other", 3),
            ):
                assert (await managing.send("DELETE", WHERE + query)).json() == {"cleared": number}
            name = first["tool_calls"][0]["id"]
            assert (await managing.send("DELETE", f"{WHERE}?toolCallId={name}")).json() == {"cleared": 1}
            told = await read(managing)
            assert len(told["entries"]) == told["stats"]["memoryEntries"] == 1
            assert told["stats"]["hits"] == 1
            assert (await managing.send("DELETE", WHERE)).json() == {"cleared": 1}
            stats = (await read(managing))["stats"]
            assert (stats["hits"], stats["misses"], stats["replays"], stats["totalEntries"]) == (0, 0, 0, 0)

    play(story())


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?provider=", 400),
        ("?toolCallId=", 400),
        ("?model=one", 400),
        ("?tool_call_id=call_1", 400),
        ("?provider=p&toolCallId=call_1", 400),
        ("?provider=p&provider=q", 400),
        ("?toolCallId=call_abc", 404),
        ("?toolCallId=%2e%2e%2f", 404),
    ],
)
def test_what_is_not_understood_clears_nothing(alice, dana, query, status):
    async def story():
        async with served(SAYS):
            await in_thread(rows)(alice, 3)
            refused = await (await manager(dana)).send("DELETE", WHERE + query)
            assert refused.status_code == status
            assert refused.json()["error"]["message"]
            assert await in_thread(KeptResponse.objects.count)() == 3

    play(story())


def test_other_processes_forget_what_is_cleared_and_what_a_person_who_left_had(alice, bob, dana):
    """This process is the other one: what it remembers was kept before somebody else cleared."""
    hears = cached.HeardCleared()

    async def story():
        async with served(CALLS, SAYS):
            first = await (await program_of(alice)).answer(user())
            await (await program_of(bob)).answer(user())
            await in_thread(hears.take_in)()
            await in_thread(KeptCleared.objects.create)(provider="another")
            await in_thread(hears.take_in)()
            assert len(kept.memory) == 2
            await in_thread(KeptCleared.objects.create)(owner=bob.pk)
            await in_thread(hears.take_in)()
            assert [each.owner for each in kept.memory._kept.values()] == [alice.pk]
            secret = first["tool_calls"][0]["id"][5:31]
            await in_thread(KeptCleared.objects.create)(secret=secret)
            await in_thread(hears.take_in)()
            assert len(kept.memory) == 0

    play(story())


@pytest.mark.both
def test_what_is_too_much_to_be_cleared_at_once_is_cleared_by_whoever_goes_on(alice, dana, monkeypatch):
    rows(alice, 30)
    monkeypatch.setattr(purging, "SECONDS", 0)
    assert cached.clear(cached.EVERYTHING) == 30
    assert KeptResponse.objects.count() == 30
    rows(alice, 1, provider="later")
    KeptResponse.objects.filter(provider="later").update(created_at=timezone.now())
    cached.go_on_clearing()
    assert [row.provider for row in KeptResponse.objects.all()] == ["later"]
    assert KeptCleared.objects.get().is_done


class TestWords:
    def test_they_are_shown_with_a_look_for_each_owner_and_none_for_ones_own(self, alice, bob, dana):
        async def story():
            async with served(CALLS):
                managing = await manager(dana)
                for owner in (alice, alice, bob, dana):
                    await (await program_of(owner)).answer(user())
                told = await read(managing)
                assert {each["reasoning"] for each in told["entries"]} == {"I need the time."}

        play(story())
        looks = KeptLook.objects.order_by("owner").values_list("who", "name", "owner", "responses")
        assert list(looks) == [(dana.pk, "dana", alice.pk, 2), (dana.pk, "dana", bob.pk, 1)]

    def test_where_conversations_are_closed_they_are_too_and_nobody_looked(self, alice, dana, settings):
        settings.ADMIN_CAN_READ_CHATS = False

        async def story():
            async with served(CALLS):
                await (await program_of(alice)).answer(user())
                (entry,) = (await read(await manager(dana)))["entries"]
                assert entry["reasoning"] == "" and entry["charCount"] == 16

        play(story())
        assert not KeptLook.objects.exists()

    def test_they_are_never_too_much_at_once(self, alice, dana, monkeypatch):
        async def story():
            async with served(CALLS):
                editor = await program_of(alice)
                for _ in range(3):
                    await editor.answer(user())
                size = (await in_thread(KeptResponse.objects.first)()).size
                monkeypatch.setattr(cached, "MOST_WORDS", 2 * size)
                told = await read(await manager(dana))
                words = [each["reasoning"] for each in told["entries"]]
                assert words == ["I need the time."] * 2 + [""]

        play(story())
        assert KeptLook.objects.get().responses == 2


class TestWhoManages:
    def test_a_key_that_is_not_marked_is_refused_in_words(self, alice, dana):
        async def story():
            async with served(SAYS):
                for person in (alice, dana):
                    for method in ("GET", "DELETE"):
                        refused = await (await program_of(person)).send(method, WHERE)
                        assert refused.status_code == 403
                        assert "management" in refused.json()["error"]["message"]

        play(story())

    def test_a_key_of_whoever_is_staff_no_longer_is_refused(self, dana):
        async def story():
            async with served(SAYS):
                managing = await manager(dana)
                await in_thread(User.objects.filter(pk=dana.pk).update)(is_staff=False)
                assert (await managing.send("GET", WHERE)).status_code == 403

        play(story())

    def test_a_wrong_or_a_revoked_key_opens_nothing_whatever_session_comes_with_it(self, dana):
        async def story():
            async with served(SAYS):
                managing, her = await manager(dana), await visitor(dana)
                key = await in_thread(ApiKey.objects.get)()
                await in_thread(revoke_key)(dana, key.pk)
                assert (await managing.send("GET", WHERE)).status_code == 401
                for headers in ({"Authorization": "Bearer tl_wrong"}, {"X-Api-Key": ""}):
                    refused = await her.get(WHERE, headers=headers)
                    assert refused.status_code == 401
                    cleared = await her.send("DELETE", WHERE, headers=headers)
                    assert cleared.status_code == 401

        play(story())

    def test_without_anything_one_is_told_what_is_needed(self, db):
        async def story():
            async with served(SAYS):
                refused = await (await visitor()).get(WHERE)
                assert refused.status_code == 401
                assert "key" in refused.json()["error"]["message"]

        play(story())

    def test_for_people_who_are_no_staff_nothing_is_there(self, alice, bob, charlie):
        async def story():
            async with served(SAYS):
                for person in (alice, bob, charlie):
                    who = await visitor(person)
                    for method in ("GET", "DELETE"):
                        refused = await who.send(method, WHERE, headers={"X-CSRFToken": who.token})
                        assert (refused.status_code, refused.json()["error"]["message"]) == (
                            404,
                            "There is nothing here.",
                        )

        play(story())

    def test_a_session_of_staff_reads_and_clears_with_the_token_of_its_form(self, alice, dana):
        async def story():
            async with served(SAYS):
                await in_thread(rows)(alice, 3)
                her = await visitor(dana)
                assert len((await her.get(WHERE)).json()["entries"]) == 3
                for headers in ({}, {"X-CSRFToken": "x" * 32}):
                    refused = await her.send("DELETE", WHERE, headers=headers)
                    assert refused.status_code == 403
                    assert "X-CSRFToken" in refused.json()["error"]["message"]
                assert await in_thread(KeptResponse.objects.count)() == 3
                cleared = await her.send("DELETE", WHERE, headers={"X-CSRFToken": her.token})
                assert cleared.json() == {"cleared": 3}

        play(story())

    def test_a_session_that_was_left_open_is_asked_for_the_password(self, dana, monkeypatch):
        client = Client()
        client.force_login(dana)
        assert client.get(WHERE).status_code == 200
        session = client.session
        session["password_given_at"] -= HOLDS_SECONDS + 1
        session.save()
        refused = client.get(WHERE)
        assert refused.status_code == 403 and "/accounts/again/" in refused.json()["error"]["message"]

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "TRACE"])
    def test_other_methods_are_refused_in_json(self, dana, method):
        async def story():
            async with served(SAYS):
                refused = await (await manager(dana)).send(method, WHERE)
                assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD, DELETE")

        play(story())


def test_without_a_database_it_says_so_in_json(dana):
    client = Client()
    with short_patience(), away():
        refused = client.get(WHERE, HTTP_AUTHORIZATION="Bearer " + "tl_" + "x" * 43)
    assert refused.status_code == 503
    assert "database" in refused.json()["error"]["message"]


@pytest.mark.both
def test_it_asks_as_little_of_many_rows_as_of_few(dana, client):
    client.force_login(dana)

    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get(WHERE, {"limit": 200}).status_code == 200
        return len([each for each in asked if each["sql"].startswith("SELECT")])

    rows(dana, 1)
    statements()
    few = statements()
    rows(dana, 2_000, provider="many")
    # Who it is; the figures; the entries with their owners, and their words.
    assert statements() == few == 4
