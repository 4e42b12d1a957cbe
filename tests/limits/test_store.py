"""Daily limits: whose they are, what counts, and a refusal in words that leaves nothing behind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from threading import Barrier
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import store
from chatapp.accounts.models import SignedUp
from chatapp.accounts.store import accounts
from chatapp.catalog.models import KnownModel, ModelProvider
from chatapp.insight.models import PersonDay
from chatapp.limits import store as limits
from chatapp.limits.models import DailyLimit
from chatapp.providers.base import Endpoint
from chatapp.reviews.store.reviewers import REVIEWERS
from chatapp.store import AskedFor, Measured, Refused, deleting
from chatapp.store.models import Conversation, Message
from tests.support.make import text
from tests.support.patience import PATIENCE
from tests.support.threads import InThread

pytestmark = [pytest.mark.both, pytest.mark.django_db]

Who = DailyLimit.Who
DEMO = AskedFor(model="demo:thinker")
KEYED = (Endpoint(name="openai", dialect="responses", key="sk-canary", label="OpenAI"),)
NOON = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def nobody_is_limited(db):
    DailyLimit.objects.all().delete()


def limit(who=Who.EVERYBODY, **most) -> DailyLimit:
    return DailyLimit.objects.create(who=who, **most)


def ask(person, words="Why?", **asked) -> store.Started:
    return store.open_conversation(person, words, tools=[], asked=AskedFor(model="demo:thinker", **asked))


def answered(person, *, usage=None) -> store.Started:
    started = ask(person)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    facts = {"round": 0, "model": "demo:thinker", "usage": usage or {}}
    store.finish(claim, [text()], Measured(round=facts))
    return started


def used_up(person, now=None) -> bool:
    with transaction.atomic():
        try:
            limits.refuse_beyond(person, now)
        except Refused:
            return True
    return False


def counts() -> tuple[int, int]:
    return Conversation.objects.count(), Message.objects.count()


def test_without_a_limit_one_query_is_asked_and_nothing_is_refused(alice):
    with (
        transaction.atomic(),
        CaptureQueriesContext(
            connection,
        ) as asked,
    ):
        limits.refuse_beyond(alice)
    assert len(asked) == 1


def test_the_turn_after_the_last_is_refused_in_words_and_nothing_is_left_of_it(alice, bob):
    limit(turns=2)
    answered(alice)
    ask(alice)
    before = counts()
    with pytest.raises(Refused) as refusal:
        ask(alice)
    assert "You have used your 2 turns of today. You can ask again in " in str(refusal.value)
    assert "(0:00 UTC)" in str(refusal.value)
    assert counts() == before
    ask(bob)


def test_every_way_to_begin_a_turn_is_refused(alice):
    started = answered(alice)
    stopped = ask(alice)
    store.stop(stopped.answer, None)
    limit(turns=2)
    before = counts()
    ways = [
        lambda: ask(alice),
        lambda: store.start_turn(
            started.conversation, "And?", parent=started.answer, author=alice, asked=DEMO
        ),
        lambda: store.start_answer(started.question, author=alice, asked=DEMO),
        lambda: store.requeue(stopped.answer),
    ]
    for way in ways:
        with pytest.raises(Refused, match="2 turns of today"):
            way()
    assert counts() == before
    assert Message.objects.get(pk=stopped.answer).status == "stopped"


def test_the_next_day_is_free_again(alice):
    limit(turns=1)
    answered(alice)
    day = limits.day_of(timezone.now())
    night = datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC)
    assert used_up(alice, night)
    assert not used_up(alice, night + timedelta(seconds=1))


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (NOON, "12 h"),
        (NOON + timedelta(hours=11, minutes=30), "30 min"),
        (NOON + timedelta(hours=11, minutes=59, seconds=30), "a minute"),
        (NOON + timedelta(minutes=1, seconds=30), "11 h 59 min"),
        (NOON + timedelta(hours=12), "24 h"),
    ],
)
def test_how_long_it_takes_is_said(moment, said):
    assert limits.free_again(moment) == said


def test_tokens_and_cost_are_limited_by_what_was_used(alice):
    KnownModel.objects.create(name="demo:thinker", input_price=Decimal(2), output_price=Decimal(10))
    row = limit(tokens=1001)
    answered(alice, usage={"input": 900, "output": 100})
    ask(alice)
    row.tokens = 1000
    row.save()
    with pytest.raises(Refused, match=r"You have used your 1,000 tokens of today \(1,000\)\."):
        ask(alice)
    row.tokens, row.cost = None, Decimal("0.01")
    row.save()
    ask(alice)
    answered(alice, usage={"input": 3700, "output": 0})
    with pytest.raises(Refused, match=r"You have used your \$ 0\.01 of today \(\$ 0\.01\)\."):
        ask(alice)


def test_what_a_turn_has_used_so_far_counts_before_it_ends(alice):
    limit(tokens=100)
    started = ask(alice)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    assert not used_up(alice)
    facts = {"round": 0, "model": "demo:thinker", "usage": {"input": 90, "output": 10}}
    store.append_round(claim, [text()], Measured(round=facts))
    assert used_up(alice)


def test_a_turn_that_waits_since_yesterday_is_none_of_today(alice):
    limit(turns=1)
    started = ask(alice)
    assert used_up(alice)
    yesterday = timezone.now() - timedelta(days=1)
    Message.objects.filter(pk=started.answer).update(status="waiting", touched_at=yesterday)
    assert not used_up(alice)


def test_a_form_that_was_sent_before_gives_what_it_gave_also_at_the_limit(alice):
    limit(turns=1)
    key = uuid4()
    first = ask(alice, submission=key)
    with pytest.raises(store.SentAlready) as sent:
        ask(alice, submission=key)
    assert sent.value.started == first
    with pytest.raises(Refused):
        ask(alice, submission=uuid4())


def test_deleting_gives_nothing_back(alice):
    limit(turns=2)
    ended, live = answered(alice), ask(alice)
    for started in (ended, live):
        deleting.delete_conversation(started.conversation)
        assert used_up(alice)
    store.stop(live.answer, None)
    deleting.purge(timedelta(days=-1))
    assert not Message.objects.exists() and used_up(alice)


@pytest.mark.django_db(transaction=True)
def test_of_twenty_at_once_as_many_come_through_as_are_left(alice, bob):
    limit(turns=5)
    line = Barrier(20)

    def one() -> None:
        line.wait(PATIENCE)
        ask(alice)

    racers = [InThread(one) for _ in range(20)]
    assert all(racer.finished(PATIENCE) for racer in racers)
    assert all(isinstance(racer.problem, Refused | None) for racer in racers)
    assert sum(racer.problem is None for racer in racers) == 5
    assert counts() == (5, 10)
    ask(bob)


def test_what_says_most_about_somebody_counts(alice, bob, charlie, dana):
    bob.groups.add(Group.objects.create(name=REVIEWERS))
    for person in (bob, charlie, dana):
        SignedUp.objects.create(user=person)
    for n, who in enumerate((Who.EVERYBODY, Who.STRANGERS, Who.REVIEWERS, Who.ADMINISTRATORS), 1):
        limit(who, turns=n)
    found = [limits.load_limit(person).turns for person in (alice, charlie, bob, dana)]
    assert found == [1, 2, 3, 4]
    limit(Who.PERSON, user=charlie)
    assert limits.load_limit(charlie) is None, "theirs is empty: they may use what they like"


def test_strangers_are_limited_only_while_a_provider_has_a_key(alice, settings):
    SignedUp.objects.create(user=alice)
    row = limit(Who.STRANGERS, turns=100, tokens=1_000_000, with_key_only=True)
    settings.PROVIDERS = ()
    assert limits.load_limit(alice) is None
    settings.PROVIDERS = KEYED
    assert limits.load_limit(alice) == row


def test_a_provider_that_staff_added_has_a_key_too(alice, settings):
    SignedUp.objects.create(user=alice)
    row = limit(Who.STRANGERS, turns=100, with_key_only=True)
    settings.PROVIDERS = ()
    added = ModelProvider.objects.create(name="keyless", base_url="https://models.example.org/v1")
    assert limits.load_limit(alice) is None
    ModelProvider.objects.filter(pk=added.pk).update(key_variable="MODELS_API_KEY")
    assert limits.load_limit(alice) == row
    ModelProvider.objects.filter(pk=added.pk).update(is_on=False)
    assert limits.load_limit(alice) is None


def test_whoever_signs_up_is_a_stranger_and_the_first_account_is_none():
    limit(Who.STRANGERS, turns=1)
    people = [User(username=name, password="x") for name in ("first", "second")]
    for person in people:
        accounts.start_account(person, by_owner=True)
    assert [limits.load_limit(person) is not None for person in people] == [False, True]


def test_what_is_used_is_said_in_words(alice):
    row = limit(turns=1, tokens=5000, cost=Decimal("2.5"))
    PersonDay.objects.create(
        day=limits.day_of(timezone.now()),
        model="a:b",
        user=alice,
        turns=1,
        input=1000,
        output=234,
        cost=1_250_000,
    )
    said = list(limits.used_in_words(row, limits.load_used(alice, timezone.now())))
    assert said == ["1 of 1 turn", "1,234 of 5,000 tokens", "$ 1.25 of $ 2.50"]


@pytest.mark.parametrize(
    "wrong", [{"who": Who.PERSON}, {"who": Who.EVERYBODY, "user": True}, {"who": Who.STRANGERS}]
)
def test_a_limit_says_whose_it_is_and_each_kind_has_one(alice, wrong):
    limit(Who.STRANGERS)
    if "user" in wrong:
        wrong = wrong | {"user": alice}
    with pytest.raises(IntegrityError), transaction.atomic():
        DailyLimit.objects.create(**wrong)


@pytest.mark.parametrize("most", [{"turns": 0}, {"tokens": 0}, {"cost": Decimal(0)}])
def test_a_limit_of_nothing_says_whom_to_ask_and_no_hour(alice, most):
    limit(**most)
    with pytest.raises(Refused) as refusal:
        ask(alice)
    assert str(refusal.value) == limits.NOTHING_ALLOWED
