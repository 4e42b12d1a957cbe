"""What is kept stays within its bounds, in memory and in rows; what must go goes in pieces, and what went back is counted."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp.accounts.store.leaving import leave
from chatapp.core.items import Item, Kind
from chatapp.gateway.cache.part import KeptThoughts
from chatapp.gateway.models import KeptCleared, KeptResponse, ReplayDay, StoredResponse
from chatapp.gateway.replay.kept import MOST, MOST_BYTES, KeptAnswer, Memory, ModelScope
from chatapp.gateway.store import kept, purging, replays, stored
from chatapp.gateway.store.keys import KeyChoices, create_key
from chatapp.gateway.store.replays import Replayed, count_replayed
from chatapp.insight.store.sums import day_of
from chatapp.store import deleting, in_thread
from tests.gateway.program import program_of, restarted, served, user
from tests.gateway.test_cache_api import rows
from tests.support.locked import lock
from tests.support.script import response, text, thought
from tests.support.stage import play, until

SCOPE = ModelScope(provider="p", destination="https://p.example", dialect="chat", model="m")
SAYS = response(thought("Hm."), text())


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    restarted()
    yield
    restarted()


def one(n: int, *, size: int = 1_000, owner: int = 1, expires: float = 1e10) -> KeptAnswer:
    item = Item(key="rs_1", kind=Kind.REASONING, text="Hm.")
    return KeptAnswer(
        secret=f"{n:026}",
        owner=owner,
        scope=SCOPE,
        digest=f"{n:064}",
        items=(item,),
        keys={"rs_1": 0},
        expires=expires,
        size=size,
    )


def found(memory: Memory, n: int, owner: int = 1, now: float = 0) -> list[KeptAnswer]:
    return list(memory.find(owner, [f"{n:026}"], [], now))


class TestMemory:
    def test_it_holds_2000_and_64_mib_as_said(self):
        assert (MOST, MOST_BYTES) == (2_000, 64 * 2**20)

    def test_of_too_many_the_oldest_go_first(self):
        memory = Memory()
        for n in range(MOST + 5):
            memory.keep(one(n))
        assert len(memory) == MOST
        assert not any(found(memory, n) for n in range(5)) and found(memory, 5)

    def test_of_too_much_the_oldest_go_first(self):
        memory = Memory()
        for n in range(70):
            memory.keep(one(n, size=2**20))
        assert (len(memory), memory.size) == (64, MOST_BYTES)
        assert not found(memory, 5) and found(memory, 6)

    def test_what_alone_is_too_much_is_not_held_and_counts_for_nothing(self):
        memory = Memory()
        memory.keep(one(0, size=MOST_BYTES + 1))
        assert (len(memory), memory.size) == (0, 0)

    def test_what_is_kept_again_is_held_once(self):
        memory = Memory()
        for _ in range(3):
            memory.keep(one(0))
        assert (len(memory), memory.size) == (1, 1_000)

    def test_what_has_expired_is_not_found_and_leaves(self):
        memory = Memory()
        for n in range(10):
            memory.keep(one(n, expires=n))
        assert not found(memory, 4, now=5) and found(memory, 6, now=5)
        memory.purge(5)
        assert (len(memory), memory.size) == (4, 4_000)
        assert list(memory.find(1, [], [one(3).digest], 0)) == []

    def test_nobody_finds_what_is_anothers(self):
        memory = Memory()
        memory.keep(one(0, owner=1))
        assert found(memory, 0, owner=2) == []
        assert list(memory.find(2, [], [one(0).digest], 0)) == []


def in_story(owner: User, number: int) -> None:
    async def story():
        async with served(SAYS):
            editor = await program_of(owner)
            for _ in range(number):
                await editor.answer(user())

    play(story())


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
class TestRows:
    def test_of_one_owner_the_oldest_go_first(self, alice, bob, monkeypatch):
        monkeypatch.setattr(purging, "MOST_OF_ONE", 10)
        rows(alice, 25)
        rows(bob, 9)
        assert purging.trim(alice.pk) == 15
        assert purging.trim(bob.pk) == 0
        left = {row.name for row in KeptResponse.objects.filter(owner=alice)}
        assert left == {f"call_{n}" for n in range(10)}

    def test_the_bound_is_that_of_the_house(self):
        assert purging.MOST_OF_ONE == 20_000

    def test_it_takes_few_statements_to_see_that_nothing_is_too_much(self, alice):
        rows(alice, 30)
        with CaptureQueriesContext(connection) as asked:
            purging.trim(alice.pk)
        assert len(asked) == 1

    def test_whoever_has_kept_some_is_looked_after_and_nobody_else(self, alice, monkeypatch):
        monkeypatch.setattr(purging, "MOST_OF_ONE", 2)
        monkeypatch.setattr(purging, "TRIMMED_EACH", 4)
        in_story(alice, 3)
        purging.trim_grown()
        assert KeptResponse.objects.count() == 3
        kept.written[alice.pk] += 4
        purging.trim_grown()
        assert KeptResponse.objects.count() == 2 and not kept.written

    def test_the_purge_takes_what_has_expired_and_what_is_too_much(self, alice, bob, monkeypatch):
        monkeypatch.setattr(purging, "MOST_OF_ONE", 5)
        rows(alice, 8)
        rows(bob, 4)
        past = timezone.now() - timedelta(seconds=1)
        KeptResponse.objects.filter(owner=bob, name="call_0").update(expires_at=past)
        key, _ = create_key(bob, KeyChoices(name="Editor", keeps_responses=True))
        now = timezone.now()
        for n, expires in enumerate((past, now + timedelta(hours=1))):
            StoredResponse.objects.create(secret=str(n), owner=bob, key=key, expires_at=expires)
        KeptCleared.objects.create(at=now - timedelta(days=2), is_done=True)
        KeptCleared.objects.create(at=now - timedelta(days=2))
        deleting.purge()
        assert KeptResponse.objects.filter(owner=alice).count() == 5
        assert KeptResponse.objects.filter(owner=bob).count() == 3
        assert [row.secret for row in StoredResponse.objects.all()] == ["1"]
        assert KeptCleared.objects.count() == 1

    def test_whoever_leaves_takes_all_of_it_with_them(self, alice, bob):
        rows(alice, 12)
        rows(bob, 1)
        in_story(alice, 1)
        kept.memory.keep(one(0, owner=alice.pk))
        kept.memory.keep(one(1, owner=bob.pk))
        leave(alice)
        assert [row.owner_id for row in KeptResponse.objects.all()] == [bob.pk]
        assert not found(kept.memory, 0, owner=alice.pk) and found(kept.memory, 1, owner=bob.pk)
        assert KeptCleared.objects.get().owner == alice.pk


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
class TestReplays:
    def test_they_are_counted_by_day_and_model(self):
        today = day_of(timezone.now())
        for made in (Replayed(3, 1, 0), Replayed(1, 0, 2), Replayed()):
            count_replayed(today, "p:m", made)
        count_replayed(today, "p:other", Replayed(missed=1))
        count_replayed(today - timedelta(days=1), "p:m", Replayed(restored=1))
        day = ReplayDay.objects.get(day=today, model="p:m")
        assert (day.restored, day.missed, day.dropped) == (4, 1, 2)
        assert ReplayDay.objects.count() == 3

    def test_nothing_is_written_where_nothing_was_wanted(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            count_replayed(day_of(timezone.now()), "p:m", Replayed())

    def test_those_of_each_response_are_written_together(self, alice, django_assert_max_num_queries):
        rows(alice, 300)
        secrets = list(KeptResponse.objects.order_by("name").values_list("secret", flat=True))
        for _ in range(3):
            replays.to_write.note(secrets)
        replays.to_write.note(secrets[:1])
        with CaptureQueriesContext(connection) as asked:
            replays.to_write.write()
        assert len([each for each in asked if each["sql"].startswith("UPDATE")]) == 3
        counted = list(KeptResponse.objects.order_by("name").values_list("replays", flat=True))
        assert counted == [4] + [3] * 299
        replays.to_write.write()
        assert KeptResponse.objects.filter(replays=3).count() == 299


@pytest.mark.django_db(transaction=True)
def test_what_cannot_be_written_now_is_written_later(alice):
    rows(alice, 1)
    secret = KeptResponse.objects.get().secret
    for _ in range(2):
        replays.to_write.note([secret])
    part = KeptThoughts()
    with lock() as shut:
        shut.shut()
        play(part._look())
    assert KeptResponse.objects.get().replays == 0
    play(part._look())
    assert KeptResponse.objects.get().replays == 2


@pytest.mark.django_db(transaction=True)
def test_the_part_keeps_the_memory_and_clears_what_others_cleared(alice):
    async def story():
        async with served(SAYS):
            await (await program_of(alice)).answer(user())
            kept.memory.keep(one(7, expires=1.0))
            keeping = asyncio.create_task(KeptThoughts(every=0.01, seldom=1).keep())
            await until(_only(1))
            await in_thread(KeptCleared.objects.create)()
            await until(_only(0))
            await until(in_thread(KeptCleared.objects.filter(is_done=True).exists))
            assert not await in_thread(KeptResponse.objects.exists)()
            keeping.cancel()

    play(story())


def _only(number: int) -> Any:
    async def look() -> bool:
        return len(kept.memory) == number

    return look


@pytest.mark.django_db(transaction=True)
def test_of_the_responses_of_one_owner_the_newest_stay(alice, bob, monkeypatch):
    monkeypatch.setattr(purging, "MOST_STORED", 10_000)
    monkeypatch.setattr(purging, "MOST_RESPONSES", 10)
    key, other = (create_key(person, KeyChoices(name="k"))[0] for person in (alice, bob))

    def store(n: int, owner: User, of: Any, words: str) -> None:
        secret = f"{n:026}"
        stored.store_response(secret, owner=owner.pk, key=of.pk, previous="", input=[words], response={})

    for n in range(8):
        store(n, alice, key, "a" * 4_000)
    for n in range(8, 11):
        store(n, bob, other, "b" * 100)
    purging.purge_kept([])
    left = set(StoredResponse.objects.values_list("secret", flat=True))
    assert left == {f"{n:026}" for n in (6, 7, 8, 9, 10)}
    # Very many small ones count too.
    for n in range(11, 25):
        store(n, bob, other, "b")
    monkeypatch.setattr(purging, "TRIMMED_EACH_SIGNS", 1)
    purging.trim_grown()
    assert StoredResponse.objects.filter(owner=bob).count() == 10
