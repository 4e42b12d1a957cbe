"""Names that are taken for another's, or for somebody who runs the server, are not given."""

from __future__ import annotations

import importlib

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from chatapp.accounts.models import NameOutline
from chatapp.accounts.store import accounts, names
from tests.conftest import PASSWORD

from .test_signing_in import at_once

pytestmark = pytest.mark.django_db


def sign_up(name):
    return Client().post(
        "/accounts/signup/", {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    )


@pytest.mark.both
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("alice", "is taken"),
        ("ALICE", "is taken"),
        ("ａｌｉｃｅ", "is taken"),
        ("allce", names.ALIKE),
        ("a1ice", names.ALIKE),
        ("AIice", names.ALIKE),
        ("a.l.i.c.e", names.ALIKE),
        ("alice_", names.ALIKE),
        ("@alice", names.ALIKE),
        ("álicé", names.ALIKE),
        ("аӏісе", names.ALIKE),
        ("ᎪᏞᏆᏟᎬ", names.ALIKE),
        ("аlice", names.MIXED),
        ("bоb", names.MIXED),
        *((name, names.KEPT) for name in ("admin", "ADMIN", "Admin2", "adm1n", "administrator", "the.admin")),
        *(
            (name, names.KEPT)
            for name in ("Thoughtline", "thoughtline-support", "th0ughtIine", "root", "system", "Support")
        ),
        *((name, names.KEPT) for name in ("s.u.p.p.o.r.t", "support24", "terminal", "moderator", "staff")),
    ],
)
def test_a_name_that_deceives_is_refused_in_words_and_leaves_nothing(dana, alice, name, words):
    response = sign_up(name)
    assert response.status_code == 400
    assert words in response.text
    assert set(User.objects.all()) == {alice, dana}


@pytest.mark.parametrize(
    "name",
    [
        "alicia",
        "bob",
        "badminton",
        "supporter",
        "rooted",
        "мария",
        "ελένη",
        "さくら",
        "佐藤",
        "zoë",
        "eve7",
        "sysop.jones",
    ],
)
def test_other_names_are_given(dana, alice, name):
    assert sign_up(name).status_code == 302


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_many_that_look_alike_at_once_one_gets_the_name(dana):
    alike = ["alice", "aIice", "a1ice", "al.ice", "álice", "аӏісе", "ALLCE", "al_ice"]

    def start(number):
        accounts.start_account(User(username=alike[number], password="set"), by_owner=False)

    came = at_once(8, start)
    assert [type(each) for each in came if each] == [names.LooksTaken] * 7
    assert User.objects.exclude(pk=dana.pk).count() == 1


@pytest.mark.both
def test_a_name_that_was_given_up_is_free_again(dana, alice):
    assert sign_up("a1ice").status_code == 400
    alice.delete()
    assert sign_up("a1ice").status_code == 302


@pytest.mark.both
def test_accounts_that_were_there_before_keep_their_names_and_nobody_else_gets_one_of_them(dana):
    for name in ("alice", "a1ice", "Bob"):
        User.objects.create_user(name)
    before = set(NameOutline.objects.values_list("user__username", "outline"))
    NameOutline.objects.all().delete()
    importlib.import_module("chatapp.migrations.0011_people_let_in").look_at_names(apps, None)
    assert set(NameOutline.objects.values_list("user__username", "outline")) == before
    assert {name for name, outline in before if outline is None} == {"a1ice"}
    for name in ("aIice", "b0b"):
        assert sign_up(name).status_code == 400


@pytest.mark.both
@pytest.mark.parametrize("fields", [None, ["username"]])
def test_a_name_that_was_changed_is_compared_as_it_is_now(dana, alice, fields):
    alice.username = "carol"
    alice.save(update_fields=fields)
    assert sign_up("car0l").status_code == 400
    assert sign_up("a1ice").status_code == 302
