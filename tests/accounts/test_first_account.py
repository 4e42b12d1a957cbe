"""The first account belongs to whoever runs the server, wherever a stranger may come from."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from chatapp.accounts.store import accounts, first_account
from chatapp.accounts.views.accounts import CODE
from chatapp.catalog.models import Installation
from chatapp.store.models import Conversation
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

SIGN_UP = {"username": "alice", "password1": PASSWORD, "password2": PASSWORD}
HERE = {"host": "localhost:8000"}


def come(form=SIGN_UP, *, peer="127.0.0.1", client=None, **headers):
    """What a first sign-up comes to."""
    return (client or Client()).post("/accounts/signup/", form, headers=HERE | headers, REMOTE_ADDR=peer)


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("127.0.0.1", "localhost"),
        ("127.0.0.1", "localhost:8000"),
        ("127.0.0.1", "127.0.0.1:8000"),
        ("127.8.9.1", "127.0.0.1"),
        ("::1", "[::1]:8000"),
        ("::ffff:127.0.0.1", "localhost:8000"),
    ],
)
def test_at_the_machine_of_the_server_no_code_is_needed(settings, peer, host):
    settings.ALLOWED_HOSTS = ["*"]
    page = Client().get("/accounts/signup/", headers={"host": host}, REMOTE_ADDR=peer)
    assert "id_code" not in page.text and "becomes the administrator" in page.text
    assert come(peer=peer, host=host).status_code == 302
    assert User.objects.get().is_superuser


FORWARDED = (
    *("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Anything"),
    *("Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP", "CF-Ray", "True-Client-IP", "X-Client-IP"),
    *("X-Original-URL", "X_Forwarded_For", "x_real_ip", "X-Envoy-External-Address"),
)
STRANGERS = [
    *(
        {"peer": peer}
        for peer in (
            "192.0.2.1",
            "10.0.0.1",
            "2001:db8::1",
            "",
            "unix:",
            "127.0.0.1.evil",
            "::ffff:192.0.2.1",
        )
    ),
    *(
        {"host": host}
        for host in (
            "chat.example.org",
            "192.0.2.1:8000",
            "localhost.example.org",
            "0.0.0.0:8000",
        )
    ),
    *({name: "" if name == "Via" else "127.0.0.1"} for name in FORWARDED),
]


@pytest.mark.parametrize("sign", STRANGERS, ids=str)
def test_whoever_may_come_from_elsewhere_is_asked_for_the_code(settings, sign):
    settings.ALLOWED_HOSTS = ["*"]
    code = first_account.load_code()
    answer = come(**sign)
    assert answer.status_code == 400 and 'id="id_code_error"' in answer.text
    assert code not in answer.text
    assert not User.objects.exists()
    assert come(SIGN_UP | {"code": code}, **sign).status_code == 302
    assert User.objects.get().is_superuser


def test_where_a_public_address_is_set_everybody_may_come_through_its_proxy(settings):
    settings.PUBLIC_URL = "http://localhost:8000"
    assert come().status_code == 400
    assert not User.objects.exists()


def test_a_proxy_that_says_nothing_of_itself_speaks_an_old_protocol(rf):
    from chatapp.pages.visitors import is_of_this_machine

    request = rf.get("/", headers=HERE)
    for version, here in (("1.1", True), ("2", True), ("1.0", False)):
        request.scope = {"http_version": version}
        assert is_of_this_machine(request) is here


@pytest.mark.both
def test_the_code_is_one_per_database_and_gone_with_the_first_account():
    code = first_account.load_code()
    assert re.fullmatch(r"([2-9A-HJ-NP-Z]{5}-){3}[2-9A-HJ-NP-Z]{5}", code)
    assert first_account.load_code() == code
    for spelled in (code, code.lower(), code.replace("-", " "), f" {code.replace('-', '')} "):
        assert first_account.is_code(spelled)
    for wrong in ("", "-", code[:-1], f"{code}A", "A" * 23, "é", "\x00"):
        assert not first_account.is_code(wrong)
    accounts.start_account(User(username="alice", password="set"), by_owner=True)
    assert Installation.objects.get().first_code == ""
    assert first_account.load_code() == ""
    assert not first_account.is_code(code) and not first_account.is_code("")


def test_where_no_code_was_ever_made_none_is_right():
    assert not first_account.is_code("")
    assert come(SIGN_UP | {"code": " "}, peer="192.0.2.1").status_code == 400


def test_an_account_made_by_command_ends_the_code_too(monkeypatch):
    first_account.load_code()
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", username="admin", email="", interactive=False)
    assert User.objects.get().is_superuser
    assert first_account.load_code() == "" == Installation.objects.get().first_code


def test_tries_of_the_code_are_counted(client):
    code = first_account.load_code()
    for _ in range(CODE.times):
        assert come(SIGN_UP | {"code": "wrong"}, peer="192.0.2.1").status_code == 400
    assert come(SIGN_UP | {"code": code}, peer="192.0.2.1").status_code == 429
    assert come(SIGN_UP | {"code": code}, peer="192.0.2.2").status_code == 302


def test_after_the_first_account_nobody_is_asked_for_a_code(dana):
    assert come(peer="192.0.2.1", host="testserver").status_code == 302
    assert not User.objects.get(username="alice").is_superuser


def test_where_sign_up_is_closed_its_owner_makes_the_first_account_and_strangers_none(settings):
    settings.SIGNUP_OPEN = False
    assert come(peer="192.0.2.1").status_code == 400
    assert come().status_code == 302
    assert come(SIGN_UP | {"username": "bob"}).status_code == 403
    assert User.objects.get().is_superuser


def test_only_the_owner_goes_on_with_what_was_asked_from_a_terminal():
    asked = Conversation.objects.create(owner=accounts.who_asks_from_a_terminal())
    assert come(peer="192.0.2.1").status_code == 400
    come()
    asked.refresh_from_db()
    assert asked.owner.username == "alice"


@pytest.mark.parametrize("page", ["login", "signup"])
def test_an_empty_server_says_what_to_do(page):
    text = Client().get(f"/accounts/{page}/", headers={"host": "testserver"}).text
    assert "Nobody has an account here yet" in text and "whoever runs this server" in text
    assert ("on its terminal when it starts" in text) == (page == "signup")


def test_an_empty_server_leads_to_its_first_account():
    came = Client().get("/", headers={"host": "testserver"}, follow=True)
    assert [address for address, _ in came.redirect_chain][-1].startswith("/accounts/signup/?next=")
    assert "becomes the administrator" in came.text and "Have one?" not in came.text
    come()
    assert "Welcome back" in Client().get("/accounts/login/?next=/").text


def test_the_first_account_may_be_called_as_its_owner_likes():
    assert come(SIGN_UP | {"username": "admin"}).status_code == 302


def test_an_empty_page_writes_nothing():
    Client().get("/accounts/signup/", headers={"host": "testserver"})
    assert not Installation.objects.exclude(first_code="").exists()
