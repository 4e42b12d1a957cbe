"""Changing a password, and getting a new one by mail."""

from __future__ import annotations

import logging
import re
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.core import mail
from django.test import Client

from chatapp.accounts.forms.accounts import ACCOUNTS_OF_ONE_ADDRESS, sending
from chatapp.accounts.views.accounts import ResetConfirm
from tests.conftest import PASSWORD, _person

pytestmark = pytest.mark.django_db

NEW = "another good password"
CHOSEN = {"new_password1": NEW, "new_password2": NEW}
ADDRESS = "alice@example.org"
OWN = "/accounts/email/"


@pytest.fixture
def alice(db):
    return _person("alice", email=ADDRESS)


def ask(client, email=ADDRESS, **more):
    """The answer, and the mails that were sent before this function returns."""
    answer = client.post("/accounts/reset/", {"email": email}, **more)
    sending.submit(int).result()
    return answer


def link(number=-1, site="http://testserver"):
    found = re.search(rf"^{re.escape(site)}(/accounts/reset/\S+)$", mail.outbox[number].body, re.MULTILINE)
    assert found, mail.outbox[number].body
    return found[1]


def follow(client, path):
    """Where the form of a link is."""
    return client.get(path)["Location"]


def may_sign_in(name, password):
    return Client().post("/accounts/login/", {"username": name, "password": password}).status_code == 302


@pytest.mark.both
def test_a_changed_password_signs_out_every_other_browser_and_not_this_one(client, alice):
    other = Client()
    for browser in (client, other):
        browser.post("/accounts/login/", {"username": "alice", "password": PASSWORD})
    before = client.session.session_key
    done = client.post("/accounts/password/", CHOSEN | {"old_password": PASSWORD}, follow=True)
    assert "Your password is changed" in done.text
    assert client.get(OWN).status_code == 200
    assert client.session.session_key != before
    assert other.get(OWN)["Location"] == f"/accounts/login/?next={OWN}"
    assert may_sign_in("alice", NEW) and not may_sign_in("alice", PASSWORD)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"old_password": "wrong"}, "old_password"),
        ({"new_password2": "another"}, "new_password2"),
        ({"new_password1": "short", "new_password2": "short"}, "new_password2"),
        ({"new_password1": ""}, "new_password1"),
    ],
)
def test_a_password_that_cannot_be_changed_is_told_at_its_field_and_stays(client, alice, changes, field):
    client.force_login(alice)
    refused = client.post("/accounts/password/", CHOSEN | {"old_password": PASSWORD} | changes)
    assert refused.status_code == 400
    assert f'id="id_{field}_error"' in refused.text
    assert may_sign_in("alice", PASSWORD)


@pytest.mark.both
def test_a_link_by_mail_gives_a_new_password_once_and_ends_every_session(client, alice):
    client.force_login(alice)
    visitor = Client()
    assert "Look at your mail" in ask(visitor, follow=True).text
    (sent,) = mail.outbox
    assert sent.to == [ADDRESS] and "account alice" in sent.body
    path = link()
    done = visitor.post(follow(visitor, path), CHOSEN, follow=True)
    assert "Sign in with the new one" in done.text
    assert client.get(OWN).status_code == visitor.get(OWN).status_code == 302
    assert may_sign_in("alice", NEW) and not may_sign_in("alice", PASSWORD)
    again = Client().get(path)
    assert again.status_code == 404 and "This link does not work" in again.text


def test_the_token_is_not_in_the_address_of_the_form_nor_in_the_log(client, alice, caplog):
    ask(client)
    path = link()
    token = path.rstrip("/").rpartition("/")[2]
    caplog.clear()
    with caplog.at_level(logging.DEBUG, logger="chatapp.requests"):
        assert token not in follow(client, path)
        client.get(path.rstrip("/"))
    assert token not in "".join(str(vars(line)) for line in caplog.records)
    assert {line.path for line in caplog.records} == {"/accounts/reset/[secret]/"}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda alice: alice.set_password("changed meanwhile"),
        lambda alice: setattr(alice, "email", "moved@example.org"),
    ],
)
def test_a_link_ends_with_the_password_and_the_address_it_was_made_for(client, alice, spoil):
    ask(client)
    spoil(alice)
    alice.save()
    assert client.get(link()).status_code == 404


def test_a_link_works_for_an_hour(client, alice, settings):
    made = PasswordResetTokenGenerator()
    token = made.make_token(alice)
    later = PasswordResetTokenGenerator()
    for minutes, works in ((59, True), (61, False)):
        later._now = lambda minutes=minutes: datetime.now() + timedelta(minutes=minutes)
        assert later.check_token(alice, token) is works
    assert ResetConfirm.token_generator.__class__ is PasswordResetTokenGenerator


