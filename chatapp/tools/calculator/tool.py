"""Exact arithmetic on one written expression."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from ..base import tool
from .arithmetic import Number
from .expressions import LONGEST, evaluate

DIGITS = 20
MOST_PLACES = 100

Expression = Annotated[
    str,
    Field(
        max_length=LONGEST,
        description="For example: (17.5 + 3) * 12 / 7, 2**64 - 1, sqrt(2), round(10/3, 2).",
    ),
]


def calculator(expression: Expression) -> str:
    """Computes an arithmetic expression exactly, with whole numbers, fractions and decimals of any size.

    It knows + - * / // (whole division) % (remainder) ** (power), parentheses, pi, e, and the functions abs,
    ceil, exp, factorial, floor, gcd, ln, log10, max, min, round and sqrt. A result that had to be rounded starts
    with ≈. Use it for every calculation that is not trivial."""
    return number_in_words(evaluate(expression))


def number_in_words(number: Number) -> str:
    """All its digits where they end; a fraction with its rounded value otherwise."""
    value = number.value
    if not number.exact:
        return f"≈ {_rounded(value)}"
    if value.denominator == 1:
        return str(value.numerator)
    places = _decimals(value.denominator)
    if places is None:
        return f"{value.numerator}/{value.denominator} ≈ {_rounded(value)}"
    return _with_point(value, places)


def _decimals(denominator: int) -> int | None:
    """How many decimals a fraction with this denominator has, or None where they end late or never."""
    twos = fives = 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    places = max(twos, fives)
    return places if denominator == 1 and places <= MOST_PLACES else None


def _with_point(value: Fraction, places: int) -> str:
    digits = str(abs(value.numerator) * 10**places // value.denominator).zfill(places + 1)
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def _rounded(value: Fraction) -> str:
    context = Context(prec=DIGITS)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    return (
        str(rounded.normalize(context))
        if abs(rounded.adjusted()) > DIGITS
        else f"{rounded.normalize(context):f}"
    )


TOOL = tool(calculator, title="Calculator", safe=True, idempotent=True, timeout=10.0)
