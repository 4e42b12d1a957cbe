"""Administrators say who may have keys, see which there are, and revoke them; what a key opens they never see."""

from __future__ import annotations

import pytest

from chatapp.gateway.models import ApiKey, KeyRule
from chatapp.gateway.store import keys
from chatapp.gateway.store.keys import KeyChoices
from chatapp.gateway.store.who import may_have_keys

pytestmark = pytest.mark.django_db

LIST, RULES = "/admin/chatapp/apikey/", "/admin/chatapp/keyrule/"


@pytest.fixture
def hers(client, dana):
    client.force_login(dana)
    return client


def test_keys_of_everybody_are_listed_without_what_opens_anything(hers, alice):
    row, secret = keys.create_key(alice, KeyChoices(name="Editor\u202e", is_recorded=True))
    page = hers.get(LIST)
    assert (
        "Editor⟨U+202E⟩ (recorded)" in page.text
        and "alice" in page.text
        and f"{row.begins_with}…" in page.text
    )
    assert secret not in page.text and row.digest not in page.text and row.digest[:12] not in page.text
    for address in (f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/", f"{LIST}add/"):
        assert hers.get(address).status_code == 404


def test_they_revoke_keys_of_others(hers, alice):
    row, secret = keys.create_key(alice, KeyChoices(name="Editor"))
    other = keys.create_key(alice, KeyChoices(name="Other"))[1]
    done = hers.post(LIST, {"action": "revoke", "_selected_action": str(row.pk), "index": "0"}, follow=True)
    assert "1 key revoked." in done.text
    assert keys.find_key(secret) is None and keys.find_key(other)
    assert "Other" not in hers.get(LIST, {"state": "revoked"}).text
    assert "Editor" not in hers.get(LIST, {"state": "open"}).text


def test_they_say_by_role_who_may_have_keys(hers, alice, bob, dana):
    form = {"who": "everybody", "person": ""}
    assert hers.post(f"{RULES}add/", form).status_code == 302
    assert not may_have_keys(alice) and not may_have_keys(dana)
    assert hers.post(f"{RULES}add/", {"who": "administrators", "may_have_keys": "on"}).status_code == 302
    assert (
        hers.post(f"{RULES}add/", {"who": "person", "person": "bob", "may_have_keys": "on"}).status_code
        == 302
    )
    assert may_have_keys(dana) and may_have_keys(bob) and not may_have_keys(alice)
    page = hers.get(RULES).text
    assert "Everybody" in page and "bob" in page and "Administrators" in page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"who": "person", "person": "nobody"}, "Nobody here has this name."),
        ({"who": "person", "person": ""}, "Whom is it for?"),
        ({"who": "strangers", "person": "bob"}, "A name is only for a rule for one person."),
        ({"who": "everybody", "person": ""}, "There is a rule for them already: change that one."),
    ],
)
def test_a_rule_that_cannot_be_is_refused_in_words(hers, bob, wrong, said):
    KeyRule.objects.create(who="everybody")
    page = hers.post(f"{RULES}add/", wrong)
    assert page.status_code == 200 and said in page.text and KeyRule.objects.count() == 1


def test_others_find_nothing_there(client, alice):
    client.force_login(alice)
    for address in (LIST, RULES):
        assert client.get(address).status_code == client.post(address).status_code == 404
    assert not ApiKey.objects.exists()
