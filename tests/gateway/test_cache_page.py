"""The page of kept thoughts: for staff alone, with figures of all, words only where they may be read, and clearing."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.html import Element
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp.gateway.models import KeptLook, KeptResponse, ReplayDay
from chatapp.gateway.store import kept
from chatapp.insight.store.sums import day_of
from chatapp.pages.words.amounts import in_bytes
from chatapp.pages.words.moments import lasted
from tests.gateway.program import program_of, restarted, served, user
from tests.gateway.test_cache_api import rows
from tests.support.front import visitor
from tests.support.page import Page, attribute, words
from tests.support.script import response, text, thought
from tests.support.stage import play

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both]

WHERE = "/insight/cache/"
SAYS = response(thought("canary-thought"), text("canary-answer"))


@pytest.fixture(autouse=True)
def nothing_is_remembered():
    restarted()
    yield
    restarted()


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def replayed(model, back=0, **counts):
    ReplayDay.objects.create(day=day_of(timezone.now()) - timedelta(days=back), model=model, **counts)


def asked_once(owner):
    async def story():
        async with served(SAYS):
            await (await program_of(owner)).answer(user())

    play(story())
    return KeptResponse.objects.get(owner=owner)


def said(page):
    return words(Page(page).root)


def sums_of(page):
    names, sums = (map(words, Page(page).all(tag)) for tag in ("dt", "dd"))
    return dict(zip(names, sums, strict=True))


def hidden(page):
    return {attribute(it, "name"): attribute(it, "value") for it in Page(page).all("input", type="hidden")}


def lines(page):
    """Of all tables, without their heads."""
    return [
        [words(cell) for cell in row.children if isinstance(cell, Element)] for row in Page(page).all("tr")
    ]


@pytest.mark.parametrize("path", [WHERE, f"{WHERE}clear/", f"{WHERE}words/nothing/"])
def test_for_everybody_but_staff_nothing_is_there(client, alice, bob, charlie, path):
    assert client.get(path)["Location"] == f"/accounts/login/?next={path}"
    for person in (alice, bob, charlie):
        client.force_login(person)
        for method in (client.get, client.post):
            refused = method(path)
            assert refused.status_code in (404, 405 if "clear" not in path else 404)
    assert not KeptLook.objects.exists()


def test_an_empty_page_says_so(her):
    assert "Nothing is kept" in her.get(WHERE).text


def test_where_nothing_is_kept_it_says_why(her, settings):
    settings.REASONING_CACHE_HOURS = 0
    assert "REASONING_CACHE_HOURS is 0" in her.get(WHERE).text


def test_it_is_led_to_from_figures_and_from_the_administration(her):
    for path in ("/insight/", "/admin/"):
        assert f'href="{WHERE}"' in her.get(path).text
    assert 'href="/insight/"' in her.get(WHERE).text


def test_it_tells_what_is_kept_went_back_was_missed_and_left_out(her, alice):
    rows(alice, 3, provider="demo", model="thinker")
    replayed("demo:thinker", restored=990, missed=10, dropped=4)
    replayed("demo:thinker", back=6, restored=1_010, missed=0, dropped=0)
    replayed("demo:thinker", back=7, missed=5_000)
    replayed("gone:model", missed=1)
    page = her.get(WHERE)
    sums = sums_of(page)
    assert (sums["Replay rate, 7 days"], sums["Put back"]) == ("99.5 %", "2,000")
    assert sums["Missed"] == "11wanted, not here"
    assert sums["In the database"] == "3for 168 h"
    assert lines(page)[1][1:] == ["3", "2,000", "10", "4", "99.5 %"]
    assert lines(page)[2][1:] == ["0", "0", "1", "0", "0 %"]


def test_the_newest_are_listed_and_filtered(her, alice, bob):
    rows(alice, 2, provider="a", model="one")
    rows(bob, 1, provider="b", model="two")
    page = her.get(WHERE)
    assert len([row for row in lines(page) if "thought," in row[0]]) == 3
    assert "1 thought, alice" in page.text and "1 thought, bob" in page.text
    filtered = her.get(f"{WHERE}?provider=b&model=two")
    assert "1 thought, bob" in filtered.text and "1 thought, alice" not in filtered.text
    assert 'value="two" selected' in filtered.text
    assert "Nothing of that is kept" in her.get(f"{WHERE}?provider=a&model=two").text


def test_what_is_in_memory_is_told_with_its_size(alice, dana):
    async def story():
        async with served(response(thought("x" * 3 * 2**20), text())):
            await (await program_of(alice)).answer(user())
            assert len(kept.memory) == 1
            page = await (await visitor(dana)).get(WHERE)
            assert sums_of(page)["In memory"] == "13 of 64 MiB"

    play(story())


def test_words_stand_on_no_page_but_that_of_one_which_writes_the_look(her, alice, dana):
    row = asked_once(alice)
    page = her.get(WHERE)
    assert "canary" not in page.text and not KeptLook.objects.exists()
    opened = her.get(f"{WHERE}words/{row.secret}/")
    assert "canary-thought" in opened.text and "That you looked is written down." in opened.text
    look = KeptLook.objects.get()
    assert (look.who, look.name, look.owner, look.responses) == (dana, "dana", alice, 1)
    listed = her.get("/admin/chatapp/keptlook/").text
    assert "dana" in listed and "alice" in listed


def test_the_owner_is_told_in_the_settings_who_looked(client, alice, dana):
    row = asked_once(alice)
    client.force_login(dana)
    client.get(f"{WHERE}words/{row.secret}/")
    assert "read thoughts" not in client.get("/settings/").text
    client.force_login(alice)
    assert "dana, those of 1 response, on " in client.get("/settings/").text


def test_where_conversations_are_closed_words_are_too(her, alice, settings):
    settings.ADMIN_CAN_READ_CHATS = False
    row = asked_once(alice)
    path = f"{WHERE}words/{row.secret}/"
    page = her.get(WHERE)
    assert path not in page.text and "Their words are closed" in said(page)
    refused = her.get(path)
    assert refused.status_code == 403 and "canary" not in refused.text
    assert not KeptLook.objects.exists()


def test_what_is_not_there_is_not_found(her):
    assert her.get(f"{WHERE}words/nothing/").status_code == 404


@pytest.mark.parametrize(("query", "left"), [("?provider=a", 2), ("?provider=", 0)])
def test_what_would_be_cleared_is_said_and_then_done(her, alice, query, left):
    rows(alice, 3, provider="a")
    rows(alice, 2, provider="b")
    asked = her.get(f"{WHERE}clear/{query}")
    number = 5 - left
    assert f", {number} entries" in asked.text and KeptResponse.objects.count() == 5
    done = her.post(f"{WHERE}clear/", hidden(asked))
    assert (done.status_code, done["Location"]) == (303, f"{WHERE}?cleared={number}")
    assert KeptResponse.objects.count() == left
    assert f"Cleared: {number} entries." in her.get(done["Location"]).text


def test_one_is_cleared_by_its_row(her, alice):
    rows(alice, 2)
    secret = KeptResponse.objects.get(name="call_1").secret
    path = f"{WHERE}clear/?entry={secret}"
    assert path in her.get(WHERE).text
    dialog = her.get(path, headers={"HX-Request": "true"})
    assert "call_1 of alice" in dialog.text and "<dialog" in dialog.text
    her.post(f"{WHERE}clear/", {"entry": secret, "provider": ""})
    assert [row.name for row in KeptResponse.objects.all()] == ["call_0"]


@pytest.mark.parametrize("sent", [{}, {"entry": "../x"}, {"entry": "x" * 40}, {"provider": "\0"}])
def test_what_makes_no_sense_clears_nothing(her, alice, sent):
    rows(alice, 2)
    refused = her.post(f"{WHERE}clear/", sent)
    assert refused.status_code in (303, 400)
    assert KeptResponse.objects.count() == 2


def test_names_that_deceive_are_told_by_their_signs(her, alice):
    rows(alice, 1, provider="p", model="\u202egpt")
    page = her.get(WHERE).text
    assert "\u202e" not in re.sub(r'value="[^"]*"', "", page) and "U+202E" in page


def test_it_asks_as_little_of_many_rows_as_of_few(her, alice, bob):
    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert her.get(WHERE).status_code == 200
        return len([each for each in asked if each["sql"].startswith("SELECT")])

    rows(alice, 1)
    statements()
    few = statements()
    rows(bob, 500, provider="many")
    assert statements() == few


SIZES = [(0, "0.0 kB"), (6_100, "6.1 kB"), (11_000, "11 kB"), (999_499, "999 kB"), (2_300_000, "2.3 MB")]


@pytest.mark.parametrize(("size", "said"), SIZES)
def test_sizes_in_words(size, said):
    assert in_bytes(size) == said


AGES = [(0, "1 second"), (40, "40 seconds"), (60, "1 minute"), (7_200, "2 hours"), (200_000, "2 days")]


@pytest.mark.parametrize(("seconds", "said"), AGES)
def test_ages_in_words(seconds, said):
    assert lasted(timedelta(seconds=seconds)) == said
