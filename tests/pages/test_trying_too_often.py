"""What may be tried only so often, and who counts as the same visitor."""

from __future__ import annotations

import re
from io import BytesIO
from subprocess import PIPE, Popen

import pytest
from django.core import mail
from django.core.handlers.asgi import ASGIRequest

from chatapp.accounts.forms.accounts import sending
from chatapp.accounts.views import accounts
from chatapp.pages.visitors import visitor_address
from tests.conftest import PASSWORD
from tests.support.patience import PATIENCE
from tests.support.shell import ROOT, Shell

pytestmark = pytest.mark.django_db

HTTPS = "https://chat.example.org"
WRONG = {"username": "alice", "password": "wrong"}
RIGHT = {"username": "alice", "password": PASSWORD}


def sign_in(client, form, here="203.0.113.1"):
    return client.post("/accounts/login/", form, REMOTE_ADDR=here)


def wear_out(client, form=WRONG, here="203.0.113.1"):
    for _ in range(accounts.SIGN_IN.times):
        assert sign_in(client, form, here).status_code == 400


@pytest.mark.parametrize("name", ["alice", "nobody"])
def test_after_too_many_wrong_passwords_one_is_told_when_to_try_again(client, alice, name):
    wear_out(client, WRONG | {"username": name})
    refused = sign_in(client, WRONG | {"username": name})
    assert refused.status_code == 429
    assert "Too many tries. Try again in 15 minutes." in refused.text
    assert 0 < int(refused["Retry-After"]) <= accounts.SIGN_IN.window.total_seconds()


def test_a_refused_form_keeps_the_name_and_not_the_password(client, alice):
    wear_out(client)
    text = sign_in(client, RIGHT).text
    assert 'value="alice"' in text
    assert PASSWORD not in text


def test_the_right_password_is_refused_too_and_signs_nobody_in(client, alice):
    wear_out(client)
    assert sign_in(client, RIGHT).status_code == 429
    assert client.get("/").status_code == 302


@pytest.mark.parametrize("spelled", ["ALICE", " alice ", "ａｌｉｃｅ", "Alice"])
def test_a_name_is_the_same_name_however_it_is_spelled(client, alice, spelled):
    wear_out(client)
    assert sign_in(client, WRONG | {"username": spelled}).status_code == 429


def test_others_and_the_same_person_elsewhere_are_not_kept_out(client, alice, bob):
    wear_out(client)
    assert sign_in(client, RIGHT, here="203.0.113.2").status_code == 302
    client.logout()
    assert sign_in(client, RIGHT | {"username": "bob"}).status_code == 302


def test_a_success_makes_ones_failed_tries_forgotten(client, alice):
    for _ in range(3):
        for _ in range(accounts.SIGN_IN.times - 1):
            sign_in(client, WRONG)
        assert sign_in(client, RIGHT).status_code == 302
        client.logout()


def test_trying_one_password_on_many_names_is_refused_and_successes_between_do_not_help(client, alice):
    for number in range(accounts.SIGN_INS_HERE.times):
        assert sign_in(client, WRONG | {"username": f"name{number}"}).status_code == 400
        if number % 20 == 0:
            assert sign_in(client, RIGHT).status_code == 302
            client.logout()
    assert sign_in(client, RIGHT).status_code == 429


def test_signing_up_is_limited_by_address(client):
    form = {"username": "", "password1": "x", "password2": "y"}
    for _ in range(accounts.SIGN_UP.times):
        client.post("/accounts/signup/", form)
    refused = client.post("/accounts/signup/", form | {"username": "eve"})
    assert refused.status_code == 429
    assert 'value="eve"' in refused.text and "Try again in 60 minutes" in refused.text
    assert client.post("/accounts/signup/", form, REMOTE_ADDR="203.0.113.7").status_code == 400


def test_asking_for_links_is_limited_by_address(client):
    for _ in range(accounts.RESET.times):
        assert client.post("/accounts/reset/", {"email": "a@example.org"}).status_code == 302
    assert client.post("/accounts/reset/", {"email": "b@example.org"}).status_code == 429


def test_nobodys_mailbox_is_filled_and_the_answer_stays_the_same(client, alice):
    alice.email = "alice@example.org"
    alice.save()
    answers = [
        client.post("/accounts/reset/", {"email": "Alice@example.org"}, REMOTE_ADDR=f"203.0.113.{number}")
        for number in range(accounts.RESET_MAIL.times + 3)
    ]
    sending.submit(int).result()
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {
        (302, "/accounts/reset/done/")
    }
    assert len(mail.outbox) == accounts.RESET_MAIL.times


