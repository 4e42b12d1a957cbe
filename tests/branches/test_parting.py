"""Where two branches part: after the last message that both have, or that says the same in both."""

from __future__ import annotations

import pytest

from chatapp import store
from chatapp.branches.store import parting as comparing
from chatapp.branches.store.copying import Parts
from chatapp.branches.store.forking import Extent, fork
from chatapp.branches.store.parting import load_measures, load_parting
from chatapp.store import Measured, deleting, places
from chatapp.store.models import Item, Message, Status
from tests.support.make import call, result, text, thought

pytestmark = [pytest.mark.both, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def tell(ask):
    """A question and its answer, which thought, called and spoke."""

    def tell(words="Why?", parent=None, items=None, elapsed=5000) -> Message:
        started = ask(words, parent and parent.pk)
        return finished(started.answer, items, elapsed)

    return tell


def finished(answer, items=None, elapsed=5000) -> Message:
    claim = store.claim_turn(answer, runner="here", seen=0)
    said = items or [thought(), call(), result(), text()]
    store.finish(claim, said, Measured(durations={"rs_1": 2000}, elapsed=elapsed))
    return Message.objects.get(pk=answer)


def again(owner, question, items=None) -> Message:
    asked = store.AskedFor(model="demo:thinker")
    return finished(store.start_answer(question, author=owner, asked=asked).answer, items)


def below(owner, parent: Message, words="And?") -> Message:
    asked = store.AskedFor(model="demo:thinker")
    started = store.start_turn(parent.conversation_id, words, parent=parent.pk, author=owner, asked=asked)
    return finished(started.answer)


def copy_of(row: Message, owner, **more) -> Message:
    """The message at the head of its fork."""
    made = fork(row, by=owner, **more).conversation
    return Message.objects.get(pk=made.head_id)


def common(owner, a: Message, b: Message) -> int:
    both = load_parting(owner, a, b), load_parting(owner, b, a)
    assert both[0].common == both[1].common
    return both[0].common


def test_two_answers_part_after_their_question(tell, alice):
    one = tell()
    two = again(alice, one.parent_id)
    parting = load_parting(alice, one, two)
    assert (parting.a.messages, parting.b.messages) == ((one.parent_id, one.pk), (two.parent_id, two.pk))
    assert parting.common == 1
    assert parting.a.beside == parting.b.beside == (one.pk, two.pk)


def test_what_says_the_same_twice_in_one_conversation_is_two_messages(tell, alice):
    first = tell()
    one, two = below(alice, first), below(alice, first)
    assert common(alice, one, two) == 2


def test_a_branch_goes_on_to_the_leaf_where_one_last_was(tell, alice):
    first = tell()
    one, two = below(alice, first, "One?"), below(alice, first, "Two?")
    other = again(alice, first.parent_id)
    assert load_parting(alice, first, other).a.messages[-1] == two.pk
    places.go_to(alice, one)
    assert load_parting(alice, first, other).a.messages[-1] == one.pk


def test_a_fork_and_its_source_part_where_either_goes_on(tell, alice):
    first = tell()
    second = below(alice, first)
    head = copy_of(second, alice)
    assert common(alice, second, head) == 4
    mine, its = below(alice, second, "Here?"), below(alice, head, "There?")
    assert common(alice, mine, its) == 4
    parting = load_parting(alice, mine, its)
    assert (parting.a.beside, parting.b.beside) == ((mine.parent_id,), (its.parent_id,))


def test_what_was_asked_alike_in_both_afterwards_is_common_and_its_answers_are_not(tell, alice):
    first = tell()
    head = copy_of(first, alice)
    mine = below(alice, first)
    its = finished(
        store.start_turn(
            head.conversation_id,
            "And?",
            parent=head.pk,
            author=alice,
            asked=store.AskedFor(model="demo:thinker"),
        ).answer,
        elapsed=9000,
    )
    assert common(alice, mine, its) == 3


def test_two_forks_of_one_source_are_compared_like_it(tell, alice):
    first = tell()
    one, two = copy_of(first, alice), copy_of(first, alice)
    assert common(alice, below(alice, one, "One?"), below(alice, two, "Two?")) == 2


def test_a_fork_without_thoughts_and_tools_is_still_a_copy(tell, alice):
    second = below(alice, tell())
    bare = copy_of(second, alice, parts=Parts(thoughts=False, tools=False))
    assert "Hm." not in Item.objects.filter(message__conversation=bare.conversation_id).values_list(
        "text", flat=True
    )
    assert common(alice, second, bare) == 4


def test_a_fork_of_everything_keeps_its_branches_apart(tell, alice):
    one = tell()
    two = again(alice, one.parent_id, [text(text="Otherwise.")])
    made = fork(one, by=alice, extent=Extent.EVERYTHING).conversation
    copies = list(Message.objects.filter(conversation=made, role="assistant").order_by("order"))
    assert [common(alice, one, copy) for copy in copies] == [2, 1]
    assert [common(alice, two, copy) for copy in copies] == [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Because!"},
        {"cut": True},
        {"key": "msg_2"},
        {"kind": "reasoning"},
        {"name": "another"},
        {"outcome": "failed"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_item_that_is_not_the_same_parts_them(tell, alice, change):
    first = tell()
    head = copy_of(first, alice)
    assert common(alice, first, head) == 2
    Item.objects.filter(message=head, key="msg_1").update(wire=None, **change)
    assert common(alice, first, head) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"status": Status.STOPPED},
        {"model": "demo:other"},
        {"effort": "high"},
        {"metadata": {"elapsed_ms": 5000, "reasoning_durations_ms": {"rs_1": 2001}}},
        {"metadata": {"elapsed_ms": 5001, "reasoning_durations_ms": {"rs_1": 2000}}},
    ],
    ids=["status", "model", "effort", "thought", "elapsed"],
)
def test_an_answer_that_was_made_otherwise_parts_them(tell, alice, change):
    first = tell()
    head = copy_of(first, alice)
    assert common(alice, first, head) == 2
    Message.objects.filter(pk=head.pk).update(**change)
    assert common(alice, first, head) == 1


