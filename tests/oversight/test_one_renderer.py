"""An item looks alike wherever it is read: on its owner's page, by a link, in a review, and in the transcript of administrators."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from chatapp import store
from chatapp.core.decision import Decided, Decision, decision_item
from chatapp.core.items import Kind
from chatapp.markdown.whole import as_it_is
from chatapp.oversight.page.bounds import MOST_SIGNS, Formatting, cut, left_out
from chatapp.reviews.store import reviewing
from chatapp.reviews.store.submitting import submit
from chatapp.sharing import store as sharing
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Conversation, Message
from chatapp.thread.items_so_far import ItemSoFar
from tests.support.attacks import ATTACKS
from tests.support.make import call, result, text, thought
from tests.support.page import Page, attribute, words
from tests.support.reviewed import browser, reviewer

pytestmark = pytest.mark.django_db

WORDS = "Some **bold** words, a [link](https://example.org/) and\n\n| a table |\n|--|\n| 1 |"


def asked(owner, question="Why *so*?", beside=None):
    how = AskedFor(model="demo:thinker")
    if beside:
        return store.start_answer(beside.question, author=owner, asked=how)
    return store.open_conversation(owner, question, tools=[], asked=how)


def answered(owner, *items, beside=None, thought_for=7000):
    started = asked(owner, beside=beside)
    durations = {item.key: thought_for for item in items if item.kind is Kind.REASONING}
    timings = {item.key: {"start": 7000, "end": 8200} for item in items}
    measured = Measured(durations=durations, timings=timings, elapsed=9000)
    store.finish(store.claim_turn(started.answer, runner="here", seen=0), items, measured)
    return started


def every_kind(owner):
    """An item of each kind; a result stands in its call, and another one, whose call is gone, by itself."""
    made = call(text='{"q": "moon"}')
    at = datetime(2026, 11, 19, 12, tzinfo=UTC).isoformat()
    decided = Decided(
        call="fc_1", decision=Decision.ONCE, arguments_hash="", by=str(owner.pk), name="alice", at=at
    )
    return [
        thought(text=WORDS),
        made,
        decision_item("part-2", made, decided),
        result(text='{"n": 1}', outcome="failed"),
        result("part-10", call_id="gone", text="lost", outcome="done"),
        text(text=WORDS),
    ]


def drawn(page) -> dict[str, str]:
    """By their keys; who decided is told to each in another way."""
    found = Page(page).having("data-item-key")
    told = {f"{attribute(it, 'data-kind')} {attribute(it, 'data-item-key')}": str(it) for it in found}
    return {name: re.sub(r"Allowed once(:| by \w+)", "Allowed once", html) for name, html in told.items()}


def transcript(conversation, query=""):
    return f"/admin/chatapp/conversation/{conversation}/transcript/{query}"


def test_every_kind_of_item_is_drawn_alike_wherever_it_is_read(alice, bob, dana):
    started = answered(alice, *every_kind(alice))
    leaf = Message.objects.get(pk=started.answer)
    link = sharing.share(leaf, by=alice)
    review = submit(leaf, by=alice)
    reviewing.claim(review, by=reviewer(bob))
    own = drawn(browser(alice).get(f"/c/{started.conversation}/"))
    assert {name.split()[0] for name in own} == set(Kind)
    assert drawn(browser().get(f"/s/{link.token}/")) == own
    assert drawn(browser(bob).get(f"/review/{review.pk}/")) == own
    assert drawn(browser(dana).get(transcript(started.conversation))) == own


def test_every_branch_has_its_durations(alice, dana):
    first = answered(alice, thought(text="One."), text())
    for seconds in (13, 26):
        answered(alice, thought(text="Two."), text(), beside=first, thought_for=seconds * 1000)
    answers = Message.objects.filter(conversation=first.conversation, role="assistant").order_by("order")
    pages = [browser(dana).get(transcript(first.conversation, f"?at={row.pk}")) for row in answers]
    labels = [words(label) for page in pages for label in Page(page).all("strong")]
    assert [it for it in labels if it.startswith("Thought for")] == [
        f"Thought for {seconds} seconds" for seconds in (7, 13, 26)
    ]


def test_a_call_that_waits_is_shown_as_it_is_asked_and_nobody_else_can_decide(alice, dana):
    started = asked(alice)
    made = call(name="send", text='{"to": "bob"}')
    claim = store.claim_turn(started.answer, runner="here", seen=0)
    store.append_round(claim, [made], Measured())
    store.park(claim, [made], Measured())
    page = browser(dana).get(transcript(started.conversation)).text
    assert "<code>send</code> wants to run" in page and "&quot;to&quot;: &quot;bob&quot;" in page
    assert "waits for its owner" in page and "waits for you" not in page.lower()
    assert "/decide/" not in page and "Allow" not in page


def test_what_attacks_a_page_stands_there_as_text(alice, dana):
    said = "\n\n".join(ATTACKS)[:9000]
    items = [thought(text=said), call(text=said, name=said[:80]), result(text=said), text(text=said)]
    started = answered(alice, *items)
    Conversation.objects.update(title=said[:150])
    page = browser(dana).get(transcript(started.conversation)).text
    inside = page[page.index("<article") : page.index('<nav class="turns"')]
    assert not re.search(r"<(script|img|iframe|object|embed|form|style|base|meta|link)\b", inside, re.I)
    assert not re.search(r"<[^>]*\s(on\w+|style|hx-\w+|formaction|srcdoc)=", inside)
    assert not re.search(r'(href|src)="\s*(javascript|data|vbscript):', inside, re.I)


# What a page may cost


def test_a_long_text_is_cut_as_people_read_it_and_the_rest_is_counted():
    assert cut(ItemSoFar(key="a", kind=Kind.REASONING, text="x" * MOST_SIGNS)).text == "x" * MOST_SIGNS
    long = ItemSoFar(key="r", kind=Kind.TOOL_RESULT, text="[" + "1," * MOST_SIGNS + "1]")
    shown = cut(ItemSoFar(key="c", kind=Kind.TOOL_CALL, text="{}", result=long))
    assert shown.text == "{}" and shown.result
    assert shown.result.text.startswith("[\n  1,\n  1,") and len(shown.result.text) == MOST_SIGNS + 1
    assert left_out([text(text="x" * (MOST_SIGNS + 7)), text(text="x")]) == 7


def test_beyond_a_bound_texts_stand_as_they_were_written():
    formatting, row = Formatting(most=12), Message()
    pieces = [ItemSoFar(key=f"t{n}", kind=Kind.REASONING, text=f"**{n}**") for n in range(3)]
    made = ["".join(formatting.blocks(row.pk, piece)) for piece in pieces]
    assert made == [f'<p dir="auto"><strong>{n}</strong></p>' for n in "01"] + [as_it_is("**2**")]
    assert formatting.is_cut_short
    assert "<pre" in formatting.blocks(row.pk, ItemSoFar(key="r", kind=Kind.TOOL_RESULT, text="{}"))[0]
