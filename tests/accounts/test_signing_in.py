"""Signing up, in and out."""

from __future__ import annotations

import re
from threading import Barrier, Thread

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client

from chatapp.accounts.store import accounts
from chatapp.store import Refused
from chatapp.store.models import Conversation
from tests.conftest import PASSWORD

from .hashers import CountingHasher

SIGN_UP = {"username": "alice", "password1": PASSWORD, "password2": PASSWORD}
AWAY = [
    "https://elsewhere.example/",
    "//elsewhere.example",
    "///elsewhere.example",
    "/\\elsewhere.example",
    "javascript:alert(1)",
    "http:///elsewhere.example",
    "https:elsewhere.example",
    "\x00/",
    " //elsewhere.example",
]


@pytest.fixture
def client():
    """A browser on the machine of the server, where whoever runs it makes the first account."""
    return Client(headers={"host": "localhost"})


@pytest.mark.both
@pytest.mark.django_db
def test_the_first_account_becomes_the_administrator_and_the_second_does_not(client):
    for page in ("signup", "login"):
        assert "becomes the administrator" in client.get(f"/accounts/{page}/").text
    assert client.post("/accounts/signup/", SIGN_UP).status_code == 302
    client.post("/accounts/logout/")
    for page in ("signup", "login"):
        assert "becomes the administrator" not in client.get(f"/accounts/{page}/").text
    client.post("/accounts/signup/", SIGN_UP | {"username": "bob"})
    assert [(it.username, it.is_staff, it.is_superuser) for it in User.objects.order_by("pk")] == [
        ("alice", True, True),
        ("bob", False, False),
    ]


@pytest.mark.both
@pytest.mark.django_db
def test_the_first_account_inherits_what_was_asked_from_a_terminal_and_the_second_does_not():
    hidden = accounts.who_asks_from_a_terminal()
    asked = Conversation.objects.create(owner=hidden)
    for name in ("alice", "bob"):
        accounts.start_account(User(username=name, password="set"), by_owner=True)
    asked.refresh_from_db()
    assert asked.owner.username == "alice"
    assert accounts.who_asks_from_a_terminal().username == "alice"


def at_once(count, work):
    """What each of so many threads came to, all begun together."""
    together, came = Barrier(count), []

    def run(number):
        connection.ensure_connection()
        together.wait()
        try:
            came.append(work(number))
        except Exception as error:
            came.append(error)
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("open_to_all", [True, False])
def test_of_many_first_accounts_at_once_exactly_one_is_the_administrator(open_to_all):
    def start(number):
        user = User(username=f"person{'abcdefgh'[number]}", password="set")
        accounts.start_account(user, by_owner=True, open_to_all=open_to_all)

    came = at_once(8, start)
    assert [type(each) for each in came if each] == ([] if open_to_all else [Refused] * 7)
    assert User.objects.count() == (8 if open_to_all else 1)
    assert User.objects.filter(is_superuser=True, is_staff=True).count() == 1


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_strangers_and_the_owner_at_once_the_owner_alone_can_be_the_first():
    def start(number):
        accounts.start_account(
            User(username=f"person{'abcdefgh'[number]}", password="set"), by_owner=number == 3
        )

    at_once(8, start)
    assert User.objects.get(is_superuser=True).username == "persond"


@pytest.mark.django_db
def test_the_account_that_a_terminal_asks_with_is_not_the_first(client):
    User.objects.create(username="terminal", password="!")
    client.post("/accounts/signup/", SIGN_UP)
    assert User.objects.get(username="alice").is_superuser


@pytest.mark.django_db
def test_after_signing_up_one_is_signed_in(client):
    assert client.post("/accounts/signup/", SIGN_UP)["Location"] == "/"
    assert client.get("/").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"password2": "another long password"}, "match"),
        ({"password1": "short1", "password2": "short1"}, "too short"),
        ({"password1": "9876543210987", "password2": "9876543210987"}, "numeric"),
        ({"username": ""}, "required"),
        ({"username": "al ice"}, "valid username"),
        ({"username": "a" * 151}, "150"),
        ({"username": "a\x00b"}, "Null characters"),
        # Letters to Unicode, and drawn as nothing.
        ({"username": "\u3164"}, "nobody sees"),
        ({"username": "alice\u115f"}, "nobody sees"),
    ],
)
def test_a_sign_up_that_cannot_be_is_refused_in_words_and_leaves_nothing(client, changes, words):
    response = client.post("/accounts/signup/", SIGN_UP | changes)
    assert response.status_code == 400
    assert words in response.text
    assert not User.objects.exists()


@pytest.mark.both
@pytest.mark.django_db
@pytest.mark.parametrize("name", ["alice", "ALICE"])
def test_a_taken_name_is_told(client, alice, name):
    response = client.post("/accounts/signup/", SIGN_UP | {"username": name})
    assert response.status_code == 400
    assert "That name is taken." in response.text


@pytest.mark.django_db
def test_names_that_look_alike_are_the_same_name(client, alice):
    assert client.post("/accounts/signup/", SIGN_UP | {"username": "ａｌｉｃｅ"}).status_code == 400


@pytest.mark.django_db
def test_nobody_signs_up_with_rights(client, alice):
    client.post(
        "/accounts/signup/",
        SIGN_UP | {"username": "eve", "is_staff": "1", "is_superuser": "1", "id": alice.pk},
    )
    assert not User.objects.get(username="eve").is_staff


@pytest.mark.django_db
def test_a_closed_sign_up_says_so_and_makes_nothing(client, settings, dana):
    settings.SIGNUP_OPEN = False
    for response in (client.get("/accounts/signup/"), client.post("/accounts/signup/", SIGN_UP)):
        assert response.status_code == 403
        assert "Sign-up is closed" in response.text
    assert User.objects.get() == dana
    assert "signup" not in client.get("/accounts/login/").text


