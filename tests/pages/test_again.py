"""The doors of administrators ask for the password again after an hour."""

from __future__ import annotations

import re
import time

import pytest
from django.test import Client

from chatapp.accounts.views.accounts import PASSWORD as TRIES
from chatapp.catalog.models import ModelProvider
from chatapp.pages.staff.password_given import GIVEN_AT, HOLDS_SECONDS
from tests.accounts.test_signing_in import AWAY
from tests.conftest import PASSWORD
from tests.support.addresses import Whose, those
from tests.support.page import Page, attribute

pytestmark = pytest.mark.django_db

DOORS = [
    *(
        "/admin/",
        "/admin/auth/user/",
        "/admin/auth/user/add/",
        "/admin/chatapp/conversation/",
        "/admin/no/such/",
    ),
    *("/admin/jsi18n/", "/admin/password_change/", "/insight/?days=7", "/insight/models.csv"),
]
ASKED = "/accounts/again/?next="
ADD = "/admin/chatapp/modelprovider/add/"
PROVIDER = {
    "name": "acme",
    "dialect": "chat",
    "base_url": "https://api.example.org/v1",
    "label": '<Ac"me>\r\n',
}


def signed_in(person, seconds_ago=0.0):
    client = Client()
    client.force_login(person)
    later(client, seconds_ago)
    return client


def later(client, seconds):
    session = client.session
    session[GIVEN_AT] -= seconds
    session.save()


@pytest.fixture
def her(dana):
    """An administrator who gave her password more than an hour ago."""
    return signed_in(dana, HOLDS_SECONDS + 1)


@pytest.mark.parametrize("path", DOORS)
def test_after_an_hour_every_door_asks_and_leads_back_to_where_one_was_going(dana, path):
    her = signed_in(dana, HOLDS_SECONDS - 60)
    before = her.get(path)
    assert not before.headers.get("location", "").startswith(ASKED)
    later(her, 120)
    asked = her.get(path)
    assert asked.status_code == 302 and asked["Location"].startswith(ASKED)
    page = her.get(asked["Location"])
    assert page.status_code == 200 and "Your password again" in page.text
    back = her.post(asked["Location"], {"again-password": PASSWORD})
    assert (back.status_code, back["Location"]) == (302, path)
    assert her.get(path).status_code == before.status_code


def test_every_address_of_staff_is_behind_it(her):
    for path in those(Whose.STAFFS):
        assert her.get(re.sub("<slug:[a-z]+>", "models", path))["Location"].startswith(ASKED)


def test_signing_in_counts_and_so_does_changing_the_password(her, dana):
    new = "quite another password"
    her.post("/accounts/password/", {"old_password": PASSWORD, "new_password1": new, "new_password2": new})
    assert her.get("/admin/").status_code == 200
    fresh = Client()
    fresh.post("/accounts/login/", {"username": "dana", "password": new})
    assert fresh.get("/admin/").status_code == 200


@pytest.mark.parametrize("given", [None, -HOLDS_SECONDS])
def test_a_session_that_does_not_know_when_is_asked(dana, given):
    her = signed_in(dana)
    session = her.session
    session.pop(GIVEN_AT) if given is None else session.update({GIVEN_AT: time.time() - given})
    session.save()
    assert her.get("/admin/")["Location"].startswith(ASKED)


def test_nothing_else_asks_for_it(her, bob):
    for path in ("/", "/settings/", "/models/", "/shares/", "/review/", "/accounts/password/"):
        assert her.get(path).status_code == 200
    assert signed_in(bob, HOLDS_SECONDS + 1).get("/admin/").status_code == 404
    assert Client().get("/admin/")["Location"].startswith("/accounts/login/")


def test_a_form_that_is_sent_too_late_is_kept_asked_for_and_then_done(dana):
    her = signed_in(dana)
    her.get(ADD)
    later(her, HOLDS_SECONDS + 1)
    asked = her.post(ADD, PROVIDER)
    assert asked.status_code == 403 and "is kept" in asked.text
    assert not ModelProvider.objects.exists()
    for wrong in ("", "wrong"):
        asked = her.post(ADD, PROVIDER | {"again-password": wrong})
        assert asked.status_code == 400 and 'id="id_again-password_error"' in asked.text
    assert not ModelProvider.objects.exists()
    fields = {
        attribute(each, "name"): attribute(each, "value") for each in Page(asked).all("input", type="hidden")
    }
    assert {name: fields[name] for name in PROVIDER} == PROVIDER
    assert "wrong" not in asked.text
    fields.pop("csrfmiddlewaretoken", None)
    assert her.post(ADD, fields | {"again-password": PASSWORD}).status_code == 302
    assert ModelProvider.objects.get().label == '<Ac"me>'
    assert her.get("/admin/").status_code == 200


def test_the_password_in_a_form_opens_nothing_to_those_who_are_no_staff(bob):
    he = signed_in(bob, HOLDS_SECONDS + 1)
    assert he.post(ADD, PROVIDER | {"again-password": PASSWORD}).status_code == 404
    assert not ModelProvider.objects.exists()


def test_a_form_from_elsewhere_does_not_get_through(dana):
    her = Client(enforce_csrf_checks=True)
    her.force_login(dana)
    later(her, HOLDS_SECONDS + 1)
    assert her.post(ADD, PROVIDER | {"again-password": PASSWORD}).status_code == 403
    assert her.get("/admin/")["Location"].startswith(ASKED)


@pytest.mark.parametrize("wanted", [*AWAY, "/admin/", "/health/live"])
def test_one_stays_on_our_host(her, wanted):
    back = her.post("/accounts/again/", {"again-password": PASSWORD}, query_params={"next": wanted})
    assert back["Location"] == ("/" if wanted in AWAY else wanted)


def test_tries_are_counted_together_with_those_of_the_other_pages(her, dana):
    for number in range(TRIES.times):
        form = {"again-password": "wrong"}
        wrong = her.post(ADD, PROVIDER | form) if number % 2 else her.post("/accounts/again/", form)
        assert wrong.status_code == 400
    right = {"again-password": PASSWORD}
    refused = her.post(ADD, PROVIDER | right)
    assert refused.status_code == 429 and "Too many tries" in refused.text
    assert 'name="base_url"' in refused.text, "what was typed is still kept"
    assert her.post("/accounts/again/", right).status_code == 429
    assert not ModelProvider.objects.exists()


def test_browsers_know_whose_password_it_is(her):
    text = her.get("/accounts/again/?next=/admin/").text
    assert re.findall(r'autocomplete="([\w-]+)"', text) == ["username", "current-password"]
    assert "You are signed in as dana" in text
