"""The branch on screen: from where it begins, on which leaf it ends, and what was above it."""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp import store
from chatapp.core.items import Item, Kind
from chatapp.store import AskedFor, deleting, places
from chatapp.store.models import Conversation, Message, Status
from tests.support.page import Page
from tests.support.turns import ask

pytestmark = pytest.mark.django_db


def chain(owner: User, length: int) -> list[Message]:
    answers: list[Message] = []
    for number in range(length):
        answers.append(ask(owner, answers[-1] if answers else None, f"Question {number}?"))
    return answers


@pytest.fixture
def she(client, alice):
    client.force_login(alice)
    return client


def shown(response) -> list[UUID]:
    return [UUID(name) for name in re.findall(r'data-message-id="([^"]+)"', response.text)]


def branch(answers: list[Message]) -> list[UUID]:
    return [pk for answer in answers for pk in (answer.parent_id, answer.pk)]


def address(answer: Message, query: str = "") -> str:
    return f"/c/{answer.conversation_id}/{query}"


def test_the_branch_is_shown_from_its_root_to_its_leaf(she, alice):
    answers = chain(alice, 3)
    assert shown(she.get(address(answers[0]))) == branch(answers)


def test_of_a_long_branch_the_newest_fifty_are_shown_and_the_others_above_them(she, alice):
    answers = chain(alice, 60)
    page = she.get(address(answers[0]))
    found = shown(page)
    assert found == branch(answers)[-50:]
    while more := re.findall(r'hx-get="([^"]+earlier/[^"]+)"', page.text):
        page = she.get(more[0])
        found = shown(page) + found
    assert found == branch(answers)


def test_without_scripts_more_are_shown_when_they_are_asked_for(she, alice):
    answers = chain(alice, 60)
    page = she.get(address(answers[0]))
    (query,) = re.findall(r'id="earlier" href="([^"]+)"', page.text)
    assert shown(she.get(address(answers[0], query))) == branch(answers)


@pytest.mark.parametrize("newest", ["0", "-5", "x", "", "²", "9" * 40])
def test_a_number_that_makes_no_sense_shows_what_is_usual_or_a_little(she, alice, newest):
    answers = chain(alice, 30)
    found = shown(she.get(address(answers[0], f"?newest={newest}")))
    assert found == branch(answers)[-len(found) :]
    assert len(found) in (2, 50)


def test_an_answer_above_what_is_shown_does_not_offer_to_go_on(she, alice):
    stopped = ask(alice, status=Status.STOPPED)
    last = stopped
    for _ in range(25):
        last = ask(alice, last)
    page = she.get(address(last))
    (more,) = re.findall(r'hx-get="([^"]+earlier/[^"]+)"', page.text)
    above = she.get(more)
    assert stopped.pk in shown(above)
    assert "Continue" not in above.text


def test_a_named_message_opens_on_its_branch_and_moves_nobody(she, alice):
    first = ask(alice)
    old, new = ask(alice, first), ask(alice, first, "Otherwise?")
    page = she.get(address(first, f"?at={old.pk}"))
    assert shown(page) == [*branch([first]), old.parent_id, old.pk]
    assert Conversation.objects.get().head_id == new.pk
    assert shown(she.get(address(first))) == [*branch([first]), new.parent_id, new.pk]


def test_a_named_message_far_up_is_on_the_page(she, alice):
    answers = chain(alice, 60)
    assert answers[2].pk in shown(she.get(address(answers[0], f"?at={answers[2].pk}")))


def test_a_named_message_opens_the_leaf_where_one_last_was(she, alice):
    first = ask(alice)
    old, new = ask(alice, first), ask(alice, first, "Otherwise?")
    she.post(f"/m/{old.pk}/go/")
    she.post(f"/m/{new.pk}/go/")
    assert shown(she.get(address(first, f"?at={first.pk}")))[-1] == new.pk
    she.post(f"/m/{old.pk}/go/")
    assert shown(she.get(address(first, f"?at={first.pk}")))[-1] == old.pk


def test_six_siblings_are_six_after_a_reload(she, alice):
    first = ask(alice)
    for _ in range(5):
        store.start_answer(first.parent_id, author=alice, asked=AskedFor(model="demo:thinker"))
    assert "6 / 6" in she.get(address(first)).text


def test_one_answer_has_no_picker(she, alice):
    assert 'aria-label="Branches"' not in she.get(address(ask(alice))).text


def test_a_conversation_without_messages_can_be_asked(she, alice):
    first = ask(alice)
    deleting.delete_below(Message.objects.get(pk=first.parent_id))
    page = she.get(address(first))
    assert shown(page) == []
    assert page.status_code == 200 and "composer" in page.text


def test_a_question_without_an_answer_leads_the_next_question_to_the_answer_above(she, alice):
    first = ask(alice)
    second = ask(alice, first)
    deleting.delete_below(second)
    page = she.get(address(first))
    assert shown(page)[-1] == second.parent_id
    assert Page(page).value("parent") == str(first.pk)


def test_damaged_rows_show_what_is_left(she, alice):
    answers = chain(alice, 3)
    Message.objects.filter(pk=answers[0].parent_id).update(parent=answers[2])
    assert shown(she.get(address(answers[0])))[-1] == answers[2].pk
    Conversation.objects.update(head=None)
    assert she.get(address(answers[0])).status_code == 200
    assert she.get(address(answers[0], "map/")).status_code == 200


def test_hostile_text_is_text_wherever_it_stands(she, alice):
    attack = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    answer = ask(alice, text=attack)
    ended = {"reason": "broken", "sentence": attack, "raw": attack}
    facts = {
        "ended": ended,
        "reasoning_durations_ms": {attack: 5},
        "timings_ms": {attack: {"start": 0, "end": 1}},
    }
    claim = store.Claim(answer.pk, 1)
    Message.objects.filter(pk=answer.pk).update(status=Status.RUNNING, attempt=1)
    kinds = (Kind.REASONING, Kind.ASSISTANT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT)
    items = [
        Item(key=f"{n}{attack}", kind=kind, text=attack, name=attack, call_id=attack)
        for n, kind in enumerate(kinds)
    ]
    store.finish(claim, items, store.Measured())
    Message.objects.filter(pk=answer.pk).update(status=Status.FAILED, metadata=facts, model=f"demo:{attack}")
    text = she.get(address(answer)).text
    assert "alert(1)" in text
    assert "<script>alert" not in text and "<img" not in text


def test_the_cost_of_a_page_does_not_grow_with_the_conversation(she, alice):
    first = ask(alice)
    queries = []
    for _ in range(2):
        she.get(address(first))
        with CaptureQueriesContext(connection) as seen:
            she.get(address(first))
        queries.append(len(seen))
        last = first
        for _ in range(30):
            last = ask(alice, last)
    assert queries[1] <= queries[0]


def test_looking_writes_nothing(she, alice):
    first = ask(alice)
    ask(alice, first)
    with CaptureQueriesContext(connection) as seen:
        for query in ("", f"?at={first.pk}", "?newest=3", f"earlier/?before={first.pk}", "map/"):
            she.get(address(first, query))
    wrote = [query["sql"] for query in seen if query["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert wrote == []


def test_the_head_of_others_is_not_the_owners(alice, bob):
    """A reviewer's place is their own; so far only the owner can open a page, but places know it already."""
    first = ask(alice)
    old, new = ask(alice, first), ask(alice, first, "Otherwise?")
    places.go_to(bob, old)
    conversation = Conversation.objects.get()
    assert conversation.head_id == new.pk
    assert places.load_head(bob, conversation) == old.pk
    assert places.load_head(alice, conversation) == new.pk