@pytest.mark.parametrize("page", ["password", "email"])
def test_a_stolen_session_cannot_be_used_to_find_the_password(client, alice, page):
    client.force_login(alice)
    form = {"old_password": "no", "password": "no"}
    for number in range(accounts.PASSWORD.times):
        here = f"203.0.113.{number}"
        assert client.post(f"/accounts/{page}/", form, REMOTE_ADDR=here).status_code == 400
    right = {"old_password": PASSWORD, "password": PASSWORD, "email": "eve@example.org"}
    assert client.post(f"/accounts/{page}/", right).status_code == 429
    alice.refresh_from_db()
    assert alice.email == ""


def test_who_got_a_new_password_by_mail_may_use_it_at_once(client, alice):
    alice.email = "alice@example.org"
    alice.save()
    wear_out(client)
    client.post("/accounts/reset/", {"email": "alice@example.org"})
    sending.submit(int).result()
    link = re.search(r"http://testserver(/\S+)", mail.outbox[0].body)[1]
    form = {"new_password1": "a whole new password", "new_password2": "a whole new password"}
    opened = client.get(link)["Location"]
    assert client.post(opened, form, REMOTE_ADDR="203.0.113.1").status_code == 302
    assert sign_in(client, {"username": "alice", "password": "a whole new password"}).status_code == 302


def came_from(*headers, peer="203.0.113.1"):
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "client": (peer, 1234),
    }
    return visitor_address(ASGIRequest(scope, BytesIO()))


FORWARDED = "x-forwarded-for"


@pytest.mark.parametrize("public", ["", "http://chat.example.org"])
def test_without_a_proxy_in_the_settings_nobody_can_choose_an_address(settings, public):
    settings.PUBLIC_URL = public
    assert came_from((FORWARDED, "198.51.100.1")) == "203.0.113.1"


@pytest.mark.parametrize(
    ("headers", "counted"),
    [
        ([(FORWARDED, "198.51.100.1")], "198.51.100.1"),
        ([(FORWARDED, "192.0.2.66, 198.51.100.1")], "198.51.100.1"),
        ([(FORWARDED, "192.0.2.66"), (FORWARDED, "198.51.100.1")], "198.51.100.1"),
        ([(FORWARDED, "198.51.100.1"), ("x_forwarded_for", "192.0.2.66")], "198.51.100.1"),
        ([("x_forwarded_for", "192.0.2.66")], "203.0.113.1"),
        ([("forwarded", "for=192.0.2.66"), ("x-real-ip", "192.0.2.66")], "203.0.113.1"),
        ([(FORWARDED, "unknown")], "203.0.113.1"),
        ([(FORWARDED, "")], "203.0.113.1"),
        ([(FORWARDED, "192.0.2.66,")], "203.0.113.1"),
        ([(FORWARDED, "2001:db8:1:2:3:4:5:6")], "2001:db8:1:2::/64"),
        ([(FORWARDED, "::ffff:198.51.100.1")], "198.51.100.1"),
    ],
)
def test_behind_a_proxy_its_own_word_counts_and_no_other(settings, headers, counted):
    settings.PUBLIC_URL = HTTPS
    assert came_from(*headers) == counted


def test_all_addresses_of_one_network_are_one_visitor():
    assert came_from(peer="2001:db8::1") == came_from(peer="2001:db8::ffff") == "2001:db8::/64"
    assert came_from(peer="2001:db8:0:1::1") != came_from(peer="2001:db8::1")


BURST = """
from datetime import timedelta
from django.utils import timezone
from chatapp.pages.limiting.throttle import Limit, take
limit = Limit("burst", 20, timedelta(hours=12))
input()
print(sum(not take(limit, "alice", timezone.now()) for _ in range(30)))
"""


def test_several_processes_count_together_and_a_new_one_goes_on_from_there(tmp_path):
    shell = Shell(tmp_path)
    assert shell.run("migrate").returncode == 0

    def begun() -> Popen[str]:
        command = shell.command("shell", "-v", "0", "-c", BURST)
        return Popen(command, cwd=ROOT, env=shell.environment, stdin=PIPE, stdout=PIPE, text=True)

    def passed(*processes: Popen[str]) -> int:
        for process in processes:
            print(file=process.stdin, flush=True)
        return sum(int(process.communicate(timeout=PATIENCE)[0]) for process in processes)

    assert passed(begun(), begun()) == 20
    assert passed(begun()) == 0
