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
from chatapp.pages.staff.site import site
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


def compared(row):
    """Two of its answers."""
    one, other = row.messages.filter(role="assistant").order_by("order").values_list("pk", flat=True)[:2]
    return f"{LIST}compare/?a={one}&b={other}"


def pages(row):
    return [
        "/admin/",
        "/admin/tables/",
        "/admin/chatapp/",
        "/admin/tools/",
        "/admin/providers/demo/",
        LIST,
        f"{LIST}?q={CANARY}",
        f"{LIST}file/",
        f"{FIND}?words={CANARY}",
        transcript(row),
        f"{LIST}{row.pk}/map/",
        compared(row),
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
    found = re.search(rf'<tr role="row" id="c-{row.pk}">.*?</tr>', page.text, re.DOTALL)
    return re.sub(r"<[^>]+>", " ", found[0]) if found else ""


def test_the_list_says_whose_it_is_how_long_it_thought_and_that_it_failed(her, hers):
    said = row_of(her.get(LIST), hers)
    for words in (f"Why {CANARY}?", "alice", "thinker", "4 messages", "failed", "7 s"):
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
        ("days=today", True),
        ("since=2001-01-01", True),
        ("until=2001-01-01", False),
        ("since=nonsense", True),
        ("thinking=1", True),
        ("thinking=60", False),
        ("failed=1", True),
        ("failed=1&model=demo:other", False),
        ("key=1", False),
        (f"q={CANARY}&state=failed&provider=demo&days=7&thinking=1", True),
        ("q=nobody&thinking=1", False),
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
    own = Conversation.objects.get(pk=ask(dana, "Mine?").conversation)
    assert f'"/review/ask/{hers.pk}/"' in her.get(transcript(hers)).text
    assert "/review/ask/" not in her.get(transcript(own)).text


def test_what_is_archived_is_listed_where_it_is_asked_for(her, hers):
    Conversation.objects.update(archived_at=hers.updated_at)
    assert not row_of(her.get(LIST), hers)
    assert "archived" in row_of(her.get(f"{LIST}?archived=1"), hers)


def test_what_a_program_drives_is_found_by_that(her, hers):
    Conversation.objects.update(program="Editor")
    assert "by Editor" in row_of(her.get(f"{LIST}?key=1"), hers)


def test_a_row_says_what_was_used_and_how_many_branches_there_are(her, alice):
    first = ask(alice, "Why?")
    answer(first, text(), usage={"input": 1200, "output": 34})
    again = ask(alice, "Otherwise?", conversation=first.conversation)
    answer(again, text(), usage={"input": 8000, "output": 766})
    row = Conversation.objects.get(pk=first.conversation)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", her.get(LIST).text, re.DOTALL)
    assert [re.sub(r"<[^>]+>|\s", "", cell) for cell in cells][2:5] == ["2", "–", "10k"]
    assert "10,000" not in row_of(her.get(LIST), row)


def test_what_was_chosen_is_said_and_taken_away_one_by_one(her, hers):
    page = her.get(f"{LIST}?q={CANARY}&state=failed&thinking=1").text
    assert f'<a href="?state=failed&amp;thinking=1">with “{CANARY}”' in page
    assert f'<a href="?q={CANARY}&amp;thinking=1">has a failed answer' in page


def test_the_list_leaves_as_a_file(her, hers):
    told = her.get(f"{LIST}file/?q=alice")
    lines = told.content.decode("utf-8-sig").splitlines()
    assert len(lines) == 2 and str(hers.pk) in lines[1] and '"7000"' in lines[1]
    assert str(hers.pk) not in her.get(f"{LIST}file/?q=nobody").content.decode()


def test_from_one_conversation_to_the_next_of_the_same_list(her, alice, bob):
    rows = [Conversation.objects.get(pk=ask(who, "Why?").conversation) for who in (alice, bob, alice)]

    def leads(row, way):
        return her.get(f"{LIST}beside/?of={row.pk}&way={way}&owner={alice.pk}").headers["location"]

    assert leads(rows[2], "older") == f"{transcript(rows[0])}?owner={alice.pk}"
    assert leads(rows[0], "newer") == f"{transcript(rows[2])}?owner={alice.pk}"
    assert leads(rows[0], "older") == f"{LIST}?owner={alice.pk}"
    assert leads(rows[1], "newer") == f"{transcript(rows[2])}?owner={alice.pk}"
    assert her.get(f"{LIST}beside/?of={uuid4()}").status_code == 404


def test_lists_and_forms_say_by_their_names_where_one_is(her, bob):
    for path, name in ((LIST, "Conversations"), (LOOKS, "Looks")):
        page = her.get(path).text
        assert f"<h2>{name}</h2>" in page and f"<title>{name} · Thoughtline</title>" in page
        assert re.search(rf'aria-current="page"><span class="clip">{name}</span>', page)
    page = her.get(PEOPLE).text
    assert "<h1>Users</h1>" in page and "<title>Users · Thoughtline</title>" in page
    assert re.search(r'class="breadcrumbs"><a href="/admin/">Home</a> &rsaquo; Users</div>', page)
    page = her.get(f"{PEOPLE}{bob.pk}/change/").text
    assert f'<a href="{PEOPLE}" data-up>Users</a> &rsaquo; bob</span>' in page
    page = her.get("/admin/tables/").text
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
    """What else stands in its address is nothing to it."""
    hidden = re.compile(r'(?<=value=")[A-Za-z0-9]{64}(?=")')
    page, usual = her.get(f"{LIST}?{query}"), her.get(LIST)
    assert hidden.sub("", page.text) == hidden.sub("", usual.text)


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


def ids_on(page):
    return re.findall(r'data-message-id="([^"]+)"', page.text)


def test_a_transcript_has_every_branch_every_duration_and_what_was_sent(her, hers):
    ids = [str(pk) for pk in hers.messages.order_by("order").values_list("pk", flat=True)]
    newest = her.get(transcript(hers))
    assert ids_on(newest) == ids[2:] and f'name="at" value="{ids[0]}"' in newest.text
    first = her.get(f"{transcript(hers)}?at={ids[0]}")
    assert ids_on(first) == ids[:2] and f'name="at" value="{ids[2]}"' in first.text
    assert first.text.count(f'<p dir="auto">Hm {CANARY}.</p>') == 1
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
        assert words in first.text + newest.text


def test_branches_are_read_without_moving_anybody(her, hers):
    head = hers.head_id
    first = hers.messages.order_by("order")[1]
    page = her.get(f"{transcript(hers)}?at={first.pk}")
    assert len(ids_on(page)) == 2
    assert "The provider refused." not in page.text
    hers.refresh_from_db()
    assert hers.head_id == head
    assert not hers.places.exists()


def test_nothing_of_a_transcript_can_be_done(her, hers):
    page = her.get(transcript(hers)).text.partition("<dialog")[0]
    for words in ("Retry", "Ask again", "Edit", "Fork", "Delete", "hx-post"):
        assert f">{words}<" not in page and f'aria-label="{words}"' not in page
    assert re.findall(r'<form[^>]*action="([^"]*)"', page) == ["/accounts/logout/"]


def long_one(alice, questions):
    started = ask(alice, "Question 0")
    for n in range(1, questions):
        answer(started, text(text=f"Answer {n}"))
        started = ask(alice, f"Question {n}", conversation=started.conversation, parent=started.answer)
    return Conversation.objects.get(pk=started.conversation), started


def test_a_long_conversation_opens_at_its_end_and_a_message_where_it_stands(her, alice):
    row, last = long_one(alice, 60)
    path = [str(pk) for pk in row.messages.order_by("order").values_list("pk", flat=True)]
    end = her.get(transcript(row))
    assert ids_on(end) == path[-50:]
    earlier = re.search(r'name="from" value="(\d+)">Earlier', end.text)[1]
    assert ids_on(her.get(f"{transcript(row)}?at={last.answer}&from={earlier}")) == path[20:70]
    found = her.get(f"{transcript(row)}?at={path[30]}")
    assert path[30] in ids_on(found) and path[-1] not in ids_on(found)
    later = re.search(r'name="from" value="(\d+)">Later', found.text)[1]
    assert path[75] in ids_on(her.get(f"{transcript(row)}?at={last.answer}&from={later}"))


def test_the_picker_keeps_what_the_list_was_asked_for(her, hers):
    page = her.get(f"{transcript(hers)}?state=failed&q=alice").text
    assert '<input type="hidden" name="state" value="failed">' in page
    assert f'href="{LIST}?q=alice&amp;state=failed"' in page


def test_the_map_leads_to_every_branch_and_to_a_comparison(her, hers):
    ids = [str(pk) for pk in hers.messages.order_by("order").values_list("pk", flat=True)]
    page = her.get(f"{LIST}{hers.pk}/map/").text
    assert re.findall(r'name="at" value="([^"]+)"', page) == ids
    assert re.findall(r'name="a" value="([^"]+)"', her.get(f"{LIST}{hers.pk}/map/?choose=1").text) == ids
    second = her.get(f"{LIST}{hers.pk}/map/?a={ids[1]}").text
    assert (
        f'action="{LIST}compare/"' in second and f'<input type="hidden" name="a" value="{ids[1]}">' in second
    )
    assert her.get(f"{LIST}{hers.pk}/map/?a={uuid4()}").status_code == 404


def test_two_branches_of_others_stand_side_by_side(her, hers):
    page = her.get(compared(hers)).text
    assert f"Hm {CANARY}." in page and "The provider refused." in page
    assert 'href="/c/' not in page
    assert her.get(f"{LIST}compare/?a={hers.head_id}&b={uuid4()}").status_code == 404
    assert her.get(f"{LIST}compare/?a={hers.head_id}").status_code == 404


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


@pytest.mark.parametrize("query", ["at", "whole"])
def test_a_message_of_elsewhere_is_not_there(her, hers, bob, query):
    other = ask(bob, "Elsewhere?")
    for name in (other.answer, uuid4(), "nonsense"):
        assert her.get(f"{transcript(hers)}?{query}={name}").status_code == 404


def test_a_conversation_that_is_not_there_is_not_found(her):
    for what in ("transcript", "map"):
        assert her.get(f"{LIST}{uuid4()}/{what}/").status_code == 404
    assert her.post(f"{LIST}{uuid4()}/stop/").status_code == 404


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


@pytest.mark.parametrize("path", [lambda row: f"{LIST}{row.pk}/map/", compared])
def test_a_map_and_a_comparison_are_looks_too(her, hers, dana, path):
    her.get(path(hers))
    (look,) = looking.looks_at(hers.pk)
    assert (look.who, look.what) == (dana, Look.What.TRANSCRIPT)


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
        f"{LIST}?thinking=1",
        f"{transcript(hers)}?whole={hers.head_id}",
        f"{LIST}{hers.pk}/map/?choose=1",
    ]:
        page = her.get(path)
        # What was asked for stands in the field of the search.
        asked = (f'value="{CANARY}"', f"q={CANARY}", f"with “{CANARY}”")
        said = page.text
        for words in asked:
            said = said.replace(words, "")
        assert CANARY not in said, path
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


