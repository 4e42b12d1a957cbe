"""What is said is folded in the transaction that writes it, whatever way it comes; what was there before is folded behind."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import transaction

from chatapp import store
from chatapp.branches.store.copying import Parts
from chatapp.branches.store.forking import Extent, fork
from chatapp.core.signs.folded import fold as folded
from chatapp.search.models import FoldedItem, FoldingMark
from chatapp.search.store import filling
from chatapp.search.store.filling import Filling, begin_mark, hold_mark, progress
from chatapp.search.verify import folding_breaches
from chatapp.store import Measured, deleting
from chatapp.store.models import Item, Message
from tests.exchange.bringing import came
from tests.exchange.filled import file_of
from tests.support.make import call, half_a_thought, result, text, thought

pytestmark = pytest.mark.both


@pytest.fixture
def answered(claimed):
    """A question with a thought, a call, its result and an answer."""
    store.append_round(claimed, [thought(text="Hmm, CAFÉ"), call()], Measured())
    store.append_result(claimed, result("part-2"), Measured())
    store.finish(claimed, [text(text="A Straße.", round=1)], Measured())
    return Message.objects.get(pk=claimed.message)


def found_as(conversation: UUID) -> list[tuple[str, str]]:
    rows = FoldedItem.objects.filter(conversation=conversation).order_by("item_id")
    return list(rows.values_list("kind", "text"))


def fill() -> None:
    filling_here = Filling()
    begin_mark()
    assert hold_mark("here")
    while filling_here.step("here"):
        pass


def test_every_piece_of_a_turn_is_folded_as_it_is_written(answered, conversation):
    kinds = found_as(conversation.pk)
    assert [kind for kind, _ in kinds] == ["question", "thought", "tool", "tool", "answer"]
    assert dict(kinds)["thought"] == "hmm, cafe" and dict(kinds)["answer"] == "a strasse."
    assert list(folding_breaches()) == []


def test_what_is_not_written_is_not_folded(claimed):
    before = FoldedItem.objects.count()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        store.finish(claimed, [text(text="gone")], Measured())
        assert FoldedItem.objects.count() == before + 1
        raise ZeroDivisionError
    assert FoldedItem.objects.count() == before


def test_a_cut_thought_is_folded(claimed, conversation):
    store.stop(claimed.message, store.Seen(claimed.attempt, half_a_thought(), 4000.0))
    assert "thought" in dict(found_as(conversation.pk))
    assert list(folding_breaches()) == []


def test_a_fork_is_folded_and_what_does_not_go_along_is_not(answered, alice, conversation):
    made = fork(answered, by=alice, extent=Extent.BRANCH).conversation
    assert sorted(found_as(made.pk)) == sorted(found_as(conversation.pk))
    less = fork(answered, by=alice, extent=Extent.BRANCH, parts=Parts(thoughts=False)).conversation
    assert "thought" not in dict(found_as(less.pk))
    fill()
    assert list(folding_breaches()) == []


def test_what_is_brought_from_a_file_is_folded(answered, bob, conversation):
    (copy,) = came(bob, file_of(conversation))
    assert sorted(found_as(copy.pk)) == sorted(found_as(conversation.pk))
    assert list(folding_breaches()) == []


def test_what_is_removed_for_good_is_folded_no_more(answered, conversation):
    deleting.remove(Message.objects.filter(conversation=conversation))
    assert FoldedItem.objects.count() == 0


def test_what_was_there_before_is_folded_behind(answered, conversation, monkeypatch):
    before = found_as(conversation.pk)
    FoldedItem.objects.all().delete()
    monkeypatch.setattr(filling.long_writes, "FIRST", 2)
    assert progress().percent == 0
    fill()
    assert found_as(conversation.pk) == before
    assert progress().percent == 100
    assert list(folding_breaches()) == []


def test_filling_follows_what_comes(answered, ask):
    fill()
    upto = FoldingMark.objects.get().upto
    ask("Another one", parent=answered.pk)
    fill()
    assert FoldingMark.objects.get().upto == Item.objects.latest("pk").pk > upto


def test_one_process_at_a_time_holds_the_mark(db):
    begin_mark()
    assert hold_mark("here") and hold_mark("here")
    assert not hold_mark("there")
    filling.leave_mark("here")
    assert hold_mark("there")


def test_every_damage_is_named(answered, conversation):
    fill()
    rows = FoldedItem.objects.order_by("item_id")
    one, two, three, *_ = [row.pk for row in rows]
    FoldedItem.objects.filter(pk=one).delete()
    FoldedItem.objects.filter(pk=two).update(text="something else")
    FoldedItem.objects.filter(pk=three).update(kind="answer")
    elsewhere = store.start_conversation(conversation.owner, tools=[])
    FoldedItem.objects.filter(pk=rows.last().pk).update(conversation=elsewhere)
    said = "\n".join(folding_breaches())
    assert "is not found by what it says" in said
    assert "is found by other words than it says" in said
    assert "and is found as answer" in said
    assert "is found in another conversation" in said


def test_what_cannot_be_stored_as_it_came_is_folded_as_it_is_stored(claimed, conversation):
    store.finish(claimed, [text(text="a\x00b \ud800")], Measured())
    assert dict(found_as(conversation.pk))["answer"] == folded("a\ufffdb \ufffd")
    assert list(folding_breaches()) == []
