"""One's own: found is what a plain reading finds, on either database; nothing of others, nothing that was deleted; page by page."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from chatapp import store
from chatapp.search.forms import WHERE, terms_of
from chatapp.search.store import finding
from chatapp.search.store.finding import WantedWords, find_inside, find_own, load_models
from chatapp.store import AskedFor, deleting, titles
from chatapp.store.models import Conversation, Item, Message
from tests.support.make import text, thought
from tests.support.reviewed import end, turn

from .golden import QUERIES, TURNS, expected

pytestmark = [pytest.mark.django_db, pytest.mark.both]
DEMO = "demo:thinker"


def said(owner, question, thinking, answer):
    started = store.open_conversation(owner, question, tools=[], asked=AskedFor(model=DEMO))
    end(started.answer, [thought(text=thinking), text(text=answer)])
    return started


def wanted(words, where=frozenset(WHERE), **more):
    return WantedWords(terms_of(words), frozenset(where), **more)


def all_pages(owner, looked_for):
    page = find_own(owner, looked_for)
    yield page
    while page.older:
        page = find_own(owner, looked_for, after=page.older)
        yield page


def texts(owner, words, **more):
    found = [
        hit.item
        for page in all_pages(owner, wanted(words, **more))
        for each in page.found
        for hit in each.items
    ]
    return set(Item.objects.filter(pk__in=found).values_list("text", flat=True))


def test_two_hundred_searches_find_what_a_plain_reading_finds(alice, bob):
    made = {said(alice, *words).conversation: n for n, words in enumerate(TURNS)}
    for words in TURNS[:3]:
        said(bob, *words)
    wrong = {}
    for query in QUERIES:
        looked_for = wanted(query, WHERE.keys() - {"title"})
        found = {
            (made[each.conversation.pk], hit.kind)
            for page in (all_pages(alice, looked_for) if looked_for.terms else ())
            for each in page.found
            for hit in each.items
        }
        if found != expected(query):
            wrong[query] = found ^ expected(query)
    assert wrong == {}


@pytest.mark.parametrize(
    "kind",
    [
        "[à-ÿ]",  # accents
        "[A-ZÀ-ÖΑ-ΩА-Я]",
        r"\A[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]\Z",
        r"\A[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}\Z",
        "%",
        "_",
        "[\U0001f300-\U0001faff]",
        '".* .*"',
        r"\\",
        "[\u0590-\u06ff]",
    ],
)
def test_there_are_searches_of_every_kind(kind):
    """Most of which find something."""
    assert len(set(QUERIES)) == 200 and sum(bool(expected(query)) for query in QUERIES) > 150
    assert sum(bool(re.search(kind, query)) for query in QUERIES) >= 3


def test_titles_are_found_as_they_are_now(alice):
    made = turn(alice, "Why?").conversation
    titles.retitle(made, "Café in Ghent")
    (found,) = find_own(alice, wanted("CAFE ghent")).found
    assert found.in_title and not found.items and found.count == 1
    titles.retitle(made, "Another one")
    assert not find_own(alice, wanted("cafe")).found
    assert not find_own(alice, wanted("another", WHERE.keys() - {"title"})).found


def test_only_what_was_chosen_is_looked_through(alice):
    said(alice, "needle asked", "needle thought", "needle said")
    assert texts(alice, "needle") == {"needle asked", "needle thought", "needle said"}
    assert texts(alice, "needle", where={"thought"}) == {"needle thought"}
    assert texts(alice, "needle", where={"question"}) == {"needle asked"}
    assert texts(alice, "needle", model=DEMO) == {"needle thought", "needle said"}
    assert texts(alice, "needle", model="demo:other") == set()


def test_only_what_was_said_since_then_is_found(alice):
    now = timezone.now()
    old = said(alice, "needle of old", "Hm.", "Yes.")
    said(alice, "needle of today", "Hm.", "Yes.")
    long_ago = now - timedelta(days=40)
    Message.objects.filter(conversation=old.conversation).update(created_at=long_ago)
    assert texts(alice, "needle", since=now - timedelta(days=30)) == {"needle of today"}


def test_what_a_tool_was_given_and_gave_is_not_among_ones_own(claimed, alice):
    from tests.support.make import call, result

    store.append_round(claimed, [call(text='{"a": "needle"}')], store.Measured())
    store.append_result(claimed, result("part-2", text="needle"), store.Measured())
    assert texts(alice, "needle") == set()


def test_nobody_finds_what_is_anothers(alice, charlie):
    said(alice, "needle", "needle", "needle")
    assert not find_own(charlie, wanted("needle")).found


def test_what_was_deleted_is_found_when_it_comes_back(alice):
    first = said(alice, "one", "Hm.", "Yes.")
    second = turn(alice, "needle", parent=first.answer, conversation=first.conversation)
    assert texts(alice, "needle", where={"question"}) == {"needle"}
    gone = deleting.delete_below(Message.objects.get(pk=second.question))
    assert texts(alice, "needle") == set()
    deleting.undo(gone.id, alice)
    assert texts(alice, "needle", where={"question"}) == {"needle"}
    deleting.delete_conversation(first.conversation)
    assert texts(alice, "needle") == set()
    deleting.restore_conversation(first.conversation, alice)
    assert texts(alice, "needle", where={"question"}) == {"needle"}


def test_pages_hold_every_conversation_once_the_newest_first(alice, monkeypatch, as_many_as_they_like):
    monkeypatch.setattr(finding, "FIRST", 3)
    made = [turn(alice, f"needle {n}" if n % 3 else "hay").conversation for n in range(40)]
    rows = [each.conversation.pk for page in all_pages(alice, wanted("needle")) for each in page.found]
    assert rows == [pk for n, pk in reversed(list(enumerate(made))) if n % 3]


def test_pages_of_the_same_moment_neither_lose_nor_double(alice, as_many_as_they_like):
    made = {turn(alice, "needle").conversation for _ in range(25)}
    Conversation.objects.update(updated_at=timezone.now())
    rows = [each.conversation.pk for page in all_pages(alice, wanted("needle")) for each in page.found]
    assert len(rows) == 25 and set(rows) == made


def test_who_takes_too_long_says_how_far_they_came(alice, monkeypatch, as_many_as_they_like):
    made = [turn(alice, "hay").conversation for _ in range(5)]
    monkeypatch.setattr(finding, "FIRST", 2)
    monkeypatch.setattr(finding, "LONGEST", -1)
    page = find_own(alice, wanted("needle"))
    assert page.is_late and page.older and page.older.id == made[-2]
    assert len(list(all_pages(alice, wanted("needle")))) == 4


def test_all_of_one_conversation_are_found_in_the_order_of_their_messages(alice):
    first = turn(alice, "needle 0")
    last = turn(alice, "needle 1", parent=first.answer, conversation=first.conversation)
    found = find_inside(Conversation.objects.get(pk=first.conversation), wanted("needle", {"question"}))
    assert found and [hit.message for hit in found.items] == [first.question, last.question]


def test_models_are_those_that_answered_one(alice, bob):
    turn(alice, "Why?")
    store.open_conversation(bob, "Why?", tools=[], asked=AskedFor(model="demo:bobs"))
    assert load_models(alice) == [DEMO]
    assert load_models(bob) == ["demo:bobs"]


def test_words_in_quotes_are_one_term():
    assert terms_of('one "two  THREE" four "five') == ("one", "two three", "four", "five")
    assert terms_of("“zwei «drei” x") == ("zwei", "drei", "x")
    assert terms_of('"" " " \u0301') == ()
    assert len(terms_of(" ".join(map(str, range(30))))) == 8
