"""A session and its account are read together, and mean what they mean to Django."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from chatapp.pages import sessions
from chatapp.pages.sessions import SessionStore
from chatapp.pages.signed_in import who_is_signed_in
from tests.conftest import PASSWORD

pytestmark = [pytest.mark.both, pytest.mark.django_db]

PAGE = "/accounts/password/done/"


def signed_in(person: User) -> Client:
    """For whom a page was made already, so that it is known whose session it is."""
    client = Client()
    client.force_login(person)
    assert client.get(PAGE).status_code == 200
    return client


def key_of(client: Client) -> str:
    return client.cookies["sessionid"].value


def test_who_is_signed_in_is_one_statement_from_the_second_page_on(alice, django_assert_num_queries):
    key = key_of(signed_in(alice))
    with django_assert_num_queries(1):
        assert who_is_signed_in(key) == alice


def change_password(person: User) -> None:
    person.set_password("another really long one")
    person.save()


ENDS = {
    "the password is another": change_password,
    "the account is closed": lambda person: User.objects.filter(pk=person.pk).update(is_active=False),
    "the account is gone": lambda person: person.delete(),
    "the session is gone": lambda _: Session.objects.all().delete(),
    "its time is over": lambda _: Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1)),
    "nobody signed what it says": lambda _: Session.objects.update(session_data="e30:forged:signature"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_whoever_is_signed_out_is_signed_out_at_the_next_request(alice, end):
    client = signed_in(alice)
    key = key_of(client)
    end(alice)
    assert not who_is_signed_in(key).is_authenticated
    assert client.get(PAGE).status_code == 302


def test_a_session_of_another_password_is_removed(alice):
    key = key_of(signed_in(alice))
    change_password(alice)
    who_is_signed_in(key)
    assert not Session.objects.filter(session_key=key).exists()


def test_whose_session_it_was_proves_nothing(alice, bob):
    """It belongs to whom the session names, whoever was thought to have it."""
    key = key_of(signed_in(alice))
    SessionStore(key).belongs_to(bob)
    assert who_is_signed_in(key) == alice
    assert Client(headers={"Cookie": f"sessionid={key}"}).get(PAGE).wsgi_request.user == alice


def test_who_signs_in_as_somebody_else_is_somebody_else(alice, bob):
    client = signed_in(alice)
    before = key_of(client)
    client.post("/accounts/logout/")
    client.force_login(bob)
    assert client.get(PAGE).wsgi_request.user == bob
    assert not who_is_signed_in(before).is_authenticated


def test_who_changes_their_password_stays_and_all_others_go(alice):
    here, there = signed_in(alice), signed_in(alice)
    form = {
        "old_password": PASSWORD,
        "new_password1": "one really long one",
        "new_password2": "one really long one",
    }
    assert here.post("/accounts/password/", form).status_code == 302
    assert here.get(PAGE).status_code == 200
    assert there.get(PAGE).status_code == 302


def test_a_session_of_a_secret_that_was_replaced_goes_on_under_the_new_one(alice, settings):
    client = signed_in(alice)
    before = key_of(client)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another secret, which is long enough for this"
    assert client.get(PAGE).status_code == 200
    assert key_of(client) != before
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get(PAGE).status_code == 200


def test_a_session_of_a_backend_that_is_not_asked_any_more_is_nobodys(alice, settings):
    client = signed_in(alice)
    settings.AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.RemoteUserBackend"]
    assert client.get(PAGE).status_code == 302


def test_of_too_many_sessions_it_is_forgotten_whose_they_were(alice, monkeypatch):
    key = key_of(signed_in(alice))
    monkeypatch.setattr(sessions, "MOST_LIKELY", 1)
    assert who_is_signed_in(key) == alice
    signed_in(alice)
    assert len(sessions._LIKELY) == 1
    assert who_is_signed_in(key) == alice