@pytest.mark.parametrize(
    "path",
    [
        "MQ/nonsense",
        "!!/x-y",
        "_____/set-password",
        "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5/a-b",
        "MQ/set-password",
    ],
)
def test_a_link_that_was_never_sent_opens_nothing(client, alice, path):
    for answer in (
        client.get(f"/accounts/reset/{path}/"),
        client.post(f"/accounts/reset/{path}/", CHOSEN),
    ):
        assert answer.status_code == 404
        assert "password" not in re.findall(r'type="(\w+)"', answer.text)
    assert may_sign_in("alice", PASSWORD)


def test_a_weak_new_password_is_told_and_the_link_goes_on_working(client, alice):
    ask(client)
    form = follow(client, link())
    assert client.post(form, {"new_password1": "12345678", "new_password2": "12345678"}).status_code == 400
    assert client.post(form, CHOSEN).status_code == 302


def test_the_answer_does_not_tell_whether_there_is_an_account(client, alice, charlie):
    charlie.email, charlie.is_active = "charlie@example.org", False
    charlie.save()
    answers = [
        ask(client, email, follow=True) for email in (ADDRESS, "nobody@example.org", "charlie@example.org")
    ]
    assert len({(it.status_code, it.request["PATH_INFO"], it.text) for it in answers}) == 1
    assert len(mail.outbox) == 1


def test_nobody_waits_for_the_mail_server_and_its_failure_is_not_told(client, alice, settings, caplog):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with caplog.at_level(logging.ERROR):
        assert ask(client)["Location"] == "/accounts/reset/done/"
    assert "Failed to send" in caplog.text
    assert ADDRESS not in caplog.text


def test_an_account_without_a_password_gets_no_link(client, alice):
    alice.set_unusable_password()
    alice.save()
    ask(client)
    assert mail.outbox == []


def test_of_many_accounts_with_one_address_the_oldest_few_get_a_link(client, alice):
    for number in range(ACCOUNTS_OF_ONE_ADDRESS + 3):
        _person(f"eve{number}", email=ADDRESS.upper())
    ask(client)
    assert len(mail.outbox) == ACCOUNTS_OF_ONE_ADDRESS
    assert "account alice" in mail.outbox[0].body


def test_an_address_that_only_looks_the_same_gets_no_link(client, alice):
    ask(client, "alıce@example.org")
    assert mail.outbox == []


def test_the_link_leads_to_the_public_address_whatever_host_was_asked(client, alice, settings):
    settings.PUBLIC_URL = "https://chat.example.org"
    settings.ALLOWED_HOSTS = ["*"]
    ask(client, headers={"host": "evil.example"})
    assert link(site="https://chat.example.org")
    assert "evil" not in str(mail.outbox[0].message())


def test_without_a_public_address_a_host_that_is_not_ours_gets_no_link(client, alice):
    for headers in ({"host": "evil.example"}, {"host": "testserver@evil.example"}):
        assert ask(client, headers=headers).status_code == 400
    assert mail.outbox == []
    ask(client, headers={"host": "localhost:8000", "x-forwarded-host": "evil.example"})
    assert link(site="http://localhost:8000")


@pytest.mark.parametrize(
    "email",
    ["alice@example.org\nBcc: eve@example.org", "a@b.c\r\nSubject: x", "a\x00@example.org", "no address", ""],
)
def test_what_is_no_address_is_told_and_puts_nothing_into_a_mail(client, alice, email):
    answer = ask(client, email)
    assert answer.status_code == 400
    assert 'id="id_email_error"' in answer.text
    assert mail.outbox == []


def test_names_stand_in_a_mail_as_they_are(client):
    _person("o@b+c.d-e_f", email=ADDRESS)
    ask(client)
    assert "account o@b+c.d-e_f." in mail.outbox[0].body


def test_a_server_without_mail_says_where_the_link_is(client, settings):
    assert "terminal" in client.get("/accounts/reset/done/").text
    settings.EMAIL_HOST = "mail.example.org"
    assert "terminal" not in client.get("/accounts/reset/done/").text


@pytest.mark.both
def test_ones_address_is_set_and_removed_with_ones_password(client, alice):
    client.force_login(alice)
    assert f'value="{ADDRESS}"' in client.get("/accounts/email/").text
    for email, words in (("me@Example.ORG", "me@example.org"), ("", "is removed")):
        done = client.post("/accounts/email/", {"email": email, "password": PASSWORD}, follow=True)
        assert words in done.text
    alice.refresh_from_db()
    assert alice.email == ""


@pytest.mark.parametrize(
    "form",
    [
        {"email": "eve@example.org", "password": "wrong"},
        {"email": "eve@example.org"},
        {"email": "no address", "password": PASSWORD},
        {"email": "a@example.org\nBcc: b@example.org", "password": PASSWORD},
    ],
)
def test_an_address_stays_when_the_form_is_wrong(client, alice, bob, form):
    client.force_login(alice)
    assert client.post("/accounts/email/", form | {"user": bob.pk, "id": bob.pk}).status_code == 400
    for person in (alice, bob):
        person.refresh_from_db()
    assert (alice.email, bob.email) == (ADDRESS, "")
