"""The list gives every conversation once, in order, at the same cost however many there are."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from chatapp import store
from chatapp.conversations import store as listing
from chatapp.conversations.store import PAGE, ConversationState, load_page, load_row, row_as_written
from chatapp.store import deleting, titles
from chatapp.store.changes import changed
from chatapp.store.models import LIVE, Conversation, TitledBy
from tests.support.turns import begun, end, ended

pytestmark = [pytest.mark.django_db, pytest.mark.both]


def make(owner, count, **fields):
    now = timezone.now()
    rows = [
        Conversation(owner=owner, title=f"Number {n}", updated_at=now - timedelta(minutes=n), **fields)
        for n in range(count)
    ]
    return Conversation.objects.bulk_create(rows)


def pages(owner, **wanted):
    page = load_page(owner, **wanted)
    yield page
    while page.older:
        page = load_page(owner, after=page.older, **wanted)
        yield page


def listed(owner, **wanted):
    return [row.id for page in pages(owner, **wanted) for row in page.rows]


def test_pages_hold_every_conversation_once_the_newest_first(alice):
    rows = make(alice, 2 * PAGE + 5)
    assert [len(page.rows) for page in pages(alice)] == [PAGE, PAGE, 5]
    assert listed(alice) == [row.id for row in rows]


def test_conversations_of_the_same_moment_are_neither_lost_nor_doubled(alice):
    rows = make(alice, 2 * PAGE)
    Conversation.objects.update(updated_at=timezone.now())
    assert sorted(listed(alice)) == sorted(row.id for row in rows)


def test_the_pinned_ones_come_first_over_as_many_pages_as_it_takes(alice):
    rows = make(alice, PAGE + 10)
    for row in rows[5:]:
        listing.pin(row.id, pinned=True)
    assert listed(alice) == [row.id for row in (*rows[5:], *rows[:5])]
    listing.pin(rows[-1].id, pinned=False)
    assert listed(alice)[-1] == rows[-1].id


def test_a_page_ends_exactly_where_the_pinned_ones_end(alice):
    rows = make(alice, PAGE + 1)
    for row in rows[1:]:
        listing.pin(row.id, pinned=True)
    assert listed(alice) == [row.id for row in (*rows[1:], rows[0])]


def test_archived_and_deleted_ones_are_not_in_the_list(alice):
    kept, away, gone = make(alice, 3)
    listing.archive(away.id, archived=True)
    deleting.delete_conversation(gone.id)
    assert listed(alice) == [kept.id]
    assert listed(alice, archived=True) == [away.id]
    assert load_row(gone.id) is None
    listing.archive(away.id, archived=False)
    assert listed(alice) == [kept.id, away.id]


def test_one_sees_ones_own_alone(alice, bob):
    make(alice, 3)
    assert listed(bob) == []


@pytest.mark.parametrize(
    "words", ["barrel", "RAIN bar", "rain", "allot rain", "ünöt", "ÜNÖT", "100%", "a_b", "(x", "[.*"]
)
def test_a_title_is_found_by_any_of_its_words_in_any_case(alice, words):
    make(alice, 3)
    mine = Conversation.objects.create(owner=alice, title="Rain barrel, allotment: Ünötig 100% a_b (x [.*")
    assert listed(alice, words=words) == [mine.id]


@pytest.mark.parametrize("words", [".*", "barrel fish", "%", "_", "\\", "'", "number 1 2 3"])
def test_words_are_words_and_no_pattern(alice, words):
    make(alice, 3)
    Conversation.objects.create(owner=alice, title="Rain barrel")
    assert listed(alice, words=words) == []


def test_whoever_waits_for_a_person_is_marked_before_whoever_answers(alice, conversation, ask):
    assert load_row(conversation.id).state is ConversationState.CALM
    first = ask("Why?")
    assert load_row(conversation.id).state is ConversationState.ANSWERS
    store.park(store.claim_turn(first.answer, runner="here", seen=0), [], store.Measured())
    assert load_row(conversation.id).state is ConversationState.WAITS
    ask("And why not?")
    assert load_page(alice).rows[0].state is ConversationState.WAITS
    store.stop(first.answer, None)
    assert load_row(conversation.id).state is ConversationState.ANSWERS


def test_ten_thousand_conversations_cost_no_more_queries_than_ten(alice, django_assert_num_queries):
    make(alice, 10)
    with django_assert_num_queries(2):
        load_page(alice)
    make(alice, 10_000)
    with django_assert_num_queries(2):
        page = load_page(alice)
    with django_assert_num_queries(2):
        load_page(alice, after=page.older)


def test_live_turns_are_found_without_looking_through_messages(alice):
    from django.db import connection

    if connection.vendor != "sqlite":
        pytest.skip("a plan of SQLite")
    plan = listing._live_turns([uuid4()]).explain()
    assert "live_turns" in plan


def test_the_first_question_names_a_conversation(conversation, ask):
    ask("How large a barrel do I need so that eight tomato plants survive three dry weeks?")
    ask("Something else")
    row = Conversation.objects.get(pk=conversation.id)
    assert (row.title, row.titled_by) == (
        "How large a barrel do I need so that eight tomato plants…",
        TitledBy.WORDS,
    )


def test_a_person_names_it_and_may_leave_it_to_the_question_again(conversation, ask):
    ask("Why is the sky dark?")
    titles.retitle(conversation.id, "  Olbers\n\u202eparadox ")
    row = Conversation.objects.get(pk=conversation.id)
    assert (row.title, row.titled_by) == ("Olbers paradox", TitledBy.PERSON)
    titles.retitle(conversation.id, " \u200b ")
    row.refresh_from_db()
    assert (row.title, row.titled_by) == ("Why is the sky dark?", TitledBy.WORDS)


def test_a_title_that_is_too_long_is_refused(conversation):
    titles.retitle(conversation.id, "x" * 200)
    with pytest.raises(store.Refused, match="200"):
        titles.retitle(conversation.id, "y" * 201)
    assert load_row(conversation.id).title == "x" * 200


def test_of_many_who_see_that_a_title_is_missing_one_asks(conversation, ask):
    started = ask()
    assert titles.load_untitled() == []
    end(started.answer)
    assert titles.load_untitled() == [conversation.id]
    exchange = titles.claim_title(conversation.id)
    assert (exchange.model, exchange.words, exchange.question) == ("demo:thinker", "Why?", "Why?")
    assert titles.claim_title(conversation.id) is None
    assert titles.load_untitled() == []


def test_a_models_title_never_takes_the_place_of_a_persons(conversation, ask):
    end(ask().answer)
    titles.claim_title(conversation.id)
    titles.retitle(conversation.id, "Mine")
    assert not titles.title_by_model(conversation.id, "The model's", instead_of="Why?")
    assert load_row(conversation.id).title == "Mine"


def test_an_old_conversation_is_asked_about_only_when_somebody_wants_it(conversation, ask):
    end(ask().answer)
    Conversation.objects.update(updated_at=timezone.now() - timedelta(days=2))
    assert titles.load_untitled() == []
    assert titles.load_untitled(also=[conversation.id]) == [conversation.id]


@pytest.fixture
def told():
    """What was written, as it is told."""
    heard = []

    def hear(written, **_):
        heard.append(written)

    changed.connect(hear)
    yield heard
    changed.disconnect(hear)


def test_a_row_as_it_was_written_is_the_row_that_is_loaded(alice, told):
    first = ended(alice)
    listing.pin(first.conversation, pinned=True)
    begun(alice, "And?", below=first)
    assert row_as_written(told[-1]) == load_row(first.conversation)
    assert row_as_written(told[-1]).state is ConversationState.ANSWERS


@pytest.mark.parametrize("status", LIVE)
def test_where_another_answer_has_not_ended_the_row_is_loaded(alice, told, status):
    """It may wait for a person, or come to wait, and nobody tells that of it again."""
    first = ended(alice)
    other = store.start_answer(first.question, author=alice, asked=store.AskedFor(model="demo:thinker"))
    end(other.answer, status)
    begun(alice, "And?", below=first)
    assert row_as_written(told[-1]) is None


def test_what_else_was_written_says_nothing_of_its_row(alice, told):
    started = ended(alice)
    listing.archive(started.conversation, archived=True)
    assert told[-1] is row_as_written(told[-1]) is None
