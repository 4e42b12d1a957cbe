"""What answers cost."""

from __future__ import annotations

from decimal import Decimal

import pytest

from chatapp.catalog.models import KnownModel
from chatapp.catalog.store import Price, load_price


def test_fresh_cached_and_written_tokens_have_their_own_price():
    price = Price(Decimal("1.25"), Decimal(10), Decimal("0.125"))
    assert price.cost({"input": 1000, "cached": 400, "output": 50}) == 600 * 1.25 + 400 * 0.125 + 500


def test_cached_tokens_cost_as_much_as_fresh_ones_where_nobody_said_otherwise():
    assert Price(Decimal(2), Decimal(8)).cost({"input": 10, "cached": 10, "output": 1}) == 28


def test_more_cached_tokens_than_tokens_are_no_gain():
    assert Price(Decimal(2), Decimal(8), Decimal(1)).cost({"input": 10, "cached": 99}) == 10


@pytest.mark.both
@pytest.mark.django_db
def test_a_price_is_known_when_both_ways_have_one():
    KnownModel.objects.create(name="openai:half", input_price=Decimal(1))
    KnownModel.objects.create(name="openai:whole", input_price=Decimal("1.5"), output_price=Decimal(6))
    assert load_price("openai:half") is load_price("openai:nobody") is None
    assert load_price("openai:whole") == Price(Decimal("1.5"), Decimal(6))