def test_an_answer_that_went_on_after_it_was_forked_parts_them(tell, alice):
    first = tell()
    head = copy_of(first, alice)
    Item.objects.create(message=first, seq=9, key="msg_9", kind="assistant_message", text="More.", round=1)
    assert common(alice, first, head) == 1


def test_two_conversations_that_begin_otherwise_have_nothing_in_common(tell, alice):
    first = tell()
    asked = store.AskedFor(model="demo:thinker")
    other = finished(store.open_conversation(alice, "Who?", tools=[], asked=asked).answer)
    parting = load_parting(alice, first, other)
    assert parting.common == 0
    assert (parting.a.beside, parting.b.beside) == ((first.parent_id,), (other.parent_id,))


def test_what_is_deleted_is_on_no_branch(tell, alice):
    first = tell()
    later = below(alice, first)
    two = again(alice, first.parent_id)
    deleting.delete_below(later)
    assert load_parting(alice, first, two).a.messages == (first.parent_id, first.pk, later.parent_id)


@pytest.mark.parametrize("turns", [9, 10, 11, 31])
def test_however_long_they_agree_the_place_is_found(tell, alice, turns, monkeypatch):
    """Also where a stretch that is read at once ends."""
    monkeypatch.setattr(comparing, "NEXT_STEPS", 40)
    last = tell()
    for _ in range(turns - 1):
        last = below(alice, last)
    head = copy_of(last, alice)
    assert common(alice, last, head) == 2 * turns
    assert common(alice, below(alice, last, "Here?"), below(alice, head, "There?")) == 2 * turns


def test_measures_are_read_without_a_word_of_what_was_said(tell):
    answer = tell()
    found = load_measures([answer.parent_id, answer.pk])
    assert list(found) == [answer.parent_id, answer.pk]
    assert found[answer.pk].row.metadata["elapsed_ms"] == 5000
    assert [item.key for item in found[answer.pk].items] == ["rs_1", "fc_1", "part-9", "msg_1"]
    assert {item.text for answer in found.values() for item in answer.items} == {""}
