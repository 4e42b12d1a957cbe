"""A link shows one branch to whoever has it, and nothing else of anybody."""

from __future__ import annotations

import gzip
import re
from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import store
from chatapp.core.decision import Decided, Decision, decision_item
from chatapp.core.items import Item, Kind
from chatapp.pages.limiting.throttle import Limit
from chatapp.sharing.models import Share
from chatapp.sharing.store import revoke, share
from chatapp.sharing.views import links as sharing
from chatapp.sharing.views import shared as views
from chatapp.store import AskedFor, Measured, deleting
from chatapp.store.models import Conversation, Message, Status
from tests.support.attacks import ATTACKS
from tests.support.make import call, result, text, thought
from tests.support.page import Page
from tests.support.page import words as words_of

pytestmark = pytest.mark.django_db

MOST_BYTES, MOST_QUERIES = 100_000, 16
THOUGHTS, TOOLS = ("canary-thought", "canary-gist"), ("canary-argument", "canary-result")
HIDDEN = (
    "canary-instructions",
    "canary-beside",
    "canary-later",
    "canary-title",
    "canary-raw",
    "canary-sentence",
    "canary-shape",
    "canary-wire",
    "canary-decider",
    "canary-elsewhere",
)


def turn(owner, words, items, parent=None, conversation=None, **facts):
    asked = AskedFor(model="demo:thinker")
    if conversation is None:
        started = store.open_conversation(
            owner, words, tools=[], asked=asked, instructions="canary-instructions"
        )
    else:
        started = store.start_turn(conversation, words, parent=parent, author=owner, asked=asked)
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    durations = {item.key: 23_000 for item in items if item.kind is Kind.REASONING}
    timings = {item.key: {"start": 0, "end": 23_000} for item in items}
    store.finish(claim, items, Measured(durations=durations, timings=timings, elapsed=30_000))
    if facts:
        row = Message.objects.get(pk=started.answer)
        Message.objects.filter(pk=row.pk).update(metadata=row.metadata | facts, **_status(facts))
    return started


def _status(facts):
    return {"status": Status.FAILED} if "ended" in facts else {}


def decided() -> Item:
    asked = call("fc_1")
    facts = {"by": "canary-decider", "name": "canary-decider", "at": "2026-01-01T00:00:00+00:00"}
    return decision_item(
        "part-5",
        asked,
        Decided(call="fc_1", decision=Decision.ONCE, arguments_hash="canary-decider", **facts),
    )


@pytest.fixture
def leaf(alice) -> Message:
    """Of a branch with all that may be hidden in it, beside it and below it."""
    first = turn(alice, "canary-title", [text(text="canary-beside")])
    inside = [
        thought(text="**canary-gist**\n\nThen canary-thought.", wire={"id": "canary-wire"}),
        call(text='{"expression": "canary-argument"}', wire={"id": "canary-wire"}),
        decided(),
        result(text="canary-result"),
        text(text="The *shown* answer.", wire={"id": "canary-wire"}),
    ]
    rounds = [{"round": 0, "model": "demo:thinker", "shape": ["canary-shape"], "messages": 7}]
    shown = turn(alice, "The shown question?", inside, None, first.conversation, rounds=rounds)
    ended = {"reason": "refused", "sentence": "canary-sentence", "raw": "canary-raw", "by": str(alice.pk)}
    last = turn(alice, "And then?", [], shown.answer, first.conversation, ended=ended)
    store.start_answer(shown.question, author=alice, asked=AskedFor(model="demo:thinker"))
    turn(alice, "canary-later", [text(text="canary-later")], last.answer, first.conversation)
    turn(alice, "canary-elsewhere", [text(text="canary-elsewhere")])
    return Message.objects.get(pk=last.answer)


def path_of(link: Share) -> str:
    return f"/s/{link.token}/"


def pages_for(link: Share, *people) -> list[str]:
    """As each of them sees it; the first look of anybody is nobody's."""
    pages = []
    for person in (None, *people):
        client = Client()
        if person:
            client.force_login(person)
        response = client.get(path_of(link))
        assert response.status_code == 200
        pages.append(unescape(response.text))
    return pages


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("thoughts", [True, False])
def test_a_shared_page_holds_what_was_shared_and_nothing_else(leaf, alice, bob, dana, thoughts, tools):
    link = share(leaf, by=alice, with_thoughts=thoughts, with_tools=tools)
    # What the owner has looked at is kept, and must not come out of there.
    owner = Client()
    owner.force_login(alice)
    assert "canary-thought" in owner.get(f"/c/{leaf.conversation_id}/?at={leaf.pk}").text
    for page in pages_for(link, alice, bob, dana):
        assert "The shown question?" in page and "<em>shown</em>" in page
        assert (
            "Thought for 23 seconds" in page
            and "<code>clock</code>" in page
            and "<td>23 s</td>" in page
            and "Allowed once: <code>" in page
        )
        assert [word for word in THOUGHTS if (word in page) is not thoughts] == []
        assert [word for word in TOOLS if (word in page) is not tools] == []
        assert [word for word in HIDDEN if word in page] == []


