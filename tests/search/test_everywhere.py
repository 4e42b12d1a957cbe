"""All that was said: found with an index, without one, and half with it, is what a plain reading finds, on either database."""

from __future__ import annotations

import zlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.search.forms import terms_of
from chatapp.search.models import FoldedItem, GramBits, GramSegment
from chatapp.search.part import Searchable
from chatapp.search.store import everywhere, filling, grams
from chatapp.search.store.everywhere import find_everywhere
from chatapp.search.verify import index_breaches
from chatapp.store import AskedFor, deleting, verify_log
from chatapp.store.models import Conversation, Item, Message
from tests.support.make import text, thought
from tests.support.reviewed import end

from .golden import QUERIES, TURNS, expected

pytestmark = [pytest.mark.django_db, pytest.mark.both]
DEMO = "demo:thinker"
SMALL = 8


@pytest.fixture
def small(monkeypatch):
    """Segments of a few items."""
    monkeypatch.setattr(grams, "SIZE", SMALL)


@pytest.fixture
def far(alice):
    """Items have large numbers: those before them are gone."""
    first = said(alice, "?", "?", "?")
    item = Item.objects.filter(message=first.answer).latest("pk")
    item.pk = item.pk + 400_000
    item.seq, item.key = 7, "far"
    item.save(force_insert=True)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT setval(pg_get_serial_sequence('chatapp_item', 'id'), %s)", [item.pk])
    deleting.remove(Message.objects.filter(conversation=first.conversation))


@pytest.fixture
def made(alice, bob, as_many_as_they_like):
    """Which turn each conversation is; two people asked them."""
    return {said(bob if n % 2 else alice, *words).conversation: n for n, words in enumerate(TURNS)}


def said(owner, question, thinking, answer):
    started = store.open_conversation(owner, question, tools=[], asked=AskedFor(model=DEMO))
    end(started.answer, [thought(text=thinking), text(text=answer)])
    return started


def work() -> None:
    """All that is done in the background."""
    part = Searchable()
    while part._step():
        pass


def all_found(query: str) -> list[Item]:
    terms, found = terms_of(query), list[Item]()
    if terms:
        page = find_everywhere(terms)
        found += page.items
        while page.before:
            page = find_everywhere(terms, before=page.before)
            found += page.items
    return found


@pytest.mark.parametrize("how", ["without an index", "with an index", "half"])
def test_two_hundred_searches_find_what_a_plain_reading_finds(made, small, how):
    if how != "without an index":
        work()
        assert GramSegment.objects.count() >= 60 // SMALL - 1
    if how == "half":
        GramSegment.objects.filter(number__gt=3).delete()
    kinds = {"user_message": "question", "reasoning": "thought", "assistant_message": "answer"}
    wrong = {}
    for query in QUERIES:
        items = all_found(query)
        found = [(made[item.message.conversation_id], kinds[item.kind]) for item in items]
        assert [item.pk for item in items] == sorted((item.pk for item in items), reverse=True)
        if set(found) != expected(query) or len(found) != len(set(found)):
            wrong[query] = set(found) ^ expected(query)
    assert wrong == {}
    assert list(index_breaches()) == []


def test_the_first_items_may_have_large_numbers(far, made, small):
    assert all_found("東京都")
    work()
    assert GramSegment.objects.count() < len(TURNS) and all_found("東京都")


def test_what_is_deleted_or_removed_is_not_found_and_leaves_nothing_in_the_index(made, small):
    work()
    deleting.delete_conversation(next(pk for pk, n in made.items() if n == 3))
    assert all_found("東京都") == []
    before = dict(GramSegment.objects.values_list("number", "rows"))
    gone = next(pk for pk, n in made.items() if n == 4)
    deleting.remove(Message.objects.filter(conversation=gone))
    assert all_found("想学习") == []
    part = Searchable()
    # One segment is looked at at a time, when there is nothing else to do.
    for _ in range(20 * len(before)):
        part._step()
    after = dict(GramSegment.objects.values_list("number", "rows"))
    assert after.keys() == before.keys() and sum(before.values()) - sum(after.values()) == 3
    (bucket,) = grams.buckets_of("想学习")
    assert not GramBits.objects.filter(bucket=bucket).exists()


def test_one_who_takes_too_long_says_how_far_they_came_and_goes_on(made, small, monkeypatch):
    monkeypatch.setattr(everywhere, "WINDOW", 5)
    page = find_everywhere(("a",), longest=-1)
    newest = FoldedItem.objects.latest("item_id").pk
    assert page.before and newest - 5 <= page.before <= newest and page.back_to
    found, rounds = list(page.items), 0
    while page.before:
        page = find_everywhere(("a",), before=page.before, longest=-1)
        found += page.items
        rounds += 1
    assert rounds > 5 and {item.pk for item in found} == {item.pk for item in all_found("a")}


def test_a_page_holds_so_many_and_the_next_begins_behind_them(made, small):
    work()
    pages = [find_everywhere(("e",))]
    while before := pages[-1].before:
        pages.append(find_everywhere(("e",), before=before))
    rows = [item.pk for page in pages for item in page.items]
    assert all(len(page.items) <= everywhere.MOST for page in pages) and len(rows) == len(set(rows)) > 20


def test_a_segment_that_was_interrupted_is_made_whole(made, small):
    work()
    number = GramSegment.objects.earliest("number").number
    GramSegment.objects.filter(number=number).delete()
    GramBits.objects.filter(segment=number, bucket__lt=grams.BUCKETS // 2).delete()
    work()
    assert GramSegment.objects.filter(number=number).exists() and list(index_breaches()) == []


def test_what_the_index_leads_past_is_named(made, small):
    work()
    row = GramBits.objects.earliest("pk")
    row.delete()
    assert any("the index does not lead to it" in each for each in index_breaches())
    row.bits = grams.packed([])
    row.save(force_insert=True)
    assert any("the index does not lead to it" in each for each in verify_log())


@pytest.mark.parametrize("bits", [b"", b"no bits", grams.packed([1])[:-4], zlib.compress(b"1" * 10**6)])
def test_bits_that_are_damaged_are_named_and_nobody_trusts_them(made, small, bits):
    work()
    GramBits.objects.update(bits=bits)
    assert any("of the index is damaged" in each for each in verify_log())
    assert len(all_found("東京都")) == 1


def test_where_nothing_is_to_be_done_nothing_is_written(made, small):
    part = Searchable()
    while part._step():
        pass
    with CaptureQueriesContext(connection) as asked:
        for _ in range(3 * GramSegment.objects.count()):
            assert part._step() is False
    assert {each["sql"].split()[0] for each in asked.captured_queries} == {"SELECT"}
    assert filling.hold_mark("another")
    said(made_by(made), "One more", "Hm.", "Yes.")
    assert part._step() is False
    filling.leave_mark("another")
    assert part._step() is True


def test_whoever_lost_the_mark_meanwhile_writes_nothing(made, small):
    work()
    number = GramSegment.objects.earliest("number").number
    GramSegment.objects.filter(number=number).delete()
    making = grams.Making(number, "frozen")
    assert filling.hold_mark("frozen") and making.step()
    filling.leave_mark("frozen")
    assert filling.hold_mark("another")
    with pytest.raises(filling.NotHeld):
        while making.step():
            pass
    assert not GramSegment.objects.filter(number=number).exists()


def made_by(made):
    return Conversation.objects.select_related("owner").get(pk=next(iter(made))).owner


def test_nothing_is_found_where_nothing_is(db):
    assert find_everywhere(("a",)).items == [] and find_everywhere(("abc",)).before is None
    assert not Conversation.objects.exists()
