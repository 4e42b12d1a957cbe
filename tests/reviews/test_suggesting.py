"""Another answer, suggested by a reviewer from their fork, seen beside the owner's and taken as a branch."""

from __future__ import annotations

from html import unescape
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from chatapp import store
from chatapp.reviews.models import Suggestion
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.marks import load_marks
from chatapp.reviews.store.submitting import submit, withdraw
from chatapp.reviews.store.suggesting import load_suggestible
from chatapp.store import AskedFor, deleting
from chatapp.store.models import Conversation, Item, Message, Status
from tests.support.reviewed import DEMO, again, browser, label_set, message, reviewer, turn

pytestmark = [pytest.mark.both, pytest.mark.django_db]

BETTER, CANARY = "A better answer.", "canary-of-the-fork"


class Fork:
    """What alice submitted, and bob's fork of it with another answer and more below that."""

    def __init__(self, alice: User, bob: User) -> None:
        self.alice, self.bob = alice, reviewer(bob)
        self.first = turn(alice, "What first?", "Her first answer.")
        self.last = turn(alice, "What then?", "Her last answer.", self.first.answer, self.first.conversation)
        self.row = submit(message(self.last.answer), by=alice)
        reviewing.claim(self.row, by=bob)
        made = reviewing.fork_submitted(self.row, by=bob, until=self.last.answer)
        self.conversation, self.copies = made.conversation.pk, made.copies
        self.better = again(bob, self.copies[self.last.question], BETTER).answer
        turn(bob, CANARY, CANARY, self.better, self.conversation)

    @property
    def path(self) -> str:
        return f"/review/{self.row.pk}/suggest/"

    def suggest(self, answer=None, words="It says why."):
        form = {"answer": str(self.better if answer is None else answer), "words": words}
        return browser(self.bob).post(self.path, form)


@pytest.fixture
def fork(alice, bob):
    return Fork(alice, bob)


def page(person, path) -> str:
    response = browser(person).get(path)
    assert response.status_code == 200
    return unescape(response.text)


def test_what_was_asked_again_below_a_question_that_was_submitted_may_be_suggested(fork):
    other = again(fork.bob, fork.copies[fork.first.question], "Another first answer.").answer
    found = {(each.answer.pk, each.question) for each in load_suggestible(fork.row, fork.bob)}
    assert found == {(fork.better, fork.last.question), (other, fork.first.question)}
    shown = page(fork.bob, fork.path)
    assert "Another first answer." in shown and BETTER in shown and "Her last answer." not in shown


def test_what_is_no_finished_answer_of_theirs_is_not_suggested(fork, alice):
    edited = store.start_turn(
        fork.conversation,
        "Other?",
        parent=fork.copies[fork.first.answer],
        author=fork.bob,
        asked=AskedFor(model=DEMO),
    )
    running = store.start_answer(
        fork.copies[fork.first.question], author=fork.bob, asked=AskedFor(model=DEMO)
    )
    below = Message.objects.get(parent__parent=fork.better).pk
    for name in (
        *(edited.answer, edited.question, running.answer, below, uuid4(), "x", ""),
        *(fork.copies[fork.last.answer], fork.last.answer, turn(fork.bob, "Elsewhere?").answer),
    ):
        assert fork.suggest(name).status_code == 409, name
    assert not Suggestion.objects.exists()


def test_the_owner_sees_it_beside_their_own_and_nothing_else_of_the_fork(fork, alice):
    assert fork.suggest().status_code == 303
    assert fork.suggest().status_code == 303
    row = Suggestion.objects.get()
    assert load_marks(alice).news == 1
    for place in (f"/c/{fork.first.conversation}/", f"/review/{fork.row.pk}/"):
        assert f"/reviews/suggested/{row.pk}/" in page(alice, place)
    shown = page(alice, f"/reviews/suggested/{row.pk}/")
    for words in (
        BETTER,
        "Her last answer.",
        "It says why.",
        "bob, who reviewed this",
        "3 messages in common",
        "Yours",
    ):
        assert words in shown, words
    assert CANARY not in shown and str(fork.conversation) not in shown