def test_ids_of_what_is_hidden_are_not_on_the_page(leaf, alice, bob):
    link = share(leaf, by=alice)
    shown = {row.pk for row in store.load_branch(leaf.pk).messages}
    hidden = {*Message.objects.values_list("pk", flat=True)} - shown
    hidden |= {*Conversation.objects.values_list("pk", flat=True), link.pk}
    for page in pages_for(link, bob):
        named = set(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", page))
        assert named >= {str(pk) for pk in shown}
        assert named & {str(pk) for pk in hidden} == set()


def test_nothing_can_be_done_to_a_shared_page_but_a_fork_by_whoever_is_signed_in(leaf, alice, bob):
    anonymous, signed_in = pages_for(share(leaf, by=alice), bob)
    assert "<form" not in anonymous and "<textarea" not in anonymous and "csrf" not in anonymous
    assert set(re.findall(r"<button[^>]*>", anonymous)) <= {
        '<button class="tap" type="button" data-copy-code>'
    }
    assert "Sign in to fork" in anonymous
    assert len(re.findall("<form", signed_in)) == 1
    buttons = set(re.findall(r'aria-label="([^"]+)"', "".join(re.findall(r"<button[^>]*>", signed_in))))
    assert buttons == {"Fork"}
    for page in (anonymous, signed_in):
        assert "Branches" not in page and "What was sent" not in page and "Instructions" not in page
        assert "htmx" not in page and "live.js" not in page


def test_the_page_says_whose_it_is_since_when_and_what_is_in_it(leaf, alice, client):
    link = share(leaf, by=alice, with_thoughts=False)
    opening = words_of(Page(client.get(path_of(link))).one("header", **{"class": "opening"}))
    assert opening.startswith("The shown question?Shared by alice on")
    assert ", with tool details, without thoughts. 2 questions, 23 s of thought by Demo" in opening


def test_the_page_is_private_and_no_search_engine_lists_it(leaf, alice, client):
    response = client.get(path_of(share(leaf, by=alice)))
    assert "noindex" in response["X-Robots-Tag"]
    assert '<meta name="robots" content="noindex, nofollow">' in response.text
    assert response["Cache-Control"] == "no-store"
    assert response["Referrer-Policy"] == "same-origin"
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert not client.cookies


def gone_in_each_way(leaf, alice) -> list[Share | str]:
    revoked, expired, deleted = (share(leaf, by=alice) for _ in range(3))
    revoke(revoked.token, by=alice)
    Share.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    leaf.refresh_from_db()
    return [revoked, expired, deleted]


def test_a_link_that_opens_nothing_says_so_in_one_way(leaf, alice, bob, dana, client):
    revoked, expired, deleted = gone_in_each_way(leaf, alice)
    deleting.delete_below(leaf)
    for person in (None, alice, bob, dana):
        if person:
            client.force_login(person)
        unknown = client.get("/s/" + "x" * 43 + "/")
        assert unknown.status_code == 404 and "This link opens nothing" in unknown.text
        assert "noindex" in unknown["X-Robots-Tag"]
        for link in (revoked, expired, deleted):
            assert client.get(path_of(link)).content == unknown.content
            assert client.head(f"{path_of(link)}open/").status_code == 404


def test_a_link_of_an_account_that_was_closed_opens_nothing(leaf, alice, client):
    link = share(leaf, by=alice)
    alice.is_active = False
    alice.save()
    assert client.get(path_of(link)).status_code == 404


def test_an_account_that_was_closed_reads_like_anybody_and_forks_nothing(leaf, alice, bob, client):
    link = share(leaf, by=alice)
    client.force_login(bob)
    bob.is_active = False
    bob.save()
    assert "Sign in to fork" in client.get(path_of(link)).text
    assert client.post(f"{path_of(link)}fork/").headers["location"].startswith("/accounts/login/")
    assert not Conversation.objects.filter(owner=bob).exists()


@pytest.mark.parametrize("token", ["", "x", "é" * 43, "%00" * 43, "a" * 5000, "../" * 20])
def test_a_token_that_is_none_is_nowhere(client, token):
    assert client.get(f"/s/{token}/").status_code == 404


def test_an_open_page_can_ask_whether_it_still_is(leaf, alice, client):
    link = share(leaf, by=alice)
    with CaptureQueriesContext(connection) as asked:
        assert client.head(f"{path_of(link)}open/").status_code == 204
    assert len(asked) == 1
    revoke(link.token, by=alice)
    assert client.head(f"{path_of(link)}open/").status_code == 404


def test_a_reader_counts_once_a_day_and_the_owner_never(leaf, alice, bob, charlie):
    link = share(leaf, by=alice)
    readers = [Client(), Client(headers={"User-Agent": "another"}), Client(), Client(), Client()]
    for client, person in zip(readers[2:], (bob, charlie, alice), strict=True):
        client.force_login(person)
    for _ in range(3):
        for client in readers:
            assert client.get(path_of(link)).status_code == 200
    readers[0].head(path_of(link))
    assert Share.objects.get(pk=link.pk).opened == 4


def test_whoever_tries_many_links_has_to_wait(leaf, alice, client, monkeypatch):
    monkeypatch.setattr(views, "OPENINGS", Limit("share-openings", 3, timedelta(minutes=15)))
    link = share(leaf, by=alice)
    answers = [client.get(f"/s/{n:043}/").status_code for n in range(3)]
    assert answers == [404, 404, 404]
    assert client.get(path_of(link)).status_code == 429
    assert client.head(f"/s/{4:043}/open/").status_code == 429
    assert Client(REMOTE_ADDR="203.0.113.9").get(path_of(link)).status_code == 200


def test_what_attacks_a_page_stands_there_as_text(alice, client):
    some = "\n\n".join(ATTACKS)
    inside = [thought(text=some), call(text=some, name=some[:300]), result(text=some), text(text=some)]
    made = turn(alice, some, inside)
    Conversation.objects.update(title=some[:200], titled_by="person")
    link = share(Message.objects.get(pk=made.answer), by=alice)
    page = client.get(path_of(link)).text
    scripts = re.findall(r"<script[^>]*>", page)
    assert len(scripts) == 4 and all('src="/static/js/' in script for script in scripts)
    assert re.findall(r"<(?:iframe|object|embed|img|base|style)\b", page) == []
    assert re.findall(r"<[a-z][^<>]*\son[a-z]+=", page) == []


def long_branch(alice, turns):
    rich = "A paragraph of some words with *stress* and `code`.\n\n" * 12
    made = None
    for n in range(turns):
        inside = [thought(text=f"**Looking at {n}.** {rich}"), text(text=f"{rich}\n\n- {n}\n- more")]
        conversation = made and made.conversation
        made = turn(alice, f"Question {n}? {rich}", inside, made and made.answer, conversation)
    return share(Message.objects.get(pk=made.answer), by=alice)


def test_fifty_messages_are_few_questions_to_the_database_and_a_small_page(alice, client):
    link = long_branch(alice, 25)
    client.get(path_of(link))
    with CaptureQueriesContext(connection) as asked:
        page = client.get(path_of(link))
    assert len(re.findall("<article", page.text)) == 50
    assert len(asked) <= MOST_QUERIES
    files = set(re.findall(r'(?:href|src)="/static/([^"#]+)', page.text))
    assert len(files) > 8
    loaded = [page.content, *(client.get(f"/static/{name}").content for name in files)]
    assert sum(len(gzip.compress(one)) for one in loaded) <= MOST_BYTES


def test_a_long_branch_is_read_page_by_page(alice, client):
    link = long_branch(alice, 30)
    path = store.load_branch(link.leaf_id).messages
    first = client.get(path_of(link))
    assert 'href="?from=50"' in first.text and "Earlier messages" not in first.text
    second = client.get(f"{path_of(link)}?from=50")
    assert 'href="?from=0"' in second.text and "Later messages" not in second.text
    seen = [name for page in (first, second) for name in re.findall(r'data-message-id="([^"]+)"', page.text)]
    assert seen == [str(row.pk) for row in path]
    assert "30 questions." in first.text and "of thought" not in first.text


@pytest.mark.parametrize("start", ["x", "-1", "99999", "9" * 40, "²", ""])
def test_a_place_that_makes_no_sense_shows_something(leaf, alice, client, start):
    page = client.get(f"{path_of(share(leaf, by=alice))}?from={start}")
    assert page.status_code == 200 and "<article" in page.text


# The owner's side


@pytest.fixture
def she(client, alice):
    client.force_login(alice)
    return client


def test_a_link_is_made_without_scripts(she, leaf):
    asked = she.get(f"/m/{leaf.pk}/share/")
    assert {"thoughts", "tools", "expires"} <= set(re.findall(r'name="([a-z]+)"', asked.text))
    made = she.post(f"/m/{leaf.pk}/share/", {"tools": "on", "expires": "week"}, follow=True)
    row = Share.objects.get()
    assert (row.with_thoughts, row.with_tools, row.leaf) == (False, True, leaf)
    assert timedelta(days=6) < row.expires_at - timezone.now() < timedelta(days=8)
    assert f'value="http://testserver/s/{row.token}/"' in made.text
    assert "without thoughts, with tool details" in made.text and "never read" in made.text
    assert Client().get(path_of(row)).status_code == 200


def test_fields_that_a_person_may_not_set_are_ignored(she, leaf, alice, bob):
    other = turn(bob, "Elsewhere?", [text()])
    stolen = {
        field.name: str(bob.pk) for model in (Share, Conversation) for field in model._meta.get_fields()
    }
    del stolen["tools"]
    stolen |= {"leaf": str(other.answer), "leaf_id": str(other.answer), "token": "x" * 43, "opened": "99"}
    stolen |= {"revoked_at": "", "expires_at": "2999-01-01", "with_thoughts": "on", "with_tools": "on"}
    assert she.post(f"/m/{leaf.pk}/share/", stolen).status_code == 303
    made = Share.objects.get()
    assert (made.leaf, made.by, made.opened, made.revoked_at) == (leaf, alice, 0, None)
    assert made.token != "x" * 43 and not (made.with_thoughts or made.with_tools or made.expires_at)
    before = set(Conversation.objects.values_list("pk", flat=True))
    for path in (f"/m/{leaf.pk}/fork/", f"/s/{made.token}/fork/"):
        assert she.post(path, stolen).status_code == 302
    for row in Conversation.objects.exclude(pk__in=before):
        assert (row.owner, row.pinned_at, row.archived_at, row.deleted_at) == (alice, None, None, None)
        assert row.origin.by == row.origin.owner == alice and row.head.conversation == row


def test_a_double_click_makes_one_link(she, leaf):
    path = f"/m/{leaf.pk}/share/"
    form = {"key": re.findall(r'name="key" value="([^"]+)"', she.get(path).text)[0]}
    places = {she.post(path, form | {"thoughts": "on"}).headers["location"] for _ in range(2)}
    assert len(places) == 1 and Share.objects.count() == 1


def test_a_choice_that_makes_no_sense_shares_the_least(she, leaf):
    she.post(f"/m/{leaf.pk}/share/", {"expires": "for ever"})
    row = Share.objects.get()
    assert not row.with_thoughts and not row.with_tools
    assert row.expires_at - timezone.now() < timedelta(days=2)


def test_an_answer_that_is_being_written_is_not_shared(she, alice):
    started = store.open_conversation(alice, "Why?", tools=[], asked=AskedFor(model="demo:thinker"))
    response = she.post(f"/m/{started.answer}/share/", {"thoughts": "on"})
    assert response.status_code == 409 and "Share it when it has ended" in response.text
    assert not Share.objects.exists()


def test_links_are_listed_where_they_were_made_and_all_together(she, leaf, alice, bob):
    mine, other = share(leaf, by=alice), share(Message.objects.latest("created_at"), by=alice)
    his = turn(bob, "His?", [text()])
    foreign = share(Message.objects.get(pk=his.answer), by=bob)
    here, everywhere = she.get(f"/m/{leaf.pk}/share/").text, she.get("/shares/").text
    assert mine.token in here and other.token not in here
    assert mine.token in everywhere and other.token in everywhere
    assert foreign.token not in here + everywhere


def test_of_very_many_links_the_newest_are_listed(she, leaf, alice, monkeypatch):
    monkeypatch.setattr(sharing, "MOST_LISTED", 2)
    links = [share(leaf, by=alice) for _ in range(3)]
    page = she.get("/shares/").text
    assert [link.token in page for link in links] == [False, True, True]
    assert "And 1 older one:" in page


def test_a_link_that_is_over_is_listed_as_such(she, leaf, alice):
    link = share(leaf, by=alice)
    Share.objects.filter(pk=link.pk).update(expires_at=timezone.now() - timedelta(days=1), opened=2)
    page = she.get("/shares/").text
    assert "does not open any more" in page and "read 2 times" in page and f"/s/{link.token}/" not in page


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["browser", "script"])
def test_a_link_is_taken_back_once(she, leaf, alice, headers):
    link = share(leaf, by=alice)
    response = she.post(f"/shares/{link.pk}/revoke/", headers=headers)
    assert response.status_code == (200 if headers else 303)
    assert Client().get(path_of(link)).status_code == 404
    assert link.token not in she.get("/shares/").text
    assert she.post(f"/shares/{link.pk}/revoke/", headers=headers).status_code == 404