def bodies():
    for row in Item.objects.filter(kind__in=BODIES):
        piece = ItemSoFar(key=row.key, kind=Kind(row.kind), text=row.text)
        yield visible("".join(blocks_of(row.message_id, piece)), Leave.PROSE)


def without_bodies(page):
    """What is formatted in them is safe, and no business of the page that they stand on."""
    for body in bodies():
        assert not read(body).wrong
        page = page.replace(f">{body}<", "><")
    return page


def shapes_of(her, alice, words):
    row = wicked(alice, words)
    answers = row.messages.filter(role="assistant").values_list("pk", flat=True)
    paths = [f"{transcript(row)}?at={pk}" for pk in answers]
    paths += ["/admin/", LIST, f"{LIST}{row.pk}/map/", compared(row)]
    paths += [f"{FIND}?words={CANARY}", PEOPLE, person(alice), LOOKS]
    found = [her.get(path) for path in paths]
    assert [page.status_code for page in found] == [200] * len(paths)
    assert [path for path, page in zip(paths, found, strict=True) if hides(page.text, Leave.PROSE)] == []
    assert all(any(body in page.text for page in found) for body in bodies())
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
        if page.status_code == 200 and "html" in page.headers["content-type"]:
            assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text), path
            assert "css/tokens" in page.text


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