def test_it_is_taken_once_as_a_branch_and_nothing_else_changes(fork, alice):
    fork.suggest()
    row, she = Suggestion.objects.get(), browser(alice)
    before = list(Message.objects.order_by("pk").values_list())
    turns = [she.post(f"/reviews/suggested/{row.pk}/take/") for _ in range(2)]
    made = Message.objects.exclude(pk__in=[values[0] for values in before]).get()
    assert {answer.headers["location"] for answer in turns} == {
        f"/c/{fork.first.conversation}/?at={made.pk}#m-{made.pk}"
    }
    assert (made.conversation_id, made.parent_id, made.status) == (
        fork.first.conversation,
        fork.last.question,
        Status.COMPLETE,
    )
    assert list(Message.objects.exclude(pk=made.pk).order_by("pk").values_list()) == before
    assert list(Item.objects.filter(message=made).values_list("kind", "text")) == list(
        Item.objects.filter(message=fork.better).values_list("kind", "text")
    )
    assert list(store.verify_log()) == []
    shown = page(alice, f"/c/{fork.first.conversation}/?at={made.pk}")
    assert BETTER in shown and "suggested by bob" in shown and "2 / 2" in shown
    assert "suggests another answer" not in shown
    assert "taken as a branch" in page(fork.bob, fork.path)
    assert Conversation.objects.get(pk=fork.first.conversation).next_order == made.order + 1


def test_what_is_taken_goes_on_like_any_answer(fork, alice):
    fork.suggest()
    browser(alice).post(f"/reviews/suggested/{Suggestion.objects.get().pk}/take/")
    made = Suggestion.objects.get().taken
    turn(alice, "And now?", "So.", made.pk, fork.first.conversation)
    assert list(store.verify_log()) == []


def test_it_may_be_declined(fork, alice):
    fork.suggest()
    row, she = Suggestion.objects.get(), browser(alice)
    assert she.post(f"/reviews/suggested/{row.pk}/decline/").status_code == 303
    assert "suggests another answer" not in page(alice, f"/c/{fork.first.conversation}/")
    assert "not taken" in page(fork.bob, fork.path)
    assert Message.objects.filter(conversation=fork.first.conversation).count() == 4


@pytest.mark.parametrize(
    "how", ["the answer is deleted", "the fork is deleted", "it is withdrawn", "the question is deleted"]
)
def test_what_is_gone_is_not_offered(fork, alice, how):
    fork.suggest()
    row = Suggestion.objects.get()
    match how:
        case "the answer is deleted":
            deleting.delete_below(message(fork.better))
        case "the fork is deleted":
            deleting.delete_conversation(fork.conversation)
        case "it is withdrawn":
            withdraw(fork.row)
        case _:
            deleting.delete_below(message(fork.last.question))
    she = browser(alice)
    assert she.get(f"/reviews/suggested/{row.pk}/").status_code == 404
    assert she.post(f"/reviews/suggested/{row.pk}/take/").status_code == 404


def test_nobody_else_sees_it(fork, bob, charlie, dana):
    fork.suggest()
    row = Suggestion.objects.get()
    for person in (bob, dana, reviewer(charlie)):
        assert browser(person).get(f"/reviews/suggested/{row.pk}/").status_code == 404


def test_who_holds_it_no_more_suggests_nothing(fork):
    reviewing.release(fork.row, by=fork.bob)
    assert fork.suggest().status_code == 404


def test_what_is_rated_blind_is_not_spoken_of_before_all_have_handed_in(alice, bob):
    first = turn(alice, "Why?")
    row = submit(message(first.answer), by=alice, label_set=label_set())
    reviewing.claim(row, by=reviewer(bob))
    made = reviewing.fork_submitted(row, by=bob, until=first.question)
    better = again(bob, made.copies[first.question], BETTER).answer
    refused = browser(bob).post(f"/review/{row.pk}/suggest/", {"answer": str(better)})
    assert refused.status_code == 409 and not Suggestion.objects.exists()
