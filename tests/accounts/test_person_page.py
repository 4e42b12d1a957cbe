"""What administrators see and do on the page of one person."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from chatapp.gateway.store.keys import KeyChoices, create_key, load_key
from chatapp.insight.models import PersonDay
from chatapp.insight.store.sums import day_of
from chatapp.limits.models import DailyLimit
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

PEOPLE = "/admin/auth/user/"


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def page_of(person):
    return f"{PEOPLE}{person.pk}/change/"


def said(page) -> str:
    """With a blank between what stands apart."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def signed_in(name):
    visitor = Client()
    assert visitor.login(username=name, password=PASSWORD)
    return visitor


def test_use_stands_against_the_limit_that_applies(her, alice):
    PersonDay.objects.create(
        day=day_of(timezone.now()),
        model="a:one",
        user=alice,
        turns=41,
        input=98_000,
        output=400,
        cost=810_000,
    )
    page = said(her.get(page_of(alice)))
    assert "Turns 41" in page and "98,400" in page and "No limit applies." in page
    DailyLimit.objects.create(who="everybody", turns=100, tokens=100_000, cost=Decimal(2))
    page = said(her.get(page_of(alice)))
    for told in ("41 of 100", "98,400 of 100,000", "$ 0.81 of $ 2.00", "limit for “everybody” applies"):
        assert told in page


def test_keys_are_listed_and_revoked_and_belong_to_their_person(her, alice, bob):
    key, secret = create_key(alice, KeyChoices(name="Laptop"))
    page = her.get(page_of(alice))
    assert "Laptop" in said(page) and secret not in page.text and key.digest not in page.text
    assert her.post(f"{PEOPLE}{bob.pk}/keys/revoke/", {"key": key.pk}).status_code == 404
    assert her.post(f"{PEOPLE}{alice.pk}/keys/revoke/", {"key": "nonsense"}).status_code == 404
    assert her.post(f"{PEOPLE}{alice.pk}/keys/revoke/", {"key": key.pk}).headers["location"] == page_of(alice)
    assert load_key(alice, key.pk) is None
    page = said(her.get(page_of(alice)))
    assert "has no keys" in page and "Revoked a key of theirs. by dana" in page


def test_somebody_is_signed_out_everywhere_and_nobody_else_is(her, alice, bob):
    one, two, his = signed_in("alice"), signed_in("alice"), signed_in("bob")
    assert her.post(f"{PEOPLE}{alice.pk}/sign-out/").headers["location"] == page_of(alice)
    assert [each.get("/").status_code for each in (one, two, his)] == [302, 302, 200]
    assert her.get(page_of(alice)).status_code == 200
    assert signed_in("alice").get("/").status_code == 200, "with the password that she has"
    assert LogEntry.objects.get().get_change_message() == "Signed them out everywhere."


def test_what_is_done_is_said_before(her, alice):
    page = said(her.get(page_of(alice)))
    for told in ("alice cannot sign in", "nothing is deleted", "You can revoke a key, but not see it"):
        assert told in page


def test_of_oneself_and_of_whoever_stands_above_nothing_is_offered(her, dana):
    page = her.get(page_of(dana))
    assert "This is you" in said(page) and "/sign-out/" not in page.text
    for what in ("sign-out/", "keys/revoke/"):
        assert her.post(f"{PEOPLE}{dana.pk}/{what}").status_code == 403


def test_nobody_but_staff_does_anything(client, alice, bob):
    client.force_login(bob)
    for what in ("sign-out/", "keys/revoke/", "change/"):
        assert client.post(f"{PEOPLE}{alice.pk}/{what}").status_code == 404
    client.logout()
    assert client.post(f"{PEOPLE}{alice.pk}/sign-out/").status_code == 302