# Every address of the site, whichever there are


def every_address(row):
    """With the ids of this conversation and its owner in place of whatever an address names."""
    found = []
    for pattern in walked(site.get_urls()):
        path = re.sub(r"<uuid:\w+>", str(row.pk), pattern)
        path = re.sub(r"<(?:path:|int:)(?:object_id|pk|content_type_id)>", str(row.owner_id), path)
        path = re.sub(r"<slug:\w+>", "demo", path)
        path = path.replace("<path:object_id>", "1").replace("<url>", "x").replace("<app_label>", "chatapp")
        found.append(f"/admin/{path}")
    return sorted({path for path in found if "(" not in path and "<" not in path})


def walked(patterns, before=""):
    for pattern in patterns:
        path = before + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from walked(pattern.url_patterns, path)
        else:
            yield path


def test_every_address_of_the_site_is_for_staff_alone(client, hers, alice, bob, charlie):
    paths = every_address(hers)
    assert {f"{LIST}{hers.pk}/stop/", f"{LIST}{hers.pk}/map/", "/admin/tools/", "/admin/"} <= set(paths)
    for path in paths:
        for person in (alice, bob, charlie):
            client.force_login(person)
            assert client.get(path).status_code == 404, path
            if path != "/admin/logout/":
                assert client.post(path).status_code == 404, path
    assert not Look.objects.exists()


def test_closed_no_address_of_the_site_says_a_word_of_a_chat(her, hers, settings):
    Conversation.objects.filter(pk=hers.pk).update(instructions=CANARY)
    queries = (
        "",
        f"?at={hers.head_id}",
        f"?whole={hers.head_id}",
        f"?a={hers.head_id}&b={hers.head_id}",
        "?words=bird",
    )
    settings.ADMIN_CAN_READ_CHATS = False
    for path in every_address(hers):
        if path == "/admin/logout/":
            continue
        for query in queries:
            assert CANARY not in her.get(path + query).text, path + query
        assert CANARY not in her.post(path, follow=True).text, path
    assert not Look.objects.exclude(what=Look.What.STOPPED).exists()
