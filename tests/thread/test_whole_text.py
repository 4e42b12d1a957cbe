"""What was cut and went on is one text wherever it is read, and stays several items in the log."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

from chatapp import store
from chatapp.core.items import Kind
from chatapp.oversight.page.bounds import Formatting
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit
from chatapp.sharing import store as sharing
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Message
from chatapp.thread.as_markdown import as_markdown
from chatapp.thread.items_so_far import ItemSoFar, items_so_far
from chatapp.thread.whole_text import as_whole_texts
from tests.support.make import text, thought
from tests.support.page import Page
from tests.support.reviewed import browser, reviewer

from .answers import answer, call, result

pytestmark = pytest.mark.django_db

CUT = "Two cities:\n\n| City | People |\n|---|---|\n| Ghent | 265,000 |\n| Lis"
REST = "bon | 545,000 |\n\nLisbon wants the best shoes."
PIECES = [
    thought(text="First."),
    text("m_1", text=CUT, cut=True, wire=None),
    thought("rs_2", text="And on.", round=1),
    text("m_2", text=REST, round=1),
]


@pytest.fixture
def leaf(alice) -> Message:
    started = store.open_conversation(alice, "Which?", tools=[], asked=AskedFor(model="demo:thinker"))
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    spans = {item.key: {"start": 0, "end": 9000} for item in PIECES}
    thoughts = {item.key: 4000 for item in PIECES if item.kind is Kind.REASONING}
    store.finish(claim, PIECES, Measured(durations=thoughts, timings=spans, elapsed=30_000))
    return Message.objects.get(pk=started.answer)


def drawn(page) -> list[tuple[str, str]]:
    """The items in their order, each with its words."""
    found = [it for it in Page(page).having("data-item-key") if 'data-kind="user' not in str(it)]
    return [(re.findall(r'data-item-key="([^"]+)', str(it))[0], str(it)) for it in found]


def assert_one_table(page) -> None:
    items = drawn(page)
    assert [key for key, _ in items] == ["rs_1", "m_1", "rs_2", "m_2"]
    own = dict(items)
    assert own["m_1"].count("<table>") == 1 and own["m_1"].count("<tr") == 4
    assert "Lisbon" in own["m_1"] and own["m_1"].count('class="seam"') == 1
    assert "<table" not in own["m_2"] and "best shoes" in own["m_2"]


def test_a_table_is_one_on_every_page(leaf, alice, bob, dana):
    conversation = leaf.conversation_id
    link = sharing.share(leaf, by=alice)
    review = submit(leaf, by=alice)
    reviewing.claim(review, by=reviewer(bob))
    assert_one_table(browser(alice).get(f"/c/{conversation}/"))
    assert_one_table(browser().get(f"/s/{link.token}/"))
    assert_one_table(browser(bob).get(f"/review/{review.pk}/"))
    assert_one_table(browser(dana).get(f"/admin/chatapp/conversation/{conversation}/transcript/"))


@pytest.mark.parametrize(
    ("stopped", "went_on", "words"),
    [
        ("2026-11-19T13:09:05Z", "2026-11-19T13:15:50Z", "stopped at 14:09, went on at 14:15"),
        (
            "2026-11-19T22:59:00Z",
            "2026-11-20T07:00:00Z",
            "stopped 19 November 2026, went on 20 November 2026",
        ),
    ],
)
def test_its_owner_reads_when_it_was_cut_and_went_on(leaf, alice, stopped, went_on, words):
    seconds = {
        name: int(datetime.fromisoformat(at).timestamp())
        for name, at in (("stopped", stopped), ("went_on", went_on))
    }
    Message.objects.filter(pk=leaf.pk).update(metadata={**leaf.metadata, "gaps": {"1": seconds}})
    client = browser(alice)
    client.cookies["zone"] = "Europe/Brussels"
    [own] = [html for key, html in drawn(client.get(f"/c/{leaf.conversation_id}/")) if key == "m_1"]
    assert own.count(f'data-said="{words}"') == own.count(f'data-cut="{words}"') == 1
    link = sharing.share(leaf, by=alice)
    assert "went on" not in browser().get(f"/s/{link.token}/").text


@pytest.mark.parametrize(
    "gaps",
    [
        None,
        [],
        {"x": {}},
        {"1": 3},
        {"1": {"stopped": -1, "went_on": 2}},
        {"1": {"stopped": "0", "went_on": 2}},
    ],
)
def test_a_damaged_record_tells_no_time(leaf, alice, gaps):
    Message.objects.filter(pk=leaf.pk).update(metadata={**leaf.metadata, "gaps": gaps})
    assert_one_table(browser(alice).get(f"/c/{leaf.conversation_id}/"))


def test_it_is_one_where_it_is_compared(leaf, alice):
    other = store.start_answer(leaf.parent_id, author=alice, asked=AskedFor(model="demo:thinker"))
    store.finish(store.claim_turn(other.answer, runner="here", seen=0), [text("x")], Measured(elapsed=1))
    page = browser(alice).get(f"/compare/?a={leaf.pk}&b={other.answer}")
    assert dict(drawn(page))["m_1"].count("<tr") == 4


def test_the_log_keeps_its_pieces(leaf):
    assert [item.text for item in store.load_items(leaf.pk) if item.kind is Kind.ASSISTANT_MESSAGE] == [
        CUT,
        REST,
    ]


def test_a_copy_has_it_as_one(leaf, alice):
    copied = browser(alice).get(f"/m/{leaf.pk}/copy/").text
    assert copied == CUT + REST


def test_in_a_copy_with_thoughts_none_parts_it():
    copied = as_markdown(answer(), PIECES, thoughts=True)
    assert copied.endswith(f"> **Thought**\n>\n> And on.\n\n{CUT}{REST}")


def test_what_a_call_stands_in_is_two_texts():
    pieces = [PIECES[1], call(round=1), result(round=1), text("m_2", text=REST, round=1)]
    assert [piece.whole for piece in as_whole_texts(items_so_far(answer(), pieces))] == [None] * 3
    assert as_markdown(answer(), pieces) == f"{CUT}\n\n{REST}"


def test_what_was_not_cut_is_not_joined():
    pieces = [text("m_1", text="One."), text("m_2", text="Two.")]
    assert [piece.whole for piece in as_whole_texts(items_so_far(answer(), pieces))] == [None] * 2


def test_what_is_cut_twice_is_one_text():
    pieces = [
        text("m_1", text="- One\n- Tw", cut=True),
        text("m_2", text="o\n- Th", cut=True, round=1),
        text("m_3", text="ree", round=2),
    ]
    whole = as_whole_texts(items_so_far(answer(), pieces))[-1].whole
    assert whole and whole.said == ("- One\n- Tw", "- One\n- Two\n- Th", "- One\n- Two\n- Three")


def test_beyond_the_bound_of_a_transcript_all_its_pieces_stand_as_they_were_written(leaf):
    pieces = as_whole_texts(items_so_far(leaf, PIECES))
    formatting = Formatting(most=len(CUT) + 20)
    made = ["".join(formatting.blocks(leaf.pk, piece)) for piece in pieces if piece.kind != Kind.REASONING]
    assert all(html.startswith("<pre") for html in made)
    assert made[1].count("bon |") == 1


def test_a_text_of_which_only_the_beginning_is_shown_is_not_joined():
    pieces = [
        ItemSoFar(key="a", kind=Kind.ASSISTANT_MESSAGE, text="On", cut="stopped", shortened=True),
        ItemSoFar(key="b", kind=Kind.ASSISTANT_MESSAGE, text="e"),
    ]
    assert [piece.whole for piece in as_whole_texts(pieces)] == [None, None]
