"""Administrators look at conversations and people: everything of a conversation, nothing to change, and no look without a trace."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User

from chatapp import store
from chatapp.accounts.store import roles
from chatapp.core.history import Dropped
from chatapp.core.items import Kind
from chatapp.core.signs.visible import Leave, hides, visible
from chatapp.live.socket import SIGNED_OUT
from chatapp.oversight.models import Look
from chatapp.oversight.store import looks as looking
from chatapp.reviews.models import Verdict
from chatapp.reviews.store import reviewers, reviewing
from chatapp.reviews.store.submitting import submit, withdraw
from chatapp.search.store.folding import fold_items
from chatapp.store import AskedFor, Measured, changes, deleting, in_thread
from chatapp.store.models import Conversation, Item, Message, Status
from chatapp.thread.item_body import blocks_of
from chatapp.thread.items_so_far import ItemSoFar
from tests.markdown.safe_html import read
from tests.mcp_servers.test_admin import form_of
from tests.support.attacks import BREAKOUTS, FORMULAS, HALVES, HTMX, LINKS, REQUESTS, SCRIPTS
from tests.support.listening import listening
from tests.support.make import call, result, seen, text, thought
from tests.support.stage import play

pytestmark = pytest.mark.django_db

LIST, FIND = "/admin/chatapp/conversation/", "/admin/chatapp/conversation/find/"
PEOPLE, LOOKS = "/admin/auth/user/", "/admin/chatapp/look/"
CANARY = "canarybird"
UUIDS = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|before=[0-9]+|/[0-9]+/"
BODIES = (Kind.USER_MESSAGE, Kind.REASONING, Kind.ASSISTANT_MESSAGE)
OVERRIDE = "\u202eevil\u200b"


@pytest.fixture
def her(client, dana):
    client.force_login(dana)
    return client


def ask(owner, words, *, conversation=None, parent=None, model="demo:thinker"):
    asked = AskedFor(model=model)
    if conversation is None:
        return store.open_conversation(owner, words, tools=[], asked=asked)
    return store.start_turn(conversation, words, parent=parent, author=owner, asked=asked)


def answer(started, *items, ms=7000, **facts):
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    facts = {"round": 0, "model": "demo:thinker", "messages": 3, "shape": ["a shape"]} | facts
    thoughts = {item.key: ms for item in items if item.kind == "reasoning"}
    store.finish(claim, items, Measured(durations=thoughts, round=facts, elapsed=9000))


def fail(started):
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    ended = {"reason": "provider", "sentence": "The provider refused.", "raw": f"raw words {CANARY}"}
    store.give_up(claim, Status.FAILED, seen(1), Measured(), ended)


@pytest.fixture
def hers(alice):
    """A conversation of alice with a thought, a call and its result, a second branch, and a failure."""
    first = ask(alice, f"Why {CANARY}?")
    thinks = thought(text=f"Hm {CANARY}.")
    answer(
        first,
        thinks,
        call(text=f'{{"q":"{CANARY}"}}'),
        result(text=CANARY),
        text(),
        replayed=2,
        dropped={Dropped.CUT: 1},
    )
    again = ask(alice, f"Otherwise {CANARY}?", conversation=first.conversation)
    fail(again)
    return Conversation.objects.get(pk=first.conversation)


def transcript(row):
    return f"{LIST}{row.pk}/transcript/"


def pages(row):
    return [
        "/admin/",
        "/admin/chatapp/",
        LIST,
        f"{LIST}?q={CANARY}",
        f"{FIND}?words={CANARY}",
        transcript(row),
        PEOPLE,
        f"{PEOPLE}{row.owner_id}/change/",
        f"{PEOPLE}{row.owner_id}/history/",
        f"{PEOPLE}{row.owner_id}/delete/",
        LOOKS,
    ]


# Who comes in


def test_for_everybody_but_staff_nothing_is_there(client, hers, alice, bob, charlie):
    for path in pages(hers):
        for person in (alice, bob, charlie):
            client.force_login(person)
            assert client.get(path).status_code == 404, path
            assert client.post(path).status_code == 404, path
        client.logout()
        assert client.get(path).headers["location"].startswith("/accounts/login/?next=/admin/")
    assert not Look.objects.exists()


def test_a_deactivated_administrator_finds_nothing(client, hers, dana):
    client.force_login(dana)
    User.objects.filter(pk=dana.pk).update(is_active=False)
    for path in pages(hers):
        assert client.get(path).status_code in (302, 404)
    assert not Look.objects.exists()


def test_conversations_are_only_looked_at(her, hers):
    before = {
        model: list(model.objects.values_list()) for model in apps.get_app_config("chatapp").get_models()
    }
    for path in (f"{LIST}add/", f"{LIST}{hers.pk}/change/", f"{LIST}{hers.pk}/delete/", f"{LIST}{hers.pk}/"):
        assert her.get(path).status_code == 404
        assert her.post(path, {"title": "Mine", "post": "yes"}).status_code == 404
    for path in (LIST, transcript(hers), FIND):
        data = {"action": "delete_selected", "_selected_action": str(hers.pk), "form-0-title": "Mine"}
        assert her.post(path, data).status_code == 405
    assert {model: list(model.objects.values_list()) for model in before} == before


def test_the_audit_cannot_be_written_or_removed(her, hers, dana):
    looking.append_looks(dana, [hers.pk], Look.What.TRANSCRIPT, address="")
    look = Look.objects.get()
    for path in (f"{LOOKS}add/", *(f"{LOOKS}{look.pk}/{what}/" for what in ("change", "delete"))):
        assert her.get(path).status_code == 404
        assert her.post(path, {"name": "nobody", "post": "yes"}).status_code == 404
    her.post(LOOKS, {"action": "delete_selected", "_selected_action": str(look.pk), "post": "yes"})
    assert Look.objects.get().name == "dana"
    assert "opened the transcript" in her.get(LOOKS).text


# The list


def row_of(page, row):
    found = re.search(rf"<tr>(?:(?!</tr>).)*{row.pk}.*?</tr>", page.text, re.DOTALL)
    return re.sub(r"<[^>]+>", " ", found[0]) if found else ""


def test_the_list_says_whose_it_is_how_long_it_thought_and_that_it_failed(her, hers):
    said = row_of(her.get(LIST), hers)
    for words in (f"Why {CANARY}?", "alice", "demo:thinker", "4", "has failures", "7 s"):
        assert words in said


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=alice", True),
        ("q=ALI", True),
        (f"q={CANARY}", True),
        (f"q=alice+{CANARY}", True),
        ("q=nobody", False),
        ("model=demo:thinker", True),
        ("provider=demo", True),
        ("state=failed", True),
        ("state=waits", False),
        ("state=answering", False),
        ("days=1", True),
        ("days=older", False),
        ("thinking=0", True),
        ("thinking=60", False),
        (f"q={CANARY}&state=failed&provider=demo&days=7&thinking=0", True),
        ("q=nobody&thinking=0", False),
        ("thinking=nonsense", True),
    ],
)
def test_the_list_is_searched_and_narrowed(her, hers, query, found):
    page = her.get(f"{LIST}?{query}")
    assert page.status_code == 200
    assert (str(hers.pk) in page.text) is found


def test_the_list_of_what_is_under_review_and_of_what_was_judged(her, hers, alice, bob):
    roles.set_roles(bob, active=True, staff=False, reviewer=True)

    def found():
        return [str(hers.pk) in her.get(f"{LIST}?review={state}").text for state in ("open", "judged")]

    assert found() == [False, False]
    row = submit(
        Message.objects.filter(conversation=hers, status="complete", role="assistant").get(), by=alice
    )
    assert found() == [True, False]
    reviewing.claim(row, by=bob)
    reviewing.give_verdict(row, by=bob, verdict=Verdict.APPROVED)
    assert found() == [False, True]
    withdraw(row)
    assert found() == [False, False]


def test_owners_are_asked_to_submit_by_others_alone(her, hers, dana):
    own = ask(dana, "Mine?").conversation
    page = her.get(LIST).text
    assert f'"/review/ask/{hers.pk}/"' in page and f"/review/ask/{own}/" not in page


def test_lists_and_forms_say_by_their_names_where_one_is(her, bob):
    for path, name in ((LIST, "Conversations"), (PEOPLE, "Users"), (LOOKS, "Looks")):
        page = her.get(path).text
        assert f"<h1>{name}</h1>" in page and f"<title>{name} · Thoughtline</title>" in page
        assert re.search(rf'class="breadcrumbs"><a href="/admin/">Home</a> &rsaquo; {name}</div>', page)
    page = her.get(f"{PEOPLE}{bob.pk}/change/").text
    assert f'<a href="{PEOPLE}">Users</a> &rsaquo; bob</div>' in page
    page = her.get("/admin/").text
    assert "People" in page and "Authentication and Authorization" not in page


def test_the_list_of_one_person(her, hers, bob):
    assert str(hers.pk) in her.get(f"{LIST}?owner={hers.owner_id}").text
    assert str(hers.pk) not in her.get(f"{LIST}?owner={bob.pk}").text


def test_what_was_deleted_is_not_listed_and_not_opened(her, hers):
    deleting.delete_conversation(hers.pk)
    assert str(hers.pk) not in her.get(LIST).text
    assert her.get(transcript(hers)).status_code == 404
    assert CANARY not in her.get(f"{FIND}?words=bird").text


@pytest.mark.parametrize(
    "query",
    [
        "title__contains=a",
        "instructions__contains=a",
        "messages__items__text__contains=a",
        "owner__password__startswith=m",
    ],
)
def test_nothing_is_asked_of_the_list_but_what_it_offers(her, hers, query):
    assert her.get(f"{LIST}?{query}").status_code == 400


def test_a_page_of_the_list_takes_as_many_queries_for_forty_rows_as_for_one(
    her, hers, alice, django_assert_max_num_queries
):
    with django_assert_max_num_queries(30) as one:
        her.get(LIST)
    for n in range(40):
        answer(ask(alice, f"Number {n}?"), thought(), text())
    with django_assert_max_num_queries(len(one)):
        assert her.get(LIST).text.count("/transcript/") == 41


# The transcript


def test_a_transcript_has_every_branch_every_duration_and_what_was_sent(her, hers):
    page = her.get(transcript(hers))
    ids = [str(pk) for pk in hers.messages.order_by("order").values_list("pk", flat=True)]
    assert re.findall(r'data-message-id="([^"]+)"', page.text) == ids
    assert page.text.count(f'<p dir="auto">Hm {CANARY}.</p>') == 1
    for words in (
        "Thought for 7 seconds",
        f"Hm {CANARY}.",
        "<code>clock</code>",
        "2 thoughts went back to their models word for word; 1 was left out because it was cut off.",
        "a shape",
        "The provider refused.",
        f"raw words {CANARY}",
        "In all",
    ):
        assert words in page.text


def test_one_branch_alone_is_chosen_without_moving_its_owner(her, hers):
    head = hers.head_id
    first = hers.messages.order_by("order")[1]
    page = her.get(f"{transcript(hers)}?branch={first.pk}")
    assert len(re.findall("data-message-id", page.text)) == 2
    assert "The provider refused." not in page.text
    hers.refresh_from_db()
    assert hers.head_id == head
    assert not hers.places.exists()


def test_a_long_conversation_comes_in_pages_and_a_message_opens_its_own(her, alice):
    started = ask(alice, "Question 0")
    for n in range(1, 60):
        answer(started, text(text=f"Answer {n}"))
        started = ask(alice, f"Question {n}", conversation=started.conversation, parent=started.answer)
    row = Conversation.objects.get(pk=started.conversation)
    first, last = her.get(transcript(row)), her.get(f"{transcript(row)}?at={started.question}")
    assert "Page 1 of 3" in first.text and "Question 0" in first.text and "Question 59" not in first.text
    assert "Page 3 of 3" in last.text and "Question 59" in last.text
    assert len(re.findall("data-message-id", first.text)) == 50


def test_a_very_long_text_is_shown_whole_where_it_is_asked_for(her, alice):
    started = ask(alice, "x" * 30_000 + "the end")
    row = Conversation.objects.get(pk=started.conversation)
    assert "the end" not in her.get(transcript(row)).text
    assert "the end" in her.get(f"{transcript(row)}?whole={started.question}").text


def test_what_is_too_much_to_be_formatted_is_formatted_where_it_stands_alone(her, alice):
    started = ask(alice, "Why?")
    long = "**strong**\n\n" + "word " * 2500
    answer(started, *(text(f"msg_{n}", text=long) for n in range(6)))
    page = her.get(transcript(Conversation.objects.get()))
    assert (
        page.text.count("<strong>strong</strong>") == 4 and page.text.count('<pre class="plain">**str') == 2
    )
    assert "stand as they were written" in page.text
    alone = her.get(f"{transcript(Conversation.objects.get())}?whole={started.answer}")
    assert alone.text.count("<strong>strong</strong>") == 6 and "as they were written" not in alone.text


@pytest.mark.parametrize("query", ["at", "branch", "whole"])
def test_a_message_of_elsewhere_is_not_there(her, hers, bob, query):
    other = ask(bob, "Elsewhere?")
    for name in (other.answer, uuid4(), "nonsense"):
        assert her.get(f"{transcript(hers)}?{query}={name}").status_code == 404


def test_a_conversation_that_is_not_there_is_not_found(her):
    assert her.get(f"{LIST}{uuid4()}/transcript/").status_code == 404


# The trace


def test_whoever_opens_a_transcript_is_seen_by_its_owner(her, hers, dana):
    her.get(transcript(hers), REMOTE_ADDR="203.0.113.9")
    (look,) = looking.looks_at(hers.pk)
    assert (look.who, look.what, look.address) == (dana, Look.What.TRANSCRIPT, "203.0.113.9")
    her.head(transcript(hers))
    assert len(looking.looks_at(hers.pk)) == 2


def test_the_owner_is_told_on_the_page_of_the_conversation(client, her, hers, alice):
    address = f"/c/{hers.pk}/"
    her.get(transcript(hers))
    client.force_login(alice)
    page = client.get(address).content.decode()
    assert "An administrator looked at this once" in page and "dana opened the transcript" in page


def test_a_foreign_header_does_not_say_where_a_look_came_from(her, hers):
    her.get(transcript(hers), REMOTE_ADDR="203.0.113.9", headers={"x-forwarded-for": "198.51.100.1"})
    assert looking.looks_at(hers.pk)[0].address == "203.0.113.9"


def test_a_look_is_kept_even_when_its_page_breaks(her, hers, monkeypatch):
    her.raise_request_exception = False
    monkeypatch.setattr("chatapp.oversight.views.transcript.browsing.load_replay", lambda pk: 1 / 0)
    assert her.get(transcript(hers)).status_code == 500
    assert Look.objects.count() == 1


def test_a_search_leaves_a_row_for_each_conversation_that_it_shows(her, hers, bob, dana):
    other = ask(bob, f"Also {CANARY}")
    own = ask(dana, f"My {CANARY}")
    ask(bob, "Nothing of it")
    page = her.get(f"{FIND}?words={CANARY.upper()}")
    assert page.text.count("<mark>") >= 6
    assert sorted(Look.objects.values_list("conversation", flat=True)) == sorted(
        [hers.pk, other.conversation]
    )
    assert set(Look.objects.values_list("what", flat=True)) == {Look.What.SEARCH}
    assert str(own.conversation) in page.text


def test_a_search_leads_to_the_message_that_was_found(her, hers):
    page = her.get(f"{FIND}?words=Hm+{CANARY}")
    found = re.search(rf"{transcript(hers)}\?at=([^#]+)#m-\1", page.text)
    assert Message.objects.get(pk=found[1]).items.filter(text__contains="Hm").exists()


def test_a_search_goes_on_with_older_ones(her, alice):
    started = ask(alice, "First of many")
    Item.objects.bulk_create(
        Item(message_id=started.question, seq=n, key=f"part-{n}", kind="user_message", text=f"many {n}")
        for n in range(1, 30)
    )
    fold_items(Item.objects.all())
    first = her.get(f"{FIND}?words=many")
    assert first.text.count("<mark>") == 20
    older = re.search(r'href="(\?words=many&amp;before=\d+)"', first.text)[1].replace("&amp;", "&")
    assert "First of <mark>many" in her.get(FIND + older).text


@pytest.mark.parametrize(
    "query", ["", "?words=", "?words=%00%00%00", "?words=%22%20%22", "?words=bird&before=x", "?before=9"]
)
def test_a_search_that_makes_no_sense_finds_nothing_and_breaks_nothing(her, query):
    page = her.get(FIND + query)
    assert page.status_code == 200 and "<mark>" not in page.text


# Closed


def test_closed_means_that_no_word_of_a_chat_is_on_any_page(her, hers, settings):
    assert any(CANARY in her.get(path).text for path in pages(hers))
    Look.objects.all().delete()
    settings.ADMIN_CAN_READ_CHATS = False
    for path in [
        *pages(hers),
        f"{LIST}?state=failed",
        f"{LIST}?thinking=0",
        f"{transcript(hers)}?whole={hers.head_id}",
    ]:
        page = her.get(path)
        # What was asked for stands in the field of the search.
        assert CANARY not in page.text.replace(f'value="{CANARY}"', "").replace(f"q={CANARY}", ""), path
    assert not Look.objects.exists()


def test_no_way_past_the_pages_names_a_conversation_by_its_title(her, hers, dana, settings):
    """What Django's admin offers besides: each row has a page and a history, and names complete themselves."""
    Conversation.objects.filter(pk=hers.pk).update(title=CANARY)
    looking.append_looks(dana, [hers.pk], Look.What.TRANSCRIPT, address="")
    look = Look.objects.get()
    ways = [f"{LOOKS}{look.pk}/{what}" for what in ("", "change/", "history/", "delete/")]
    for field in ("conversation", "who", "id"):
        ways.append(f"/admin/autocomplete/?app_label=chatapp&model_name=look&field_name={field}")
    ways.append("/admin/autocomplete/?app_label=chatapp&model_name=dailylimit&field_name=user")
    for closed in (True, False):
        settings.ADMIN_CAN_READ_CHATS = not closed
        for way in ways:
            page = her.get(way, follow=True)
            assert CANARY not in page.text, way
            assert page.status_code == 404, way
    assert Look.objects.count() == 1
    assert CANARY not in f"{hers} {look} {look.conversation}"


