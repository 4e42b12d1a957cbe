"""The map shows every message of a conversation once, in its order, with its line, its time and its way in."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from itertools import pairwise
from uuid import UUID, uuid4

import pytest

from chatapp import store
from chatapp.branches.page.map import WINDOW, rows_to_show
from chatapp.core.items import Item, Kind
from chatapp.core.tree import repair
from chatapp.store.models import Conversation, Message
from chatapp.store.models import Item as ItemRow


def asked(**more):
    return store.AskedFor(**({"model": "demo:thinker"} | more))


def finish(answer: UUID, *items: Item, durations=None) -> None:
    claimed = store.claim_turn(answer, runner="here", seen=0)
    store.finish(claimed, items, store.Measured(durations=durations or {}))


def says(words: str, key="msg") -> Item:
    return Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text=words)


@pytest.fixture
def tree(alice):
    """A question with two answers and one more question below the second."""
    first = store.open_conversation(alice, "Why is the *sky* blue?", tools=[], asked=asked())
    thinks = Item(key="rs", kind=Kind.REASONING, text="Canary of a thought.")
    finish(first.answer, thinks, says("## Because\n\nof **light**."), durations={"rs": 22_500})
    second = store.start_answer(first.question, author=alice, asked=asked())
    finish(second.answer, says("It is not."))
    third = store.start_turn(
        first.conversation, "And at night?", parent=second.answer, author=alice, asked=asked()
    )
    store.stop(third.answer, None)
    return first, second, third


@pytest.fixture
def page(client, alice):
    client.force_login(alice)
    return lambda conversation, query="": client.get(f"/c/{conversation}/map/{query}")


class Rows(HTMLParser):
    """The rows of the map: their attributes, where they stand, where their button leads, and what they say."""

    def __init__(self, response) -> None:
        super().__init__()
        self.rows: list[dict] = []
        self.feed(response.text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "li" and "data-role" in attrs:
            self.rows.append({"attrs": attrs, "words": "", "button": {}})
        elif tag in ("circle", "rect") and self.rows:
            self.rows[-1]["x"] = int(attrs["cx"]) if tag == "circle" else int(attrs["x"]) + 5
        elif tag == "button" and attrs.get("formaction", "").startswith("/m/"):
            self.rows[-1]["button"] = attrs

    def handle_data(self, data):
        if self.rows:
            self.rows[-1]["words"] += data


def test_every_message_is_a_row_in_its_order(tree, page):
    first, second, third = tree
    rows = Rows(page(first.conversation)).rows
    assert [row["button"]["formaction"] for row in rows] == [
        f"/m/{message}/go/"
        for message in (first.question, first.answer, second.answer, third.question, third.answer)
    ]
    assert [row["attrs"]["data-role"] for row in rows] == [
        "user",
        "assistant",
        "assistant",
        "user",
        "assistant",
    ]
    assert ["data-active" in row["attrs"] for row in rows] == [True, False, True, True, True]
    assert [row["button"].get("aria-current") for row in rows] == [None] * 4 + ["true"]


def test_a_row_says_how_the_message_begins_and_how_it_went(tree, page):
    rows = Rows(page(tree[0].conversation)).rows
    assert "Why is the *sky* blue?" in rows[0]["words"] or "Why is the sky blue?" in rows[0]["words"]
    assert "Answer: Because of light." in rows[1]["words"]
    assert "23 s" in rows[1]["words"]
    assert "No words" in rows[4]["words"] and "stopped" in rows[4]["words"]


def test_the_head_of_the_page_counts_and_says_what_it_added_up(tree, page):
    text = page(tree[0].conversation).text
    assert "5 messages on 2 branches" in text
    assert "Thinking took 23 s: all answers on all branches added up." in text


def test_on_one_branch_the_head_speaks_of_no_other(alice, page):
    first = store.open_conversation(alice, "Why?", tools=[], asked=asked())
    finish(first.answer, says("So."), durations={"rs": 4_000})
    assert "Thinking took 4 s.</p>" in page(first.conversation).text
    second = store.start_turn(
        first.conversation, "And then?", parent=first.answer, author=alice, asked=asked()
    )
    finish(second.answer, says("Then so."), durations={"rs": 5_000})
    assert "Thinking took 9 s: all answers added up." in page(first.conversation).text


def test_going_to_another_branch_and_a_new_answer_at_the_end_leave_every_message_at_its_place(
    tree, page, client, alice
):
    first, _, third = tree
    before = Rows(page(first.conversation)).rows
    client.post(f"/m/{first.answer}/go/")
    gone = Rows(page(first.conversation)).rows
    assert [row["x"] for row in gone] == [row["x"] for row in before]
    assert [row["attrs"] for row in gone] != [row["attrs"] for row in before]
    for parent in (first.question, third.question):
        store.start_answer(parent, author=alice, asked=asked())
    grown = Rows(page(first.conversation)).rows
    assert len(grown) == 7 and [row["x"] for row in grown[:5]] == [row["x"] for row in before]


def test_no_thought_is_told_only_how_long_it_took(tree, page):
    assert "Canary" not in page(tree[0].conversation).text


def test_every_row_goes_to_its_message(tree, page, client):
    first, *_ = tree
    (row,) = [row for row in Rows(page(first.conversation)).rows if str(first.answer) in str(row["button"])]
    response = client.post(row["button"]["formaction"])
    assert response.status_code in (302, 303)
    assert Conversation.objects.get(pk=first.conversation).head_id == first.answer
    current = [row for row in Rows(page(first.conversation)).rows if "aria-current" in row["button"]]
    assert str(first.answer) in current[0]["button"]["formaction"]


def test_looking_at_the_map_moves_nothing(tree, page):
    before = Conversation.objects.get(pk=tree[0].conversation).head_id
    page(tree[0].conversation)
    assert Conversation.objects.get(pk=tree[0].conversation).head_id == before


def test_what_is_deleted_is_not_on_the_map(tree, page):
    first, second, third = tree
    gone = {second.answer, third.question, third.answer}
    Message.objects.filter(pk__in=gone).update(deletion=uuid4())
    rows = Rows(page(first.conversation)).rows
    assert [row["button"]["formaction"] for row in rows] == [
        f"/m/{first.question}/go/",
        f"/m/{first.answer}/go/",
    ]


@pytest.mark.parametrize("person", ["bob", "charlie", "dana"])
def test_the_map_of_another_is_not_there(tree, client, person, request):
    client.force_login(request.getfixturevalue(person))
    foreign = client.get(f"/c/{tree[0].conversation}/map/")
    missing = client.get(f"/c/{uuid4()}/map/")
    assert foreign.status_code == missing.status_code == 404
    assert foreign.content == missing.content


def test_strangers_are_asked_to_sign_in(tree, client):
    assert client.get(f"/c/{tree[0].conversation}/map/")["Location"].startswith("/accounts/login/")


def test_a_conversation_without_messages_says_what_to_do(alice, page):
    assert "Nothing has been said here yet" in page(store.start_conversation(alice, tools=[]).id).text


def test_what_people_and_models_wrote_is_text(alice, page):
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    first = store.open_conversation(alice, hostile, tools=[], asked=asked(model="demo:<b>"))
    finish(first.answer, says(hostile))
    text = page(first.conversation).text
    assert "<img" not in text and "<script>alert" not in text and "<b>\n" not in text


@pytest.mark.parametrize("query", ["?from=x", "?from=-1", "?from=1e3", "?from=" + "9" * 30, "?from=%00"])
def test_an_odd_place_to_begin_is_refused(tree, page, query):
    assert page(tree[0].conversation, query).status_code == 400


def test_a_cycle_and_an_orphan_are_drawn_and_told(tree, page):
    first, second, _ = tree
    Message.objects.filter(pk=first.question).update(parent=second.answer)
    response = page(first.conversation)
    assert len(Rows(response).rows) == 5
    assert "damaged" in response.text and "is below itself" in response.text


def test_damaged_figures_do_not_break_the_map(tree, page):
    first, second, _ = tree
    for pk, metadata in (
        (first.answer, []),
        (second.answer, {"reasoning_durations_ms": {"rs": "x", "a": 10**40}}),
    ):
        Message.objects.filter(pk=pk).update(metadata=metadata)
    assert len(Rows(page(first.conversation)).rows) == 5


def long_conversation(alice, messages: int) -> Conversation:
    """A chain, with a second answer to every tenth question."""
    conversation = store.start_conversation(alice, tools=[])
    rows = [
        Message(
            conversation=conversation,
            order=n,
            role="assistant" if n % 2 else "user",
            model="demo:thinker" if n % 2 else "",
            metadata={"reasoning_durations_ms": {"rs": 3_000}} if n % 2 else {},
        )
        for n in range(messages)
    ]
    for above, row in pairwise(rows):
        row.parent = above
    for n in range(21, messages, 20):
        rows[n].parent = rows[n - 21]
    Message.objects.bulk_create(rows, batch_size=2_000)
    ItemRow.objects.bulk_create(
        [
            ItemRow(
                message=row,
                seq=0,
                key="k",
                kind="assistant_message" if n % 2 else "user_message",
                text=f"Said {n}",
            )
            for n, row in enumerate(rows)
        ],
        batch_size=2_000,
    )
    Conversation.objects.filter(pk=conversation.pk).update(next_order=messages, head=rows[-1])
    return conversation


def test_ten_thousand_messages_open_at_once_and_are_shown_window_by_window(alice, page):
    conversation = long_conversation(alice, 10_000)
    page(conversation.pk)
    began = time.process_time()
    response = page(conversation.pk)
    assert time.process_time() - began < 5
    rows = Rows(response).rows
    assert len(rows) == WINDOW and "Said 9999" in rows[-1]["words"]
    assert re.search(r"9,?601 to 10,?000 of 10,?000", response.text)
    assert f"?from={10_000 - 2 * WINDOW}" in response.text and "Later messages" not in response.text
    earlier = Rows(page(conversation.pk, f"?from={10_000 - 2 * WINDOW}")).rows
    assert "Said 9200" in earlier[0]["words"]
    assert "Later messages" in page(conversation.pk, "?from=0").text
    assert "Earlier messages" not in page(conversation.pk, "?from=0").text


def test_the_page_takes_few_questions_to_the_database(alice, page, django_assert_max_num_queries):
    conversation = long_conversation(alice, 600)
    with django_assert_max_num_queries(14):
        page(conversation.pk)


@pytest.mark.parametrize(
    ("count", "head", "begin", "shown"),
    [
        (10, 9, None, range(10)),
        (0, None, None, range(0)),
        (1000, 500, None, range(300, 700)),
        (1000, 999, None, range(600, 1000)),
        (1000, 0, None, range(400)),
        (1000, 0, 950, range(600, 1000)),
        (1000, 0, 10**8, range(600, 1000)),
    ],
)
def test_the_window_stands_around_what_is_open(count, head, begin, shown):
    assert rows_to_show(repair([(n, n - 1 if n else None) for n in range(count)], head=head), begin) == shown
