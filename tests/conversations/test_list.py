"""The list of conversations as a page and as a part of one, and every command on one of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chatapp import store
from chatapp.conversations import store as listing
from chatapp.conversations.page.sidebar import render_row
from chatapp.pages.words.days import day_in_words
from chatapp.store.models import Conversation, Message, Status
from tests.support.page import Page, attribute, words

pytestmark = pytest.mark.django_db

SCRIPT = {"HX-Request": "true"}
HOSTILE = "<img src=x onerror=alert(1)>\"' hx-get=/x {{ 7 }}"
COMMANDS = ["title", "pin", "archive", "delete_conversation"]


def make(owner, title="Rain barrel", **fields):
    return Conversation.objects.create(owner=owner, title=title, **fields)


@pytest.fixture
def mine(alice):
    return make(alice)


@pytest.fixture
def here(client, alice):
    client.force_login(alice)
    return client


def titles(response):
    return [words(it) for it in Page(response).all("span", **{"class": "clip", "dir": "auto"})]


def headings(response):
    return [words(it) for it in Page(response).all("h2", **{"class": "faint"})]


def address(name, pk):
    return reverse(name, args=[pk])


def test_the_list_stands_beside_the_page_and_says_what_happens(here, alice):
    make(alice, "Calm")
    for title, status in (("Busy", Status.RUNNING), ("Asking", Status.WAITING)):
        row = make(alice, title)
        Message.objects.create(conversation=row, order=0, role="assistant", status=status)
    page = Page(here.get("/conversations/"))
    marks = {
        attribute(it, "data-status"): words(it) for it in page.all("span") if attribute(it, "data-status")
    }
    assert marks == {"running": "answers", "waiting": "asks you"}
    for title in ("Calm", "Busy", "Asking"):
        assert page.all("button", aria_label=f"More about {title}")


def test_an_empty_list_says_what_to_do_next(here):
    assert "What you ask appears here" in here.get("/conversations/").text
    assert "Nothing is archived" in here.get("/conversations/?archived=1").text
    assert "No title here has these words" in here.get("/conversations/?q=x").text


def test_a_conversation_that_has_no_words_has_a_name_all_the_same(here, alice):
    make(alice, "")
    assert titles(here.get("/conversations/")) == ["New conversation"]


def test_days_count_as_in_the_zone_of_the_browser(here, alice):
    tokyo = ZoneInfo("Asia/Tokyo")
    midnight = timezone.now().astimezone(tokyo).replace(hour=0, minute=0, second=0, microsecond=0)
    make(alice, "After", updated_at=midnight)
    make(alice, "Before", updated_at=midnight - timedelta(seconds=1))
    here.cookies["zone"] = "Asia/Tokyo"
    assert headings(here.get("/conversations/")) == ["Today", "Yesterday"]


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "../../etc/passwd", "America", "/etc/localtime", "x" * 3000, "a." * 1500, "\\"]
)
def test_a_zone_that_is_none_counts_as_the_servers(here, alice, zone):
    make(alice)
    here.cookies["zone"] = zone
    assert headings(here.get("/conversations/")) == ["Today"]


@pytest.mark.parametrize(
    ("day", "heading"),
    [
        ((2026, 3, 6), "Today"),
        ((2026, 3, 5), "Today"),
        ((2026, 3, 4), "Yesterday"),
        ((2026, 3, 3), "Earlier this week"),
        ((2026, 3, 2), "Earlier this week"),
        ((2026, 3, 1), "March"),
        ((2026, 2, 28), "February"),
        ((2025, 12, 31), "December 2025"),
    ],
)
def test_a_day_has_a_heading(day, heading):
    assert day_in_words(datetime(*day, 12, tzinfo=UTC), datetime(2026, 3, 5).date()) == heading


def test_all_of_a_long_list_is_reached_by_its_links_with_and_without_a_script(here, alice):
    now = timezone.now()
    rows = [
        Conversation(owner=alice, title=f"{n}", updated_at=now - timedelta(hours=5 * n)) for n in range(100)
    ]
    Conversation.objects.bulk_create(rows)
    for headers in ({}, SCRIPT):
        seen, heads, url = [], [], "/conversations/?q="
        while url:
            response = here.get(url, headers=headers)
            seen += titles(response)
            heads += headings(response)
            older = [it for it in Page(response).all("a") if words(it) == "Older"]
            url = attribute(older[0], "href") if older else ""
        assert seen == [str(n) for n in range(100)]
        assert len(heads) == len(set(heads))


@pytest.mark.parametrize(
    "query",
    ["before=x", "before=1.2", "before=0.99999999999999999999." + "0" * 32, "before=0.1.x", "q=" + "x" * 201],
)
def test_an_address_that_makes_no_sense_is_refused_in_words(here, query):
    response = here.get(f"/conversations/?{query}")
    assert response.status_code == 400
    assert "That was not done" in response.text


def test_a_page_costs_the_same_however_long_the_list_is(here, alice, django_assert_max_num_queries):
    Conversation.objects.bulk_create(Conversation(owner=alice, title=str(n)) for n in range(10_000))
    with django_assert_max_num_queries(7):
        response = here.get("/conversations/")
    assert len(titles(response)) == listing.PAGE


def test_the_search_finds_titles(here, alice):
    make(alice, "Bakery")
    make(alice)
    assert titles(here.get("/conversations/?q=BARREL", headers=SCRIPT)) == ["Rain barrel"]


def test_the_open_conversation_is_marked_also_in_a_part(here, mine):
    headers = SCRIPT | {"HX-Current-URL": f"http://testserver{address('conversation', mine.pk)}?at=x"}
    link = Page(here.get("/conversations/", headers=headers)).one("a", aria_current="page")
    assert attribute(link, "href") == address("conversation", mine.pk)


@pytest.mark.parametrize(
    "url", ["http://[", "", "javascript:1", "http://testserver/c/x/", "http://testserver/\x7f"]
)
def test_a_page_that_is_nowhere_opens_nothing(here, mine, url):
    response = here.get("/conversations/", headers=SCRIPT | {"HX-Current-URL": url})
    assert titles(response) == ["Rain barrel"] and "aria-current" not in response.text


def test_a_title_is_text_wherever_it_stands(here, alice):
    row = make(alice, HOSTILE)
    for url in ("/conversations/", address("title", row.pk), "/conversations/?q=%3Cimg"):
        assert "<img" not in here.get(url).text
    html = render_row(listing.load_row(row.pk))
    assert "<img" not in html and "\"' hx-get" not in html and "{{ 7 }}" in html


def test_a_row_can_be_made_without_a_request_and_is_what_the_page_shows(here, alice):
    row = make(alice, HOSTILE)
    assert render_row(listing.load_row(row.pk)) in here.get("/conversations/").text


@pytest.mark.parametrize("headers", [{}, SCRIPT], ids=["page", "part"])
def test_renaming(here, mine, headers):
    url = address("title", mine.pk)
    assert "Rain barrel" in here.get(url, headers=headers).text
    response = here.post(url, {"title": " Water\u202e\n butt "}, headers=headers)
    assert listing.load_row(mine.pk).title == "Water butt"
    if headers:
        assert titles(response) == ["Water butt"] and 'hx-swap-oob="true"' in response.text
    else:
        assert (response.status_code, response["Location"]) == (303, address("conversation", mine.pk))


def test_renaming_the_open_conversation_renames_the_page(here, mine):
    headers = SCRIPT | {"HX-Current-URL": f"http://testserver{address('conversation', mine.pk)}"}
    response = here.post(address("title", mine.pk), {"title": "<b>Water"}, headers=headers)
    assert '<span id="title" hx-swap-oob="true">&lt;b&gt;Water</span>' in response.text


@pytest.mark.parametrize("headers", [{}, SCRIPT], ids=["page", "part"])
def test_a_title_that_is_too_long_is_refused_in_words(here, mine, headers):
    response = here.post(address("title", mine.pk), {"title": "x" * 201}, headers=headers)
    assert response.status_code == 400
    assert "at most 200" in response.text
    assert listing.load_row(mine.pk).title == "Rain barrel"


def test_pinning_gives_the_list_anew(here, alice, mine):
    make(alice, "Newer")
    response = here.post(address("pin", mine.pk), {"on": "1"}, headers=SCRIPT)
    assert headings(response) == ["Pinned", "Today"]
    assert titles(response) == ["Rain barrel", "Newer"]
    assert titles(here.post(address("pin", mine.pk), {"on": "0", "q": "rain"}, headers=SCRIPT)) == [
        "Rain barrel"
    ]
    assert not listing.load_row(mine.pk).pinned


def test_archiving_takes_the_row_away_and_offers_to_bring_it_back(here, mine):
    response = here.post(address("archive", mine.pk), {"on": "1"}, headers=SCRIPT)
    assert "Conversation archived" in response.text
    assert json.loads(response["HX-Trigger"]) == {"gone": {"row": f"c-{mine.pk}"}}
    assert titles(here.get("/conversations/")) == []
    assert titles(here.get("/conversations/?archived=1")) == ["Rain barrel"]
    back = here.post(address("archive", mine.pk), {"on": "0"}, headers=SCRIPT)
    assert titles(back) == ["Rain barrel"]


def test_deleting_from_the_list_offers_an_undo(here, mine):
    response = here.post(address("delete_conversation", mine.pk), headers=SCRIPT)
    assert "Conversation deleted" in response.text
    assert here.get(address("conversation", mine.pk)).status_code == 404
    undo = Page(response).one("form")
    assert here.post(attribute(undo, "action"), headers=SCRIPT)["HX-Retarget"] == "#conversations"
    assert titles(here.get("/conversations/")) == ["Rain barrel"]


@pytest.mark.parametrize("headers", [{}, SCRIPT], ids=["page", "part"])
def test_deleting_the_open_conversation_leads_home_with_the_undo(here, mine, headers):
    if headers:
        headers = headers | {"HX-Current-URL": f"http://testserver{address('conversation', mine.pk)}"}
    response = here.post(address("delete_conversation", mine.pk), headers=headers)
    home = response["HX-Redirect"] if headers else response["Location"]
    assert home == f"/?deleted={mine.pk}"
    toast = Page(here.get(f"/conversations/?deleted={mine.pk}")).one(
        "form", action=address("restore_conversation", mine.pk)
    )
    back = here.post(attribute(toast, "action"))
    assert (back.status_code, back["Location"]) == (303, address("conversation", mine.pk))


@pytest.mark.parametrize("name", ["x", "", "8b8a7f74-f504-4708-be53-87242bdf3bcf"])
def test_a_made_up_deletion_offers_nothing(here, name):
    response = here.get(f"/conversations/?deleted={name}")
    assert response.status_code == 200
    assert "data-toast" not in response.text


def test_without_a_script_one_comes_back_to_where_one_was(here, mine):
    page = "http://testserver/conversations/?archived=1"
    assert here.post(address("pin", mine.pk), headers={"referer": page})["Location"] == page
    elsewhere = here.post(address("pin", mine.pk), headers={"referer": "https://evil.example/"})
    assert (elsewhere.status_code, elsewhere["Location"]) == (303, "/conversations/")


@pytest.mark.parametrize("person", ["bob", "charlie", "dana"])
@pytest.mark.parametrize("name", COMMANDS)
def test_conversations_of_others_answer_as_if_they_were_not_there(request, client, mine, person, name):
    client.force_login(request.getfixturevalue(person))
    before = Conversation.objects.values().get()
    answers = [client.post(address(name, pk), {"title": "Mine now"}) for pk in (mine.pk, uuid4())]
    assert [it.status_code for it in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    assert client.get(address("title", mine.pk)).status_code == 404
    assert Conversation.objects.values().get() == before
    assert "Rain barrel" not in client.get("/conversations/").text


def test_only_its_owner_brings_a_conversation_back(here, mine, bob):
    here.post(address("delete_conversation", mine.pk))
    other = Client()
    other.force_login(bob)
    assert "data-toast" not in other.get(f"/conversations/?deleted={mine.pk}").text
    for pk in (mine.pk, uuid4()):
        assert other.post(address("restore_conversation", pk)).status_code == 404
    assert here.post(address("restore_conversation", mine.pk)).status_code == 303
    assert here.post(address("restore_conversation", mine.pk)).status_code == 404


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_deleted_is_as_if_it_were_not_there(here, mine, name):
    here.post(address("delete_conversation", mine.pk))
    assert here.post(address(name, mine.pk), {"title": "x"}).status_code == 404


@pytest.mark.parametrize("name", [*COMMANDS, "restore_conversation"])
def test_strangers_sign_in_first_and_no_look_changes_anything(client, alice, mine, name):
    assert client.post(address(name, mine.pk))["Location"].startswith("/accounts/login/")
    client.force_login(alice)
    assert client.get(address(name, mine.pk)).status_code == (200 if name == "title" else 405)
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(alice)
    assert guarded.post(address(name, mine.pk)).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_deleting_a_conversation_stops_what_runs_in_it(here, alice):
    started = store.open_conversation(alice, "Why?", tools=[], asked=store.AskedFor(model="demo:thinker"))
    try:
        here.post(address("delete_conversation", started.conversation))
        assert Message.objects.get(pk=started.answer).status == Status.STOPPED
    finally:
        store.close_threads()
