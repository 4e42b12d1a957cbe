"""Administrators let people in: an account with a link that works once, a new password by such a link, an address, and the end of it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chatapp.accounts.models import SignedUp, WayIn
from chatapp.accounts.store import names, roles, ways_in
from chatapp.store import in_thread
from tests.conftest import PASSWORD
from tests.live.test_socket import SIGNED_OUT
from tests.mcp_servers.test_admin import form_of
from tests.support.listening import listening
from tests.support.page import Page, attribute
from tests.support.stage import play

from .test_signing_in import at_once

pytestmark = pytest.mark.django_db

PEOPLE, ADD = "/admin/auth/user/", "/admin/auth/user/add/"
NEW = "quite another password"
CHOSEN = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def page_of(person):
    return f"{PEOPLE}{person.pk}/change/"


def link_in(answer):
    """The path of the link that is shown."""
    assert answer.status_code == 200, answer.text
    shown = attribute(Page(answer).one("input", id="link"), "value")
    assert shown.startswith("http://testserver/accounts/once/")
    return shown.removeprefix("http://testserver")


def made_for(her, person):
    return link_in(her.post(f"{PEOPLE}{person.pk}/link/"))


def form_behind(visitor, link):
    """Where the form of a link is, or None where the link does not work."""
    answer = visitor.get(link)
    return answer["Location"] if answer.status_code == 302 else None


def use(link, visitor=None, chosen=CHOSEN):
    visitor = visitor or Client()
    form = form_behind(visitor, link)
    return visitor.post(form, chosen) if form else None


def may_sign_in(name, password):
    return Client().post("/accounts/login/", {"username": name, "password": password}).status_code == 302


def written(person):
    return [row.change_message for row in LogEntry.objects.filter(object_id=str(person.pk)).order_by("pk")]


@pytest.mark.both
@pytest.mark.parametrize("signup_open", [True, False])
def test_somebody_is_let_in_chooses_a_password_and_is_there(her, dana, settings, signup_open):
    settings.SIGNUP_OPEN = signup_open
    assert "Let somebody in" in her.get(ADD).text
    link = link_in(her.post(ADD, {"username": "charlie", "email": "Charlie@Example.ORG"}))
    charlie = User.objects.get(username="charlie")
    assert (charlie.email, charlie.is_staff, charlie.has_usable_password()) == (
        "Charlie@example.org",
        False,
        False,
    )
    assert not SignedUp.objects.filter(user=charlie).exists(), "is no stranger"
    visitor = Client()
    form = form_behind(visitor, link)
    assert "charlie" in visitor.get(form).text
    assert visitor.post(form, CHOSEN)["Location"] == "/"
    assert "Ready to think, charlie" in visitor.get("/").text
    assert may_sign_in("charlie", NEW)
    assert written(charlie) == ["Let in.", "Made a link for a password."]


@pytest.mark.both
def test_a_password_is_reset_by_a_link_and_every_session_ends(her, alice):
    hers = Client()
    hers.force_login(alice)
    link = made_for(her, alice)
    assert may_sign_in("alice", PASSWORD), "until then the old one stays"
    alice.refresh_from_db()
    assert use(link).status_code == 302
    assert not may_sign_in("alice", PASSWORD) and may_sign_in("alice", NEW)
    assert hers.get("/")["Location"].startswith("/accounts/login/")


def test_a_link_works_once(her, alice):
    link = made_for(her, alice)
    assert use(link).status_code == 302
    again = Client().get(link)
    assert again.status_code == 404 and "This link does not work" in again.text


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_it_at_once_one_chooses(dana, alice):
    token = ways_in.make(alice, by=dana)
    came = at_once(6, lambda number: ways_in.choose_password(alice, token, f"password number {number}"))
    assert sorted(came) == [False] * 5 + [True]


def test_a_form_that_was_opened_before_the_link_was_used_changes_nothing(her, alice):
    link, late = made_for(her, alice), Client()
    form = form_behind(late, link)
    use(link)
    refused = late.post(form, {"new_password1": "a third password", "new_password2": "a third password"})
    assert refused.status_code == 404
    assert may_sign_in("alice", NEW)


ENDS = {
    "a new one": lambda her, alice: made_for(her, alice),
    "its end": lambda her, alice: her.post(f"{PEOPLE}{alice.pk}/link/end/"),
    "a day": lambda her, alice: WayIn.objects.update(made_at=timezone.now() - timedelta(days=1, seconds=1)),
    "another password": lambda her, alice: (alice.set_password("x"), alice.save()),
    "deactivating": lambda her, alice: roles.set_roles(alice, active=False, staff=False, reviewer=False),
    "deactivating and activating": lambda her, alice: [
        roles.set_roles(alice, active=active, staff=False, reviewer=False) for active in (False, True)
    ],
    "deactivating elsewhere": lambda her, alice: User.objects.filter(pk=alice.pk).update(is_active=False),
}


@pytest.mark.both
@pytest.mark.parametrize("end", ENDS)
def test_what_ends_a_link_ends_it_also_for_whoever_has_opened_it(her, alice, end):
    opened = Client()
    link = made_for(her, alice)
    form = form_behind(opened, link)
    before = User.objects.get(pk=alice.pk).password
    ENDS[end](her, alice)
    assert Client().get(link).status_code == 404
    assert opened.post(form, CHOSEN).status_code == 404
    assert end == "another password" or User.objects.get(pk=alice.pk).password == before
    assert not may_sign_in("alice", NEW)


def test_a_link_that_was_mailed_ends_with_deactivating_too(client, alice):
    from django.contrib.auth.tokens import default_token_generator
    from django.utils.http import urlsafe_base64_encode

    link = f"/accounts/reset/{urlsafe_base64_encode(str(alice.pk).encode())}/{default_token_generator.make_token(alice)}/"
    assert form_behind(client, link)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert form_behind(Client(), link) is None


@pytest.mark.parametrize(
    "spoil", [lambda token: token[:-1], lambda token: f"{token}x", lambda token: "set-password", str.swapcase]
)
def test_a_guessed_link_opens_nothing(her, alice, bob, spoil):
    link = made_for(her, alice)
    start, token = link.rstrip("/").rsplit("/", 1)
    assert form_behind(Client(), f"{start}/{spoil(token)}/") is None
    his = made_for(her, bob).split("/")[3]
    assert form_behind(Client(), f"/accounts/once/{his}/{token}/") is None


def test_a_weak_password_is_told_and_the_link_goes_on_working(her, alice):
    visitor, link = Client(), made_for(her, alice)
    assert use(link, visitor, {"new_password1": "12345678", "new_password2": "12345678"}).status_code == 400
    assert use(link, visitor).status_code == 302


def test_a_link_is_shown_once_and_nothing_that_is_kept_opens_anything(her, alice):
    link = made_for(her, alice)
    token = link.rstrip("/").rsplit("/", 1)[1]
    for path in (page_of(alice), f"{PEOPLE}{alice.pk}/history/", PEOPLE, "/admin/"):
        assert token not in her.get(path).text
    row = WayIn.objects.get()
    assert token not in str(vars(row)) and form_behind(Client(), link.replace(token, row.digest)) is None
    assert token not in str(list(LogEntry.objects.values_list()))
    page = her.get(page_of(alice)).text
    assert "that dana made works until" in page and "Make a new link" in page


def test_the_person_reads_who_made_a_link_and_whether_it_was_used(her, alice):
    hers = Client()
    hers.force_login(alice)
    assert "made a link" not in hers.get("/settings/").text
    link = made_for(her, alice)
    assert "dana made a link for your password" in hers.get("/settings/").text
    visitor = Client()
    use(link, visitor)
    assert "It was used" in visitor.get("/settings/").text


def test_only_those_who_may_change_a_person_make_links_for_them(client, her, alice, bob, charlie, dana):
    roles.set_roles(bob, active=True, staff=True, reviewer=False)
    gone = User.objects.create_user("eve", password=PASSWORD, is_active=False)
    wanted = {
        bob: {alice: 200, dana: 403, bob: 403, gone: 404},
        dana: {alice: 200, bob: 200, dana: 403, gone: 404},
    }
    for who, rows in wanted.items():
        visitor = Client()
        visitor.force_login(who)
        for person, status in rows.items():
            for what in ("link/", "link/end/"):
                answer = visitor.post(f"{PEOPLE}{person.pk}/{what}", follow=True)
                assert answer.status_code == status, (who, person, what)
            assert visitor.get(f"{PEOPLE}{person.pk}/link/").status_code == 405
    for who in (alice, charlie):
        client.force_login(who)
        for path in (ADD, f"{PEOPLE}{bob.pk}/link/", f"{PEOPLE}{bob.pk}/link/end/"):
            assert client.post(path, {"username": "eve2"}).status_code == 404
    assert not User.objects.filter(username="eve2").exists()
    assert not WayIn.objects.filter(user=dana).exists()


@pytest.mark.both
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"username": ""}, "required"),
        ({"username": "ALICE"}, "That name is taken."),
        ({"username": "a1ice"}, names.ALIKE),
        ({"username": "аlice"}, names.MIXED),
        ({"username": "support"}, names.KEPT),
        ({"username": "al ice"}, "valid username"),
        ({"username": "bob\u200b"}, "nobody sees"),
        ({"username": "bob\u3164"}, "nobody sees"),
        ({"username": "bob", "email": "nowhere"}, "valid email"),
    ],
)
def test_who_cannot_be_let_in_is_told_in_words(her, dana, alice, sent, words):
    answer = her.post(ADD, sent)
    assert answer.status_code == 400 and words in answer.text
    assert set(User.objects.all()) == {alice, dana} and not WayIn.objects.exists()


def test_an_address_is_set_and_removed(her, alice):
    for email in ("Alice@Example.ORG", ""):
        assert (
            her.post(page_of(alice), form_of(her.get(page_of(alice))) | {"email": email}).status_code == 302
        )
        alice.refresh_from_db()
        assert alice.email == email.replace("Example.ORG", "example.org")
    assert her.post(page_of(alice), form_of(her.get(page_of(alice))) | {"email": "x"}).status_code == 200
    assert len(written(alice)) == 2 and "example" not in str(written(alice))


def test_nobody_signs_in_to_an_account_without_a_password(her):
    her.post(ADD, {"username": "charlie"})
    for password in ("", "!", User.objects.get(username="charlie").password):
        assert not may_sign_in("charlie", password)


@pytest.mark.django_db(transaction=True)
def test_whoever_listens_hears_no_more_once_a_link_was_used(alice, dana):
    async def story():
        token = await in_thread(ways_in.make)(alice, by=dana)
        async with listening(alice, path="/ws/") as socket:
            assert await in_thread(ways_in.choose_password)(alice, token, NEW)
            assert await socket.is_closed() == SIGNED_OUT

    play(story())


def test_a_link_leads_to_the_public_address(her, alice, settings):
    settings.PUBLIC_URL = "https://chat.example.org"
    assert re.search(
        r'value="https://chat.example.org/accounts/once/', her.post(f"{PEOPLE}{alice.pk}/link/").text
    )
