"""An answer that was cut and went on is found by what it says as it is read: once, across the cut, in one hit."""

from __future__ import annotations

import pytest
from django.utils import timezone

from chatapp import store
from chatapp.branches.store.forking import Extent, fork
from chatapp.core.events import Asked, ItemDelta, ItemStarted
from chatapp.core.items import Kind
from chatapp.core.signs.folded import fold
from chatapp.search.forms import WHERE, terms_of
from chatapp.search.models import FoldedItem
from chatapp.search.page.found import shown_found
from chatapp.search.store import filling
from chatapp.search.store.everywhere import find_everywhere
from chatapp.search.store.finding import WantedWords, find_own
from chatapp.search.verify import folding_breaches
from chatapp.store import Measured
from chatapp.store.models import Item, Message
from tests.exchange.bringing import came
from tests.exchange.filled import file_of
from tests.support.make import call, result, seen, text, thought

from .test_folding import fill, found_as

pytestmark = pytest.mark.both
WHOLE = "it is the curtain of rain."


@pytest.fixture
def goes_on(claimed):
    """The answer was cut in the middle of a word, and again, and went on each time."""
    message = _cut(claimed, "msg_1", "It is the cur")
    claim = _again(message)
    message = _cut(claim, "msg_2", "tain of ")
    claim = _again(message)
    store.finish(claim, [thought("rs_3", round=2), text("msg_3", text="rain.", round=2)], Measured())
    return Message.objects.get(pk=message)


def _cut(claim, key, words):
    started = ItemStarted(key, Kind.ASSISTANT_MESSAGE)
    script = ((0, Asked(0)), (1, started), (2, ItemDelta(key, words)))
    assert store.stop(claim.message, seen(claim.attempt, *script))
    return claim.message


def _again(message):
    assert store.requeue(message)
    return store.claim_turn(message, runner="here", seen=Message.objects.get(pk=message).attempt)


def answers(conversation):
    return [text for kind, text in found_as(conversation.pk) if kind == "answer"]


def hits(owner, words):
    page = find_own(owner, WantedWords(terms_of(words), frozenset(WHERE)))
    shown = shown_found(page.found, terms_of(words), timezone.get_default_timezone())
    return ["".join(piece.text for piece in hit.words) for each in shown for hit in each.hits]


def test_it_is_found_as_far_as_it_came(claimed, conversation):
    message = _cut(claimed, "msg_1", "It is the cur")
    assert answers(conversation) == ["it is the cur"]
    _cut(_again(message), "msg_2", "tain of")
    assert answers(conversation) == ["it is the curtain of"]
    assert list(folding_breaches()) == []


@pytest.mark.parametrize(
    "words", ["curtain", '"the curtain of rain"', "rain it", "it", "cur", "rain.", '"of rain"']
)
def test_words_and_phrases_across_a_cut_are_found_once(goes_on, alice, words):
    assert hits(alice, words) == ["It is the curtain of rain."]
    assert [item.key for item in find_everywhere(terms_of(words)).items] == ["msg_3"]


def test_its_row_is_that_of_its_last_piece(goes_on, conversation):
    assert answers(conversation) == [WHOLE]
    assert list(folding_breaches()) == []


def test_a_copy_and_what_is_brought_from_a_file_are_found_alike(goes_on, alice, bob, conversation):
    made = fork(goes_on, by=alice, extent=Extent.BRANCH).conversation
    assert answers(made) == [WHOLE]
    (brought,) = came(bob, file_of(conversation))
    assert answers(brought) == [WHOLE]
    assert list(folding_breaches()) == []


def test_it_is_folded_behind_piece_by_piece(goes_on, conversation, monkeypatch):
    FoldedItem.objects.all().delete()
    monkeypatch.setattr(filling.long_writes, "FIRST", 1)
    fill()
    assert answers(conversation) == [WHOLE]
    assert list(folding_breaches()) == []


def test_what_went_on_where_nobody_folds_is_found_once_as_well(goes_on, conversation):
    """A version that knows of no folding wrote the end."""
    FoldedItem.objects.filter(item__key="msg_3").delete()
    found_by_itself("msg_1", conversation)
    fill()
    assert answers(conversation) == [WHOLE]
    assert list(folding_breaches()) == []


def found_by_itself(key, conversation):
    row = Item.objects.get(key=key)
    FoldedItem.objects.create(item=row, conversation=conversation, kind="answer", text=fold(row.text))


def test_a_piece_that_is_found_by_itself_is_named(goes_on, conversation):
    fill()
    found_by_itself("msg_1", conversation)
    assert "is found by other words than it says" in "\n".join(folding_breaches())
    FoldedItem.objects.filter(item__key="msg_1").delete()
    last = FoldedItem.objects.filter(item__key="msg_3")
    last.update(text="rain.")
    assert "is found by other words than it says" in "\n".join(folding_breaches())
    last.delete()
    assert "is not found by what it says" in "\n".join(folding_breaches())


def test_texts_with_a_call_between_them_are_two(claimed, conversation):
    store.append_round(claimed, [text("msg_1", text="First."), call()], Measured())
    store.append_result(claimed, result("part-2"), Measured())
    store.finish(claimed, [text("msg_2", text="Then.", round=1)], Measured())
    assert answers(conversation) == ["first.", "then."]