def test_closed_pages_say_so_whether_or_not_the_conversation_is_there(her, hers, settings):
    settings.ADMIN_CAN_READ_CHATS = False
    there, missing = her.get(transcript(hers)), her.get(f"{LIST}{uuid4()}/transcript/")
    assert there.status_code == missing.status_code == 403
    hidden = re.compile(r'(?<=value=")[A-Za-z0-9]{64}(?=")')
    assert hidden.sub("", there.text) == hidden.sub("", missing.text)
    assert "ADMIN_CAN_READ_CHATS" in there.text and "ADMIN_CAN_READ_CHATS" in her.get(LIST).text
    assert her.get(f"{FIND}?words={CANARY}").status_code == 403


def test_closed_titles_are_not_guessed_by_searching(her, hers, settings):
    settings.ADMIN_CAN_READ_CHATS = False
    assert str(hers.pk) not in her.get(f"{LIST}?q={CANARY}").text
    assert str(hers.pk) in her.get(f"{LIST}?q=alice").text


# Hostile words


class Shape(HTMLParser):
    """The elements of a page with the names of their attributes, and where they lead."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        leads = [re.sub(UUIDS, "", value or "") for name, value in attrs if name in ("href", "src")]
        self.found.append((tag, *(name for name, _ in attrs), *(lead for lead in leads if "%" not in lead)))


def wicked(alice, words):
    """Everything that is text says these words."""
    User.objects.filter(pk=alice.pk).update(username=" ".join(words.split())[:100])
    started = ask(alice, f"{words} {CANARY}", model=f"demo:{words[:100]}")
    failed = ask(alice, f"{words}?", conversation=started.conversation)
    claim = store.claim_turn(failed.answer, runner="here", seen=0)
    ended = {"reason": "provider", "sentence": words, "raw": words}
    store.give_up(claim, Status.FAILED, seen(1), Measured(), ended)
    answer(started, thought(text=words), call(name=words, text=words), result(text=words), text(text=words))
    Conversation.objects.update(title=words[:150], instructions=words)
    return Conversation.objects.get()


def without_bodies(page):
    """What is formatted in them is safe, and no business of the page that they stand on."""
    bodies = []
    for row in Item.objects.filter(kind__in=BODIES):
        piece = ItemSoFar(key=row.key, kind=Kind(row.kind), text=row.text)
        bodies.append(visible("".join(blocks_of(row.message_id, piece)), Leave.PROSE))
    if "data-body" not in page:
        return page
    for body in bodies:
        assert not read(body).wrong and body in page
    for body in bodies:
        page = page.replace(f">{body}<", "><")
    return page


def shapes_of(her, alice, words):
    row = wicked(alice, words)
    paths = [LIST, transcript(row), f"{FIND}?words={CANARY}", PEOPLE, person(alice), LOOKS]
    found = [her.get(path) for path in paths]
    assert [page.status_code for page in found] == [200] * len(paths)
    assert not hides("".join(page.text for page in found), Leave.PROSE)
    shapes = [Shape(without_bodies(page.text)).found for page in found]
    Conversation.objects.update(head=None)
    for model in (Item, Message, Look, Conversation):
        model.objects.all().delete()
    return shapes


@pytest.mark.parametrize("attacks", [SCRIPTS, LINKS, BREAKOUTS, FORMULAS, HTMX, REQUESTS, HALVES], ids=len)
def test_words_of_others_are_words_and_nothing_else(her, alice, attacks):
    calm = shapes_of(her, alice, "calm")
    for words in attacks[:: max(1, len(attacks) // 9)]:
        for page, usual in zip(shapes_of(her, alice, words + OVERRIDE), calm, strict=True):
            assert [one for one in page if one not in usual] == [], words
            assert len(page) == len(usual), words


def test_pages_need_no_inline_script_and_no_inline_style(her, hers):
    for path in pages(hers):
        page = her.get(path)
        if page.status_code == 200:
            assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text), path
            assert "css/tokens" in page.text and "css/admin" in page.text


# People


def person(user):
    return f"{PEOPLE}{user.pk}/change/"


def test_people_are_listed_with_what_they_are_and_have(her, hers, bob):
    roles.set_roles(bob, active=False, staff=False, reviewer=True)
    text = her.get(PEOPLE).text
    rows = {
        name: re.sub(r"<[^>]+>", " ", row)
        for row in re.findall(r"<tr>.*?</tr>", text, re.DOTALL)
        for name in ("alice", "bob", "dana")
        if f">{name}<" in row
    }
    assert "reviewer" in rows["bob"] and "administrator" in rows["dana"]
    assert "1" in rows["alice"]
    assert (
        "bob" in her.get(f"{PEOPLE}?role=reviewer").text
        and ">alice<" not in her.get(f"{PEOPLE}?role=reviewer").text
    )
    assert ">bob<" in her.get(f"{PEOPLE}?role=inactive").text


def test_a_persons_page_says_what_they_used(her, alice):
    answer(ask(alice, "Why?"), text(), usage={"input": 1200, "output": 34})
    assert "1,200 tokens in and 34 out, in 1 answers" in her.get(person(alice)).text


def test_roles_are_given_and_taken(her, bob):
    sent = form_of(her.get(person(bob)))
    assert her.post(person(bob), sent | {"reviewer": "on", "is_staff": "on"}).status_code == 302
    bob.refresh_from_db()
    assert bob.is_staff and reviewers.is_reviewer(bob) and bob.is_active
    sent = form_of(her.get(person(bob)))
    assert sent["reviewer"] == "on"
    for name in ("reviewer", "is_staff", "is_active"):
        sent.pop(name)
    her.post(person(bob), sent)
    bob.refresh_from_db()
    assert not (bob.is_staff or bob.is_active or reviewers.is_reviewer(bob))
    assert Group.objects.count() == 1


def test_nothing_else_of_a_person_can_be_written(her, bob):
    before = User.objects.filter(pk=bob.pk).values().get()
    fields = {field.name: "1" for field in User._meta.get_fields() if not field.is_relation}
    sent = (
        form_of(her.get(person(bob))) | fields | {"is_active": "on", "is_staff": "", "email": "b@example.org"}
    )
    assert her.post(person(bob), sent).status_code == 302
    after = User.objects.filter(pk=bob.pk).values().get()
    assert {name for name in before if before[name] != after[name]} == {"email"}
    assert bob.password not in her.get(person(bob)).text


def test_nobody_locks_themselves_out(her, dana):
    assert her.post(person(dana), {"is_staff": ""}).status_code == 403
    dana.refresh_from_db()
    assert dana.is_staff and dana.is_active


def test_who_stands_above_all_is_changed_by_their_like_alone(client, dana, bob):
    roles.set_roles(bob, active=True, staff=True, reviewer=False)
    client.force_login(bob)
    assert client.get(person(dana)).status_code == 200
    assert client.post(person(dana), {}).status_code == 403
    dana.refresh_from_db()
    assert dana.is_active


def test_who_has_conversations_is_not_deleted_here(her, hers, bob):
    owner = hers.owner
    assert her.post(f"{PEOPLE}{owner.pk}/delete/", {"post": "yes"}).status_code == 403
    her.post(PEOPLE, {"action": "delete_selected", "_selected_action": str(owner.pk), "post": "yes"})
    assert User.objects.filter(pk=owner.pk).exists()
    assert her.post(f"{PEOPLE}{bob.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not User.objects.filter(pk=bob.pk).exists()


def test_people_are_not_asked_for_by_their_passwords(her, alice):
    assert her.get(f"{PEOPLE}?password__startswith=md5").status_code == 400


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("active", [True, False])
def test_whoever_is_deactivated_hears_no_more_on_a_page_that_is_open(alice, active):
    async def story():
        async with listening(alice, path="/ws/") as socket:
            await in_thread(roles.set_roles)(alice, active=active, staff=False, reviewer=False)
            if active:
                await in_thread(changes.tell)((await in_thread(ask)(alice, "Why?")).conversation, "listed")
                await socket.sees(lambda it: it.said)
            else:
                assert await socket.is_closed() == SIGNED_OUT

    play(story())
