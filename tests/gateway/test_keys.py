"""Keys: shown once, kept as a digest, found by their secret alone, and dead at once when they are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp.accounts.models import SignedUp
from chatapp.accounts.store.leaving import leave
from chatapp.gateway.models import ApiKey, KeyDay, KeyRequest, KeyRule, Who
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.gateway.store.requests import begin_request
from chatapp.gateway.store.who import may_have_keys
from chatapp.insight.store.sums import day_of
from chatapp.limits.models import DailyLimit
from chatapp.reviews.store.reviewers import REVIEWERS
from chatapp.store import Refused

pytestmark = [pytest.mark.both, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def nobody_is_limited(db):
    DailyLimit.objects.all().delete()


def made(owner: User, name: str = "Editor", **said: Any) -> tuple[ApiKey, str]:
    return keys.create_key(owner, KeyChoices(name=name, **said))


def is_found(secret: str) -> bool:
    return keys.find_key(secret) is not None


def test_a_key_is_256_random_bits_and_only_its_digest_is_kept(alice):
    (row, secret), (_, another) = made(alice), made(alice)
    assert secret.startswith("tl_") and len(secret) == 46 and secret != another
    assert row.begins_with == secret[:7]
    kept = " ".join(str(value) for value in ApiKey.objects.filter(pk=row.pk).values_list().get())
    assert secret not in kept and secret[7:] not in kept
    assert row.digest == keys.digest_of(secret)


def test_it_is_found_by_its_secret_in_one_statement_with_whose_it_is(alice):
    row, secret = made(alice, models=["openai:gpt-5"], names={"sonnet": "openai:gpt-5"}, turns=5)
    keys.find_key(secret)
    with CaptureQueriesContext(connection) as asked:
        found = keys.find_key(secret)
        assert found is not None
        assert (found.pk, found.owner, found.owner.get_username()) == (row.pk, alice, "alice")
        assert (found.models, found.names) == (["openai:gpt-5"], {"sonnet": "openai:gpt-5"})
        assert (found.turns, found.tokens, found.owner.is_staff) == (5, None, False)
    assert len(asked) == 1


@pytest.mark.parametrize(
    "wrong", ["", "tl_", "Bearer", "tl_" + "x" * 43, "tl_" + "é" * 43, "tl_" + "\x00" * 43, "x" * 10_000]
)
def test_nothing_else_is_a_key(alice, wrong):
    made(alice)
    assert not is_found(wrong)


def test_another_letter_is_another_key(alice):
    _, secret = made(alice)
    assert is_found(secret) and not is_found(secret[:-1] + ("a" if secret[-1] != "a" else "b"))


def test_what_was_revoked_opens_nothing_from_then_on_and_stays_revoked(alice, bob):
    row, secret = made(alice)
    assert not keys.revoke_key(bob, row.pk)
    assert is_found(secret) and keys.valid_keys([row.pk]) == {row.pk}
    assert keys.revoke_key(alice, row.pk)
    assert not is_found(secret) and keys.valid_keys([row.pk]) == set()
    when = ApiKey.objects.get(pk=row.pk).revoked_at
    assert not keys.revoke_key(alice, row.pk)
    assert ApiKey.objects.get(pk=row.pk).revoked_at == when


def test_of_however_many_keys_those_are_told_that_open_something(alice):
    made = [keys.create_key(alice, KeyChoices(name="Editor"))[0].pk for _ in range(2 * keys.TOGETHER + 3)]
    gone = made[:: keys.TOGETHER]
    keys.revoke_any(gone)
    assert keys.valid_keys(made) == {*made} - {*gone}
    assert keys.valid_keys(gone) == keys.valid_keys([]) == set()


def test_after_its_last_day_it_opens_nothing(alice):
    row, secret = made(alice, expires_at=timezone.now() + timedelta(hours=1))
    assert is_found(secret)
    ApiKey.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    assert not is_found(secret) and not keys.valid_keys([row.pk])


def test_the_key_of_somebody_deactivated_is_dead_at_once(alice):
    row, secret = made(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert not is_found(secret) and not keys.valid_keys([row.pk])


def test_leaving_erases_keys_with_all_that_was_used(alice, bob):
    row, _ = made(alice)
    his, secret = made(bob)
    begin_request(row, model="demo:thinker", estimate=1, runner="here")
    KeyDay.objects.create(key=row, day=day_of(timezone.now()), turns=1)
    leave(alice)
    assert list(ApiKey.objects.all()) == [his] and is_found(secret)
    assert not KeyDay.objects.exists() and not KeyRequest.objects.exists()


def test_signing_out_leaves_keys_alone(client, alice):
    _, secret = made(alice)
    client.force_login(alice)
    client.post("/accounts/logout/")
    assert is_found(secret)


def test_only_administrators_make_keys_that_manage_and_only_while_they_are_some(alice, dana):
    with pytest.raises(Refused, match="Only administrators"):
        made(alice, is_management=True)
    _, secret = made(dana, is_management=True)
    found = keys.find_key(secret)
    assert found and keys.manages(found)
    User.objects.filter(pk=dana.pk).update(is_staff=False)
    found = keys.find_key(secret)
    assert found and not keys.manages(found)


def test_a_person_has_a_hundred_keys_and_no_more(alice, bob):
    ApiKey.objects.bulk_create(
        ApiKey(owner=alice, name=str(n), digest=str(n), begins_with="tl_0000") for n in range(100)
    )
    with pytest.raises(Refused, match="100 keys already"):
        made(alice)
    made(bob)
    keys.revoke_key(alice, ApiKey.objects.filter(owner=alice)[0].pk)
    made(alice)


def test_a_form_that_is_sent_twice_makes_one_key(alice):
    row, _ = made(alice)
    with pytest.raises(Refused, match="made already"):
        keys.create_key(alice, KeyChoices(name="Again"), row.pk)
    assert ApiKey.objects.count() == 1


def test_keys_are_listed_with_what_was_used_today_in_three_statements(alice, bob):
    first, second = made(alice, "First")[0], made(alice, "Second")[0]
    made(bob)
    keys.revoke_key(alice, made(alice, "Gone")[0].pk)
    today = day_of(timezone.now())
    KeyDay.objects.create(key=first, day=today, turns=3, input=100, output=20, cost=5)
    KeyDay.objects.create(key=second, day=today - timedelta(days=1), turns=9)
    begin_request(second, model="demo:thinker", estimate=1, runner="here")
    with CaptureQueriesContext(connection) as asked:
        found = keys.load_keys(alice)
    assert len(asked) == 3
    assert [(it.row.name, it.used.turns, it.used.tokens, it.running) for it in found] == [
        ("Second", 0, 0, 1),
        ("First", 3, 120, 0),
    ]
    assert [row.name for row in keys.load_revoked(alice)] == ["Gone"]


def rule(who: Who, may: bool, user: User | None = None) -> None:
    KeyRule.objects.create(who=who, may_have_keys=may, user=user)


def test_everybody_may_have_keys_until_staff_say_otherwise(alice):
    assert may_have_keys(alice)
    _, secret = made(alice)
    rule(Who.EVERYBODY, False)
    assert not may_have_keys(alice) and not is_found(secret)
    with pytest.raises(Refused, match="You may not have keys here"):
        made(alice)


def test_the_rule_that_says_most_about_somebody_counts(alice, bob, charlie, dana):
    bob.groups.add(Group.objects.create(name=REVIEWERS))
    for person in (bob, charlie, dana):
        SignedUp.objects.create(user=person)
    secrets = [made(person)[1] for person in (alice, bob, charlie, dana)]

    def opened() -> list[bool]:
        found = [is_found(secret) for secret in secrets]
        assert found == [may_have_keys(person) for person in (alice, bob, charlie, dana)]
        return found

    rule(Who.STRANGERS, False)
    assert opened() == [True, False, False, True]
    rule(Who.REVIEWERS, True)
    assert opened() == [True, True, False, True]
    rule(Who.ADMINISTRATORS, False)
    assert opened() == [True, True, False, False]
    rule(Who.PERSON, True, charlie)
    assert opened() == [True, True, True, False]
    rule(Who.EVERYBODY, False)
    assert opened() == [False, True, True, False]


def test_a_rule_says_whose_it_is_and_each_kind_has_one(alice):
    rule(Who.EVERYBODY, False)
    for who, user in ((Who.EVERYBODY, None), (Who.PERSON, None), (Who.STRANGERS, alice)):
        with pytest.raises(IntegrityError), transaction.atomic():
            rule(who, True, user)
