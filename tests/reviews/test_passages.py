"""Notes on words of what was submitted: they quote what is there, and nothing else."""

from __future__ import annotations

import re
from html import unescape

import pytest

from chatapp import store
from chatapp.reviews.models import Note
from chatapp.reviews.page.passages import words_of
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Status
from tests.support.make import text, thought
from tests.support.reviewed import DEMO, browser, end, message, reviewer, turn

pytestmark = [pytest.mark.both, pytest.mark.django_db]

SAID = "Take *the* long way.\n\n```sql\nSELECT 1\n```\n\n- One `way`\n- Another"


@pytest.fixture
def answer(alice):
    started = store.open_conversation(alice, "Which way?", tools=[], asked=AskedFor(model=DEMO))
    end(started.answer, [thought(text="Is **any** way long?"), text(text=SAID)])
    return started


@pytest.fixture
def row(answer, alice, bob):
    made = submit(message(answer.answer), by=alice)
    reviewing.claim(made, by=reviewer(bob))
    return made


def note(client, row, answer, **said):
    form = {"message": str(answer.answer), "text": "Hm.", "item": text().key, "begins": "5"} | said
    return client.post(f"/review/{row.pk}/note/", form)


@pytest.mark.parametrize(
    "item, quote",
    [
        (text().key, "the long way"),
        (text().key, "long way.\n SELECT 1"),
        (text().key, "SELECT 1\n\nOne way\nAnother"),
        (thought().key, "any way"),
    ],
)
def test_a_note_keeps_its_words_and_their_place(row, answer, alice, bob, item, quote):
    assert note(browser(bob), row, answer, item=item, quote=quote).status_code == 303
    kept = Note.objects.get()
    assert (kept.item_key, kept.quote, kept.begins) == (item, quote, 5)
    for person in (alice, bob):
        page = unescape(browser(person).get(f"/review/{row.pk}/").text)
        assert f'data-quote="{quote}"' in page and f"<q>{' '.join(quote.split())}</q>" in page


@pytest.mark.parametrize(
    "said",
    [
        {"quote": "the short way"},
        {"quote": "*the* long way"},
        {"quote": "any way"},
        {"quote": "Copy code"},
        {"quote": "long way", "item": "msg_unknown"},
        {"quote": "long way", "item": "part-0"},
        {"quote": " \n "},
        {"quote": "x" * 2001},
        {"quote": "long way", "begins": "-1"},
        {"quote": "long way", "begins": "99999999999"},
        {"quote": "long way", "item": "x" * 201},
    ],
)
def test_words_that_nobody_said_are_not_quoted(row, answer, bob, said):
    assert note(browser(bob), row, answer, **said).status_code == 409
    assert not Note.objects.exists()


def test_words_that_came_after_it_was_submitted_are_not_quoted(alice, bob):
    first = turn(alice, "Why?")
    started = store.start_turn(
        first.conversation, "And?", parent=first.answer, author=alice, asked=AskedFor(model=DEMO)
    )
    end(started.answer, [text(text="Half of it")])
    type(message(started.answer)).objects.filter(pk=started.answer).update(status=Status.STOPPED)
    row = submit(message(started.answer), by=alice)
    reviewing.claim(row, by=reviewer(bob))
    assert store.requeue(started.answer)
    claim = store.claim_turn(started.answer, runner="here", seen=1)
    store.finish(claim, [text(key="msg_9", text="canary")], Measured(durations={}, timings={}, elapsed=1))
    for item in ("msg_9", text().key):
        assert note(browser(bob), row, started, item=item, quote="canary").status_code == 409
    assert note(browser(bob), row, started, quote="Half").status_code == 303


def test_an_answer_to_a_note_stands_on_no_passage(row, answer, alice, bob):
    note(browser(bob), row, answer, quote="long way")
    first = Note.objects.get()
    browser(alice).post(
        f"/review/{row.pk}/note/",
        {"answer_to": first.pk, "text": "Why?", "item": "x", "quote": "nobody said"},
    )
    assert Note.objects.latest("pk").quote == ""


def test_what_a_page_says_of_an_item_is_none_of_its_words():
    shown = '<p>One</p><div class="code" title="a > b"><header>sql <button>Copy code</button></header><pre>x &lt; 1</pre></div>'
    assert words_of(shown + '<p>a<span class="unseen">hidden <i>too</i></span></p>') == "Onex < 1a"
    assert words_of("") == ""


def test_a_page_of_a_review_has_what_it_needs_to_ask_what_is_new(row, answer, bob):
    client = browser(bob)
    note(client, row, answer, quote="long way")
    page = client.get(f"/review/{row.pk}/").text
    first = Note.objects.get()
    for name in (
        f'id="note-{first.pk}"',
        f'id="said-{first.pk}"',
        f'id="t-m-{answer.answer}"',
        'data-stands=""',
    ):
        assert page.count(name) == 1
    assert len(set(re.findall(r' id="([^"]+)"', page))) == len(re.findall(r' id="([^"]+)"', page))
