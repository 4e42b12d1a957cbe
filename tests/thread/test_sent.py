"""What was sent is told in sentences, from what was noted of each request."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from chatapp.core.recorded import Recorded
from chatapp.thread.sent import sent_of
from chatapp.thread.timeline import timeline_of

from .answers import answer, facts, text


def sent(*rounds, items=(), shortened=False, **metadata):
    return tuple(request.words for request in requests(*rounds, items=items, shortened=shortened, **metadata))


def requests(*rounds, items=(), shortened=False, **metadata):
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
        ("bound", "with leave to drop them"),
        ("unbound", "takes no leave"),
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


def test_the_tokens_that_came_back_are_told():
    assert sent(facts(usage={"input": 9, "output": 1_204})) == ("9 tokens. 1,204 tokens came back.",)


def test_the_shape_of_a_request_stands_line_by_line_with_nothing_hidden():
    (request,) = requests(facts(replayed=1, shape=['model: "gpt-5"', "name: \u202egnp"]))
    assert request.shape == 'model: "gpt-5"\nname: ⟨U+202E⟩gnp'


def test_a_request_of_which_only_the_shape_is_known_is_told():
    (request,) = requests({"shape": ["store: false"]})
    assert (request.words, request.shape) == ("", "store: false")


def test_a_shape_is_shown_in_the_details_of_the_answer_as_text():
    metadata = {"rounds": [facts(replayed=0, shape=["<script>alert(1)</script>"])], "elapsed_ms": 9}
    page = render_to_string(
        "thread/_timeline.html", {"timeline": timeline_of(answer(metadata=metadata), [text()], "m")}
    )
    assert "The request’s shape" in page and "&lt;script&gt;" in page and "<script" not in page


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("prefix_binding_mismatch", "what stands before it has changed"),
        ("model_mismatch", "it belongs to another model"),
        ("organization_binding_mismatch", "it belongs to another account"),
        ("turn_boundary", "it belongs to an earlier turn"),
        ("of a later version", "of a later version"),
    ],
)
def test_thoughts_that_the_provider_took_out_itself_are_told(reason, words):
    assert sent(facts(replayed=3, withheld={reason: 2})) == (
        f"3 thoughts went back to GPT five word for word. The provider did not show the model 2 of them: {words}.",
    )


def test_thoughts_that_a_program_had_left_out_are_told():
    said = sent(facts(restored=2, missed=1))[0]
    assert "2 thoughts were put back that the program had left out." in said
    assert "1 thought that the program had left out was not found any more." in said


def test_frames_that_nobody_could_read_are_told():
    assert "1 frame of the answer could not be read and was skipped." in sent(facts(skipped=1))[0]
    assert "3 frames of the answer could not be read and were skipped." in sent(facts(skipped=3))[0]