@pytest.mark.parametrize(
    ("page", "labels", "button"),
    [
        ("login", ["Username", "Password"], "Sign in"),
        ("signup", ["Username", "Password", "Password confirmation", "E-mail"], "Create account"),
        ("reset", ["E-mail"], "Send me a link"),
    ],
)
@pytest.mark.django_db
def test_fields_and_buttons_have_their_names(client, page, labels, button):
    text = client.get(f"/accounts/{page}/").text
    assert re.findall(r"<label for=\"\w+\">([^<]+)</label>", text) == labels
    for field in re.findall(r"<label for=\"(\w+)\"", text):
        assert f'id="{field}"' in text
    assert f">{button}</button>" in text


@pytest.mark.django_db
def test_a_wrong_password_is_told_without_telling_which_names_exist(client, alice):
    answers = [
        client.post("/accounts/login/", {"username": name, "password": "wrong"})
        for name in ("alice", "nobody")
    ]
    assert [answer.status_code for answer in answers] == [400, 400]
    told = [re.findall(r'class="error">([^<]+)', answer.text) for answer in answers]
    assert told[0] == told[1] != []


@pytest.mark.both
def test_one_signs_in_and_out(client, alice):
    assert client.post("/accounts/login/", {"username": "alice", "password": PASSWORD})["Location"] == "/"
    assert client.get("/").status_code == 200
    assert client.post("/accounts/logout/")["Location"] == "/accounts/login/"
    assert client.get("/")["Location"] == "/accounts/login/?next=/"


def test_signing_out_is_not_a_link(client, alice):
    client.force_login(alice)
    assert client.get("/accounts/logout/").status_code == 405
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("page", ["login", "signup"])
def test_a_signed_in_person_needs_no_way_in(client, alice, page):
    client.force_login(alice)
    assert client.get(f"/accounts/{page}/")["Location"] == "/"


@pytest.mark.parametrize("page", ["login", "signup"])
@pytest.mark.parametrize("wanted", [*AWAY, "/health/live"])
def test_one_stays_on_our_host_after_the_way_in(client, alice, page, wanted):
    form = {"username": "alice", "password": PASSWORD} if page == "login" else SIGN_UP | {"username": "bob"}
    response = client.post(f"/accounts/{page}/", form, query_params={"next": wanted})
    assert response["Location"] == ("/" if wanted in AWAY else wanted)


@pytest.mark.parametrize(
    "path", [f"/accounts/{name}/" for name in ("login", "signup", "logout", "password", "email", "reset")]
)
@pytest.mark.django_db
def test_a_form_from_elsewhere_is_refused_in_our_words(path):
    response = Client(enforce_csrf_checks=True).post(path, SIGN_UP)
    assert response.status_code == 403
    assert "That form was too old" in response.text


@pytest.mark.django_db
def test_an_unknown_name_and_a_wrong_password_cost_the_same_work(client, alice, settings):
    settings.PASSWORD_HASHERS = ["tests.accounts.hashers.CountingHasher"]
    worked = []
    for name in ("alice", "nobody"):
        CountingHasher.worked = 0
        client.post("/accounts/login/", {"username": name, "password": "wrong"})
        worked.append(CountingHasher.worked)
    assert worked == [1, 1]


def test_a_closed_account_loses_its_sessions_and_its_way_in(client, alice):
    client.force_login(alice)
    alice.is_active = False
    alice.save()
    assert client.get("/")["Location"] == "/accounts/login/?next=/"
    assert client.post("/accounts/login/", {"username": "alice", "password": PASSWORD}).status_code == 400


def test_signing_in_begins_a_new_session(client, alice):
    client.session.save()
    client.cookies["sessionid"] = planted = client.session.session_key
    client.post("/accounts/login/", {"username": "alice", "password": PASSWORD})
    assert client.cookies["sessionid"].value != planted
    assert client.cookies["sessionid"]["httponly"] and client.cookies["sessionid"]["samesite"] == "Lax"


@pytest.mark.django_db
def test_an_address_may_be_given_at_sign_up(client):
    client.post("/accounts/signup/", SIGN_UP | {"email": "Alice@Example.ORG"})
    assert User.objects.get().email == "Alice@example.org"


@pytest.mark.django_db
def test_a_wrong_address_at_sign_up_is_told_at_its_field(client):
    text = client.post("/accounts/signup/", SIGN_UP | {"email": "alice"}).text
    field = re.search(r"<input[^>]+id_email[^>]+>", text)[0]
    assert 'aria-invalid="true"' in field
    assert 'aria-describedby="id_email_helptext id_email_error"' in field
    assert 'id="id_email_error"' in text and 'id="id_email_helptext"' in text
    problems = text[text.index('role="alert"') : text.index("<label")]
    assert problems.index("autofocus") < problems.index('<a href="#id_email">E-mail</a>')
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("login", ["username", "current-password"]),
        ("signup", ["username", "new-password", "new-password", "email"]),
        ("reset", ["email"]),
        ("password", ["username", "current-password", "new-password", "new-password"]),
        ("email", ["username", "email", "current-password"]),
    ],
)
def test_browsers_are_told_what_to_fill_in(client, alice, page, words):
    if page in ("password", "email"):
        client.force_login(alice)
    assert re.findall(r'autocomplete="([\w-]+)"', client.get(f"/accounts/{page}/").text) == words


@pytest.mark.django_db
def test_the_way_to_a_new_password_is_on_the_sign_in_page(client):
    assert '<a href="/accounts/reset/">Forgot your password?</a>' in client.get("/accounts/login/").text
