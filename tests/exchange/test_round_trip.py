"""Whatever goes out comes in again: it verifies, took as long, sends the same, and goes out as an equal file."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed: not any tree goes out and in")

from django.contrib.auth import get_user_model
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatapp import store
from chatapp.branches.store.forking import Extent
from chatapp.core.contracts import contract_for
from chatapp.core.history import Target, fold
from chatapp.core.items import Item, Kind, Outcome
from chatapp.store import AskedFor, Measured
from chatapp.store.models import Conversation, Message

from .bringing import came
from .filled import OPENAI, call, file_of, filled, result, thought, words

pytestmark = pytest.mark.both

TARGET = Target(
    *OPENAI.values(), contract_for("responses", model="gpt-5", host="api.openai.com"), thinking=True
)


def sent(conversation: Conversation, order: int):
    """What a question below this message would send."""
    row = Message.objects.get(conversation=conversation, order=order)
    return fold(store.load_branch(row.pk).log(), TARGET)


def durations(conversation: Conversation):
    rows = Message.objects.filter(conversation=conversation, deletion=None).order_by("order")
    return [row.metadata.get("reasoning_durations_ms") for row in rows]


def assert_same(source: Conversation, copy: Conversation) -> None:
    assert list(store.verify_log()) == []
    assert durations(copy) == durations(source)
    assert file_of(copy) == file_of(source)
    for order in Message.objects.filter(conversation=source).values_list("order", flat=True):
        assert sent(copy, order) == sent(source, order)


def test_a_conversation_that_is_brought_to_somebody_else_is_the_same(alice, bob):
    source = filled(alice)
    (copy,) = came(bob, file_of(source))
    assert (copy.owner, copy.title, copy.instructions) == (bob, source.title, source.instructions)
    assert_same(source, copy)
    # And once more.
    (again,) = came(alice, file_of(copy))
    assert_same(source, again)


@pytest.mark.parametrize("extent", Extent)
def test_each_extent_comes_again_as_it_went(alice, bob, extent):
    file = file_of(filled(alice), extent)
    (copy,) = came(bob, file)
    assert file_of(copy) == file


def test_whoever_brings_it_is_its_author_and_whoever_wrote_it_stays_in_words(alice, bob):
    (copy,) = came(bob, file_of(filled(alice)))
    rows = Message.objects.filter(conversation=copy)
    assert {row.author for row in rows} == {bob}
    assert {row.metadata["author"] for row in rows} == {"alice"}


WORDS = st.sampled_from(["Hm.", "So *it* is.", "", "  ", "é\u202e\n\n```"])


@st.composite
def rounds(draw, n):
    """One response of a model, with what its call gave."""
    said = [thought(f"rs_{n}", draw(WORDS), n)]
    said += [words(f"msg_{n}", draw(WORDS), n)] * draw(st.integers(0, 1))
    if not draw(st.booleans()):
        return said, []
    made = replace(call(f"fc_{n}", n), call_id=f"call_{n}")
    made = replace(made, wire=made.wire | {"call_id": f"call_{n}"})
    gave = replace(result(n), key="", call_id=f"call_{n}", outcome=draw(st.sampled_from(Outcome)))
    return [*said, made], [gave]


@st.composite
def answers(draw):
    return [draw(rounds(n)) for n in range(draw(st.integers(1, 3)))]


@st.composite
def trees(draw):
    """For each question which of the answers before it it follows, and how it is answered."""
    count = draw(st.integers(1, 6))
    return [(draw(st.integers(-1, n - 1)), draw(answers()), draw(st.booleans())) for n in range(count)]


def grown(owner, tree) -> Conversation:
    conversation = store.start_conversation(owner, tools=[], instructions="Be brief.")
    below: list = []
    for n, (above, made, is_whole) in enumerate(tree):
        started = store.start_turn(
            conversation.pk,
            f"Question {n}",
            parent=below[above] if above >= 0 else None,
            author=owner,
            asked=AskedFor(model="openai:gpt-5"),
        )
        below.append(started.answer)
        _answer(started.answer, made, is_whole)
    return Conversation.objects.get(pk=conversation.pk)


def _answer(answer, made, is_whole) -> None:
    claim = store.claim_turn(answer, runner="here", seen=0)
    for n, (said, gave) in enumerate(made):
        took = {item.key: 1000 + n for item in said if item.kind is Kind.REASONING}
        store.append_round(claim, said, Measured(durations=took, elapsed=1000.0 * n))
        for item in gave:
            named = replace(item, key=f"part-{len(store.load_items(answer))}")
            store.append_result(claim, named, Measured())
    if is_whole:
        store.finish(
            claim, [Item(key="end", kind=Kind.ASSISTANT_MESSAGE, text="Well.", round=len(made))], Measured()
        )
    else:
        store.stop(answer, None, by="1")


@pytest.mark.django_db
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(trees())
def test_any_tree_comes_again_as_it_went(tree):
    with transaction.atomic():
        alice, bob = (get_user_model().objects.create(username=name) for name in ("al", "bo"))
        source = grown(alice, tree)
        (copy,) = came(bob, file_of(source))
        assert_same(source, copy)
        transaction.set_rollback(True)
