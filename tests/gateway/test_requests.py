"""Requests of keys: let in within the limits, counted once however they end, and seen by the limits of the chat while they run."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import store
from chatapp.catalog.models import KnownModel
from chatapp.core.events import Usage
from chatapp.gateway.models import ApiKey, KeyDay, KeyRequest
from chatapp.gateway.store import keys
from chatapp.gateway.store import requests as gateway
from chatapp.gateway.store.counting import RequestMeasured
from chatapp.gateway.store.keys import KeyChoices
from chatapp.gateway.store.standing import MOST_OF_KEY, MOST_OF_PERSON, TooMany
from chatapp.insight.models import ModelDay, PersonDay
from chatapp.insight.store.sums import count_anew, day_of
from chatapp.limits.models import DailyLimit
from chatapp.store import AskedFor
from chatapp.store.refusal import BeyondLimit, Refused
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = [pytest.mark.both, pytest.mark.django_db]

MODEL = "demo:thinker"
TOLD = Usage(input=100, cached=60, output=20, reasoning=5)


@pytest.fixture(autouse=True)
def nobody_is_limited(db):
    DailyLimit.objects.all().delete()


def key_of(owner: User, **said: Any) -> ApiKey:
    _, secret = keys.create_key(owner, KeyChoices(name="Editor", **said))
    found = keys.find_key(secret)
    assert found
    return found


def begin(key: ApiKey, estimate: int = 1000, **more: Any) -> UUID:
    return gateway.begin_request(key, model=MODEL, estimate=estimate, runner="here", **more)


def of_day(row: Any) -> tuple[int, ...]:
    return (row.turns, row.input, row.cached, row.output, row.reasoning, row.cost, row.unpriced)


def test_what_was_used_is_counted_for_the_key_the_person_and_the_model_once(alice):
    KnownModel.objects.create(name=MODEL, input_price=Decimal(2), output_price=Decimal(10))
    key = key_of(alice)
    pk = begin(key)
    measured = RequestMeasured({"first_event_ms": 300, "replayed": 2}, {"t0": 1500})
    assert gateway.end_request(pk, TOLD, MODEL, measured=measured)
    assert not gateway.end_request(pk, TOLD, MODEL)
    assert not KeyRequest.objects.exists()
    counted = (1, 100, 60, 20, 5, 400, 0)
    assert of_day(KeyDay.objects.get()) == of_day(PersonDay.objects.get(user=alice)) == counted
    model = ModelDay.objects.get(model=MODEL).counts
    assert (model["turns"], model["answers"], model["ended:complete"]) == (1, 1, 1)
    assert (model["thoughts"], model["thinking_ms"], model["replayed"]) == (1, 1500, 2)
    gateway.end_request(begin(key), TOLD, MODEL)
    assert KeyDay.objects.get().turns == PersonDay.objects.get().turns == 2


@pytest.mark.parametrize(
    ("usage", "input", "output"),
    [
        (None, 1000, 0),
        (Usage(), 1000, 0),
        (Usage(input=300), 300, 700),
        (Usage(input=3000), 3000, 0),
        (Usage(output=50), 1000, 50),
        (Usage(input=0, output=0), 0, 0),
    ],
)
def test_what_was_cut_before_its_usage_was_told_counts_by_estimate(alice, usage, input, output):
    gateway.end_request(begin(key_of(alice)), usage, ended="stopped")
    day = PersonDay.objects.get()
    assert (day.turns, day.input, day.output, day.model) == (1, input, output, MODEL)


def test_figures_that_are_made_anew_have_what_programs_used(alice):
    key = key_of(alice)
    gateway.end_request(begin(key), TOLD)
    gateway.end_request(begin(key), TOLD, "demo:talker")
    before = [(row.model, *of_day(row)) for row in PersonDay.objects.order_by("model")]
    count_anew()
    assert [(row.model, *of_day(row)) for row in PersonDay.objects.order_by("model")] == before
    assert [row.counts["turns"] for row in ModelDay.objects.all()] == [1, 1]
    assert keys.load_keys(alice)[0].used.turns == KeyDay.objects.count() == 2


def test_it_takes_few_statements(alice):
    DailyLimit.objects.create(who="everybody", turns=100)
    secret = keys.create_key(alice, KeyChoices(name="Editor", turns=100))[1]
    sqlite = connection.vendor == "sqlite"

    def once() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as began:
            key = keys.find_key(secret)
            assert key
            pk = begin(key)
        with CaptureQueriesContext(connection) as ended:
            gateway.end_request(pk, TOLD)
        return len(_own(began)), len(_own(ended))

    once()
    # Its key; limits, what stands, turns, what was used, a new row. PostgreSQL is told to hold the person.
    assert once() == (6 if sqlite else 7, 6)
    DailyLimit.objects.all().delete()
    assert once() == (4 if sqlite else 5, 6)
    with CaptureQueriesContext(connection) as asked:
        assert keys.seen_key(secret)
    assert not asked.captured_queries


def _own(asked: Any) -> list[str]:
    marks = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")
    return [one["sql"] for one in asked if not one["sql"].startswith(marks)]


def test_a_request_that_runs_is_a_turn_of_the_persons_day_in_the_chat_too(alice, bob):
    DailyLimit.objects.create(who="everybody", turns=2)
    key = key_of(alice)
    pk = begin(key)
    ask(alice)
    with pytest.raises(BeyondLimit, match=r"You have used your 2 turns of today\. You can ask again in "):
        begin(key)
    with pytest.raises(Refused, match="2 turns of today"):
        ask(alice)
    assert KeyRequest.objects.count() == 1
    begin(key_of(bob))
    gateway.end_request(pk, TOLD)
    with pytest.raises(BeyondLimit):
        begin(key)


def ask(person: User) -> None:
    store.open_conversation(person, "Why?", tools=[], asked=AskedFor(model=MODEL))


def test_what_it_reserved_is_used_until_it_ends_and_then_what_it_took(alice):
    DailyLimit.objects.create(who="everybody", tokens=1000)
    key = key_of(alice)
    pk = begin(key, 1000)
    with pytest.raises(BeyondLimit, match=r"1,000 tokens of today \(1,000\)"):
        begin(key)
    with pytest.raises(Refused, match="1,000 tokens"):
        ask(alice)
    gateway.end_request(pk, TOLD)
    begin(key)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"turns": 1}, r"This key has used its 1 turn of today\. You can ask again in .* \(0:00 UTC\)"),
        ({"tokens": 120}, r"This key has used its 120 tokens of today \(120\)\."),
        ({"cost": Decimal("0.01")}, r"This key has used its \$ 0\.01 of today"),
    ],
)
def test_a_key_has_limits_of_its_own(alice, own, said):
    KnownModel.objects.create(name=MODEL, input_price=Decimal(100), output_price=Decimal(0))
    key, other = key_of(alice, **own), key_of(alice)
    gateway.end_request(begin(key), TOLD)
    with pytest.raises(BeyondLimit, match=said):
        begin(key)
    begin(other)
    KeyDay.objects.update(day=day_of(timezone.now()) - timedelta(days=1))
    begin(key)


def test_what_a_key_has_reserved_counts_for_its_own_limits(alice):
    key = key_of(alice, tokens=1000)
    begin(key, 1000)
    with pytest.raises(BeyondLimit, match="1,000 tokens"):
        begin(key)


def test_what_runs_since_yesterday_is_none_of_today_but_is_one_at_once(alice):
    key = key_of(alice, turns=1)
    begin(key)
    KeyRequest.objects.update(began_at=timezone.now() - timedelta(days=1))
    begin(key)


def test_a_key_and_a_person_have_only_so_many_at_once(alice, bob):
    first, *others = (key_of(alice) for _ in range(4))
    running = [begin(first) for _ in range(MOST_OF_KEY)]
    with pytest.raises(TooMany, match=f"{MOST_OF_KEY} requests of this key are being answered"):
        begin(first)
    for _ in range(MOST_OF_PERSON - MOST_OF_KEY):
        begin(others[0])
    with pytest.raises(TooMany, match=f"{MOST_OF_PERSON} requests of your keys"):
        begin(others[2])
    begin(key_of(bob))
    gateway.end_request(running[0], TOLD)
    begin(others[2])


@pytest.mark.django_db(transaction=True)
def test_of_twenty_at_once_as_many_are_let_in_as_there_is_room(alice):
    DailyLimit.objects.all().delete()
    key, line = key_of(alice), Barrier(20)
    for _ in range(MOST_OF_KEY - 8):
        begin(key)

    def one() -> None:
        line.wait(PATIENCE)
        begin(key)

    racers = [InThread(one) for _ in range(20)]
    assert all(racer.finished(PATIENCE) for racer in racers)
    assert all(isinstance(racer.problem, TooMany | None) for racer in racers)
    assert sum(racer.problem is None for racer in racers) == 8
    assert KeyRequest.objects.count() == MOST_OF_KEY


@pytest.mark.django_db(transaction=True)
def test_of_twenty_at_once_as_many_are_let_in_as_are_left_of_the_day(alice):
    DailyLimit.objects.all().delete()
    DailyLimit.objects.create(who="everybody", turns=5)
    key, line = key_of(alice), Barrier(20)

    def one() -> None:
        line.wait(PATIENCE)
        gateway.end_request(begin(key), TOLD)

    racers = [InThread(one) for _ in range(20)]
    assert all(racer.finished(PATIENCE) for racer in racers)
    assert all(isinstance(racer.problem, Refused | None) for racer in racers)
    assert KeyDay.objects.get().turns == PersonDay.objects.get().turns <= 5


def test_what_a_dead_process_left_counts_by_estimate(alice):
    key = key_of(alice)
    lost = begin(key, 700)
    here = gateway.begin_request(key, model=MODEL, estimate=1, runner="alive")
    assert gateway.end_lost(lambda name: name == "here") == 1
    assert list(KeyRequest.objects.values_list("pk", flat=True)) == [here]
    assert PersonDay.objects.get().input == 700
    assert ModelDay.objects.get().counts["ended:interrupted"] == 1
    assert not gateway.end_request(lost, TOLD)
    assert gateway.end_lost(lambda name: name == "here") == 0


def test_what_nobody_is_at_work_on_any_more_counts_by_estimate(alice):
    key = key_of(alice)
    pk = begin(key, 700)
    KeyRequest.objects.update(seen_at=timezone.now() - timedelta(minutes=4))
    gateway.say_alive("here")
    assert gateway.end_lost(lambda name: False) == 0
    KeyRequest.objects.update(seen_at=timezone.now() - timedelta(minutes=4))
    gateway.say_alive("elsewhere")
    assert gateway.end_lost(lambda name: False) == 1
    assert not gateway.end_request(pk, TOLD)


def test_that_a_key_is_used_is_written_down_once_a_minute(alice):
    key = key_of(alice)
    begin(key, -5, program="Zed" * 100)
    row = ApiKey.objects.get(pk=key.pk)
    assert row.last_used_at and row.last_program == ("Zed" * 100)[:60]
    again = row.last_used_at + timedelta(seconds=-30)
    ApiKey.objects.update(last_used_at=again)
    row.last_used_at, row.owner = again, alice
    begin(row)
    assert ApiKey.objects.get(pk=key.pk).last_used_at == again
    row.last_used_at = again - timedelta(seconds=31)
    begin(row)
    assert ApiKey.objects.get(pk=key.pk).last_used_at != again


def test_whatever_a_program_calls_itself_and_reserves_can_be_kept(alice):
    begin(key_of(alice), 10**30, program="\x00\u202eZed")
    assert ApiKey.objects.get().last_program == "⟨U+0000⟩⟨U+202E⟩Zed"


def test_a_key_that_went_meanwhile_begins_nothing(alice):
    key = key_of(alice)
    keys.revoke_key(alice, key.pk)
    with pytest.raises(Refused):
        begin(key)
    ApiKey.objects.all().delete()
    with pytest.raises(Refused):
        begin(key)
    assert not gateway.end_request(uuid4(), TOLD)
