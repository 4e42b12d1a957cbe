"""What holds for every expression and every text."""

from __future__ import annotations

from fractions import Fraction

import pytest

pytest.importorskip(
    "hypothesis", reason="hypothesis is not installed: the laws of the calculator are not tested"
)

from hypothesis import given, settings
from hypothesis import strategies as st

from chatapp.tools import ToolError
from chatapp.tools.calculator.expressions import evaluate
from chatapp.tools.calculator.tool import calculator

LEAVES = st.integers(0, 999).map(str)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner).map(" ".join)
        | inner.map(lambda text: f"({text})")
        | inner.map(lambda text: f"-({text})")
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(EXPRESSIONS)
def test_it_agrees_with_pythons_own_exact_arithmetic(expression: str):
    as_fractions = "".join(f"Fraction({word})" if word.isdigit() else word for word in _words(expression))
    try:
        expected = Fraction(eval(as_fractions, {"Fraction": Fraction}))
    except ZeroDivisionError:
        with pytest.raises(ToolError, match="divided by zero"):
            evaluate(expression)
    else:
        assert evaluate(expression).value == expected and evaluate(expression).exact


def _words(expression: str) -> list[str]:
    for sign in "()-":
        expression = expression.replace(sign, f" {sign} ")
    return expression.split()


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=[]), max_size=60)
    | st.text("0123456789.+-*/%^() esqrtin,", max_size=60)
)
def test_any_text_gives_a_result_or_a_refusal(text: str):
    try:
        assert calculator(text)
    except ToolError as error:
        assert str(error)


@given(st.integers(), st.integers(0, 60))
def test_a_decimal_is_written_with_exactly_its_digits(number: int, places: int):
    text = calculator(f"{number} / 10**{places}")
    assert Fraction(text) == Fraction(number, 10**places)
