"""From four fifths of the window on a meter says how full a conversation is, and what can be done."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from chatapp.providers.base import ModelSpec
from chatapp.thread.meter import larger, meter_of

from .answers import answer, facts


def counted(*usages):
    return answer(metadata={"rounds": [facts(n, usage=usage) for n, usage in enumerate(usages)]})


def never(_):
    raise AssertionError("Nobody counts letters where tokens were counted.")


@pytest.mark.parametrize(
    ("tokens", "percent"), [(799, None), (800, 80), (859, 85), (869, 86), (1_000, 100), (2_500, 250)]
)
def test_it_is_shown_from_four_fifths_on(tokens, percent):
    meter = meter_of(counted({"input": tokens - 9, "output": 9}), 1_000, characters=never)
    assert (meter and meter.percent) == percent


def test_it_says_of_which_model():
    assert meter_of(counted({"input": 860}), 1_000).words == "This conversation fills 86 % of gpt-5’s window"
    named = meter_of(counted({"input": 860}), 1_000, label="GPT five")
    assert "GPT five’s window" in named.words


def test_only_the_last_round_counts():
    assert meter_of(counted({"input": 999}, {"input": 10, "output": 5}), 1_000, characters=never) is None


def test_without_counted_tokens_it_is_an_estimate():
    meter = meter_of(counted({}), 1_000, characters=lambda _: 3_600)
    assert meter.words == "This conversation fills about 90 % of gpt-5’s window"


@pytest.mark.parametrize("window", [None, 0])
def test_a_model_of_unknown_size_has_none(window):
    assert meter_of(counted({"input": 10**6}), window, characters=never) is None


def test_larger_models_are_offered_nearest_first():
    models = [
        ModelSpec(provider="p", dialect="chat", name=str(size), window=size) for size in (9, 3, 5, 7, 1)
    ]
    nameless = ModelSpec(provider="p", dialect="chat", name="unknown")
    assert [found.window for found in larger(3, [*models, nameless])] == [5, 7, 9]
    assert [found.window for found in larger(None, [*models, nameless])] == [9, 7, 5]
    assert larger(9, models) == ()


def test_the_page_shows_the_meter_beside_its_words_and_the_choice():
    page = render_to_string("thread/_meter.html", {"meter": meter_of(counted({"input": 860}), 1_000)})
    assert 'id="meter"' in page and 'value="86"' in page and "86 % of gpt-5’s window" in page
    assert 'name="leave_out" value="1" form="composer"' in page


def test_with_room_left_the_place_of_the_meter_is_empty():
    page = render_to_string("thread/_meter.html", {"meter": None})
    assert 'id="meter"' in page and "<meter" not in page and "leave_out" not in page


def test_an_answer_that_was_too_long_offers_what_helps():
    row = answer()
    models = larger(3, [ModelSpec(provider="p", dialect="chat", name="<wide>", window=500_000)])
    page = render_to_string(
        "thread/_too_long.html", {"message": {"row": row, "may_leave_out": True}, "larger": models}
    )
    assert f'formaction="/m/{row.pk}/again/" name="leave_out" value="1"' in page
    assert "500,000 tokens" in page
    assert 'name="model" value="p:&lt;wide&gt;"' in page and "<wide>" not in page


def test_where_no_turn_is_older_none_can_be_left_out():
    meter = replace(meter_of(counted({"input": 860}), 1_000), may_leave_out=False)
    assert "leave_out" not in render_to_string("thread/_meter.html", {"meter": meter})
    page = render_to_string("thread/_too_long.html", {"message": {"row": answer(), "may_leave_out": False}})
    assert "leave_out" not in page and "Choose a larger model" in page