# Forking what was shared


def test_a_reader_forks_what_is_shown_and_goes_on(leaf, alice, bob, client):
    link = share(leaf, by=alice, with_thoughts=False, with_tools=False)
    before = list(Message.objects.order_by("pk").values_list())
    client.force_login(bob)
    response = client.post(f"{path_of(link)}fork/", {"key": str(uuid4())})
    made = Conversation.objects.get(owner=bob)
    assert response.headers["location"] == f"/c/{made.pk}/#message"
    page = unescape(client.get(f"/c/{made.pk}/").text)
    assert "Forked from “The shown question?” by alice" in page
    assert "<em>shown</em>" in page and 'id="message"' in page
    assert [word for word in (*HIDDEN, *THOUGHTS, *TOOLS) if word in page] == []
    assert list(Message.objects.exclude(conversation=made).order_by("pk").values_list()) == before
    assert [breach for breach in store.verify_log() if str(made.pk) in breach] == []


def test_the_fork_ends_at_the_message_that_was_chosen(leaf, alice, bob, client):
    link, until = share(leaf, by=alice), store.load_branch(leaf.pk).messages[1]
    client.force_login(bob)
    client.post(f"{path_of(link)}fork/", {"until": str(until.pk)})
    made = Conversation.objects.get(owner=bob)
    assert made.forked_from_id == until.pk and Message.objects.filter(conversation=made).count() == 2


