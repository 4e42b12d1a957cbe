"""Where a branch that is too long begins: whole turns, at most half of the window, never less than the last turn."""

from __future__ import annotations

import pytest

from chatapp import store
from chatapp.store.branches import count_characters
from chatapp.store.leaving_out import find_start, has_older
from chatapp.store.models import Message
from tests.support.make import text

pytestmark = pytest.mark.both
MODEL = "openai:gpt-5"


def usage(held: int, said: int = 0, *, first: int | None = None) -> list[dict]:
    """What the rounds of an answer counted: the last one held so much, the first one `first`."""
    rounds = [] if first is None else [{"round": 0, "model": MODEL, "usage": {"input": first, "output": 0}}]
    return [
        *rounds,
        {"round": len(rounds), "model": MODEL, "usage": {"input": held, "output": said}},
    ]


@pytest.fixture
def turn(conversation, alice):
    """A finished turn below an answer."""

    def turn(parent=None, *, rounds=(), words="Why?", said="Because.", sent_from=None):
        asked = store.AskedFor(model=MODEL, sent_from=sent_from)
        started = store.start_turn(conversation.id, words, parent=parent, author=alice, asked=asked)
        claimed = store.claim_turn(started.answer, runner="here", seen=0)
        store.finish(claimed, [text("msg", text=said, wire=None)], store.Measured())
        if rounds:
            Message.objects.filter(pk=started.answer).update(metadata={"rounds": list(rounds)})
        return started

    return turn


@pytest.fixture
def ten(turn):
    """Ten turns of a hundred tokens each."""
    made = []
    for n in range(10):
        made.append(turn(made[-1].answer if made else None, rounds=usage(100 * n + 1, 99)))
    return made


def test_what_stays_is_at_most_half_of_the_window(ten):
    assert find_start(ten[-1].answer, 1_000) == ten[5].question
    assert find_start(ten[-1].answer, 1_200) == ten[4].question


def test_another_share_leaves_more(ten):
    assert find_start(ten[-1].answer, 1_000, share=0.8) == ten[2].question


def test_the_last_turn_always_stays(ten):
    assert find_start(ten[-1].answer, 10) == ten[-1].question


def test_a_single_turn_has_nothing_to_leave_out(turn):
    only = turn(rounds=usage(900, 90))
    assert find_start(only.answer, 1_000) is None
    assert find_start(only.question, None) is None


def test_only_what_is_older_than_the_last_turn_can_be_left_out(turn):
    def older(started):
        return has_older(Message.objects.get(pk=started.answer))

    first = turn()
    second = turn(first.answer)
    assert not older(first) and older(second)
    assert older(turn(second.answer, sent_from=second.question))
    Message.objects.filter(pk=second.answer).update(sent_from=second.question)
    assert not older(second)


@pytest.mark.parametrize("window", [None, 0, 100_000])
def test_something_is_left_out_even_where_all_of_it_should_fit(ten, window):
    assert find_start(ten[-1].answer, window) == ten[5].question


def test_a_large_turn_at_the_end_stays_alone(turn):
    first = turn(rounds=usage(1, 99))
    second = turn(first.answer, rounds=usage(101, 899))
    assert find_start(second.answer, 1_000) == second.question


def test_thoughts_that_did_not_go_back_do_not_count_for_what_stays(turn):
    # The first answer thought long, but its thoughts were not in what the second request held.
    first = turn(rounds=usage(1, 5_000))
    second = turn(first.answer, rounds=usage(101, 99))
    third = turn(second.answer, rounds=usage(201, 99))
    assert find_start(third.answer, 420) == second.question


def test_without_counted_tokens_letters_count(turn):
    first = turn(words="x" * 4_000)
    second = turn(first.answer, words="y" * 400)
    third = turn(second.answer, words="z" * 400)
    assert find_start(third.answer, 600) == second.question


def test_the_answer_that_failed_counts_by_its_letters(turn):
    first = turn(rounds=usage(1, 499))
    second = turn(first.answer, rounds=usage(500, 400))
    failed = turn(second.answer)
    assert find_start(failed.answer, 100) == failed.question
    assert find_start(failed.question, 1_000) == second.question


def test_what_is_left_out_already_stays_so_and_more_can_follow(ten, turn):
    short = turn(ten[-1].answer, rounds=usage(101, 99), sent_from=ten[8].question)
    assert Message.objects.get(pk=short.answer).sent_from_id == ten[8].question
    after = turn(short.answer, rounds=usage(201, 99))
    start = find_start(after.answer, 400)
    assert start in {ten[9].question, short.question}
    assert find_start(after.answer, 10) == after.question


def test_what_was_left_out_is_left_out_from_then_on(ten, turn):
    short = turn(ten[-1].answer, sent_from=ten[5].question)
    below = turn(short.answer)
    sent = store.load_branch(below.answer).sent
    assert sent[0].id == ten[5].question and sent[-1].id == below.answer


def test_damaged_figures_are_not_believed(turn):
    first = turn(rounds=[{"usage": {"input": -5, "output": "x"}}])
    second = turn(first.answer, rounds=usage(10**30))
    third = turn(second.answer)
    assert find_start(third.answer, 10) == third.question


def test_a_branch_that_is_not_there_has_no_beginning(conversation):
    assert find_start(conversation.id, 100) is None


def test_the_letters_of_what_is_sent_are_counted(turn):
    first = turn(words="aaaa", said="bb")
    second = turn(first.answer, words="ccc", said="d")
    assert count_characters(second.answer) == 10
    Message.objects.filter(pk=second.answer).update(sent_from=second.question)
    assert count_characters(second.answer) == 4
