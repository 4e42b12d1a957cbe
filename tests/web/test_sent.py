"""What was sent is told in sentences, from what was noted of each request."""

from __future__ import annotations

import pytest

from chatapp.core.recorded import Recorded
from chatapp.web.sent import sent_of

from .answers import facts, text


def sent(*rounds, items=(), shortened=False, **metadata):
    recorded = Recorded({"rounds": list(rounds), **metadata})
    return sent_of(recorded, items, model="openai:gpt-5", label="GPT five", shortened=shortened)


def test_one_request_in_words():
    noted = facts(messages=5, usage={"input": 9_412}, replayed=4, dropped={"model changed": 1})
    assert sent(noted) == (
        "5 messages, 9,412 tokens. 4 thoughts went back to GPT five word for word; "
        "1 was left out because another model had made it.",
    )


def test_the_tokens_of_the_cache_are_told():
    assert "9 tokens, 4 of them from the cache." in sent(facts(usage={"input": 9, "cached": 4}))[0]


@pytest.mark.parametrize(
    ("reason", "number", "words"),
    [
        ("model changed", 2, "2 were left out because another model had made them"),
        ("cut turn", 1, "1 was left out because it was cut off"),
        ("stale", 2, "2 were left out because the provider no longer accepts them"),
        ("forbidden", 1, "1 was left out because the model takes none of its kind back"),
        ("capped", 3, "3 were left out because only the newest answers send theirs"),
    ],
)
def test_every_reason_has_its_words(reason, number, words):
    assert sent(facts(replayed=0, dropped={reason: number})) == (
        f"No thought went back to GPT five: {words}.",
    )


def test_a_reason_of_a_later_version_is_shown_as_it_is():
    assert "because the moon was full" in sent(facts(replayed=1, dropped={"the moon was full": 1}))[0]


def test_a_first_question_has_no_thoughts_to_send():
    assert sent(facts(replayed=0, dropped={})) == ("There were no earlier thoughts to send back.",)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("stale", "did not accept the earlier thoughts"),
        ("forbidden", "does not take thoughts back"),
        ("required", "wants the earlier thoughts"),
        ("no summary", "gives no summaries"),
    ],
)
def test_a_repair_is_told(how, words):
    assert words in sent(facts(replayed=0, repaired=[how, "of a later version"]))[0]


def test_each_request_has_its_paragraph_and_its_own_model():
    first, second = sent(facts(replayed=1), facts(1, model="other:model", replayed=2))
    assert "1 thought went back to GPT five word for word." in first
    assert "2 thoughts went back to other:model word for word." in second


def test_what_was_left_out_is_counted():
    assert "The oldest 12 messages were left out." in sent(facts(left_out=12), shortened=True)[0]
    assert "The oldest 1 message was left out." in sent(facts(left_out=1), shortened=True)[0]


def test_what_was_left_out_is_told_even_where_nobody_counted():
    assert sent(facts(), shortened=True) == ("The oldest turns were left out.",)


def test_going_on_after_cut_text_is_told():
    items = [text(cut=True, round=0), text("msg_2", round=1)]
    first, second = sent(facts(replayed=0), facts(1, replayed=0), items=items, goes_on_at=1)
    assert "go on where it ends" in second and "go on" not in first


def test_without_anything_noted_nothing_is_told():
    assert sent() == ()
    assert sent({"round": 0}) == ()