def test_a_message_that_is_not_shown_is_no_end_of_a_fork(leaf, alice, bob, client):
    link = share(leaf, by=alice)
    shown = {row.pk for row in store.load_branch(leaf.pk).messages}
    hidden = Message.objects.exclude(pk__in=shown).values_list("pk", flat=True)
    client.force_login(bob)
    answers = {client.post(f"{path_of(link)}fork/", {"until": str(pk)}).content for pk in (*hidden, uuid4())}
    assert len(answers) == 1 and b"not there any more" in answers.pop()
    assert client.post(f"{path_of(link)}fork/", {"until": "x"}).status_code == 409
    assert not Conversation.objects.filter(owner=bob).exists()


def test_a_double_click_makes_one_fork(leaf, alice, bob, client):
    link, form = share(leaf, by=alice), {"key": str(uuid4())}
    client.force_login(bob)
    places = [client.post(f"{path_of(link)}fork/", form).headers["location"] for _ in range(2)]
    assert len(set(places)) == 1 and Conversation.objects.filter(owner=bob).count() == 1


def test_whoever_is_not_signed_in_comes_back_to_the_page(leaf, alice, client):
    link = share(leaf, by=alice)
    response = client.post(f"{path_of(link)}fork/")
    assert response.headers["location"] == f"/accounts/login/?next={path_of(link)}"
    entered = client.post(
        response.headers["location"], {"username": "alice", "password": "a long enough password"}
    )
    assert entered.headers["location"] == path_of(link)


def test_what_opens_nothing_cannot_be_forked(leaf, alice, bob, client):
    links = gone_in_each_way(leaf, alice)[:2]
    client.force_login(bob)
    for token in (*(link.token for link in links), "x" * 43, "x"):
        assert client.post(f"/s/{token}/fork/").status_code == 404
    assert not Conversation.objects.filter(owner=bob).exists()


def test_reading_by_a_link_gives_no_other_way_in(leaf, alice, bob, client):
    link = share(leaf, by=alice)
    client.force_login(bob)
    assert client.get(path_of(link)).status_code == 200
    ways = [
        f"/m/{leaf.pk}/{what}/"
        for what in ("share", "fork", "copy", "edit", "again", "delete", "go", "continue")
    ]
    ways += [f"/c/{leaf.conversation_id}/", f"/c/{leaf.conversation_id}/map/", f"/shares/{link.pk}/revoke/"]
    for way in ways:
        assert {client.get(way).status_code, client.post(way).status_code} <= {404, 405}, way
    assert Share.objects.filter(revoked_at=None).count() == 1
