"""Numbers and what can be done with them: exact fractions wherever possible, and a cap on everything that can grow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from ..base import ToolError

MOST_BITS = 13_000
LARGEST_EXPONENT = 4000
LARGEST_FACTORIAL = 1000
MOST_VALUES = 1000
PRECISE = Context(prec=60)

Operation = Callable[[Fraction, Fraction], Fraction | int]

TOO_LONG = "The numbers get too long: at most about 3,900 digits are possible."


@dataclass(frozen=True, slots=True)
class Number:
    """`exact` is False as soon as something had to be rounded."""

    value: Fraction
    exact: bool = True

    def __post_init__(self) -> None:
        if max(self.value.numerator.bit_length(), self.value.denominator.bit_length()) > MOST_BITS:
            raise ToolError(TOO_LONG)


def written(digits: str) -> Number:
    exponent = digits.lower().partition("e")[2]
    # Looked at before it is computed: 1e999999999 would fill the memory.
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > LARGEST_EXPONENT):
        raise ToolError(TOO_LONG)
    return Number(Fraction(digits))


def negative(number: Number) -> Number:
    return Number(-number.value, number.exact)


def apply(operation: Operation, left: Number, right: Number) -> Number:
    return Number(Fraction(operation(left.value, right.value)), left.exact and right.exact)


def power(base: Number, exponent: Number) -> Number:
    if exponent.value.denominator != 1:
        return _root(base, exponent)
    times = exponent.value.numerator
    size = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    if size > 1 and size * abs(times) > 2 * MOST_BITS:
        raise ToolError(TOO_LONG)
    return Number(Fraction(base.value**times), base.exact and exponent.exact)


def _root(base: Number, exponent: Number) -> Number:
    if base.value < 0:
        raise ToolError("A negative number has no real power with a fraction as its exponent.")
    if exponent.value == Fraction(1, 2):
        return _sqrt(base)
    if base.value == 0:
        return Number(Fraction(0) ** (1 if exponent.value > 0 else -1), base.exact)
    return _exp(Number(exponent.value * _ln(base).value, base.exact and exponent.exact))


def called(name: str, arguments: list[Number]) -> Number:
    fewest, most, function = FUNCTIONS[name]
    if not fewest <= len(arguments) <= most:
        takes = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise ToolError(f"{name} takes {takes} values, not {len(arguments)}.")
    return function(*arguments)


def _decimal(number: Number) -> Decimal:
    return PRECISE.divide(Decimal(number.value.numerator), Decimal(number.value.denominator))


def _whole(number: Number, what: str) -> int:
    if number.value.denominator != 1:
        raise ToolError(f"{what} needs whole numbers.")
    return number.value.numerator


def _sqrt(number: Number) -> Number:
    if number.value < 0:
        raise ToolError("A negative number has no real square root.")
    top, bottom = math.isqrt(number.value.numerator), math.isqrt(number.value.denominator)
    root = Fraction(top, bottom)
    if root * root == number.value:
        return Number(root, number.exact)
    return Number(Fraction(PRECISE.sqrt(_decimal(number))), False)


def _exp(number: Number) -> Number:
    if abs(number.value) > LARGEST_EXPONENT:
        raise ToolError(TOO_LONG)
    return Number(Fraction(PRECISE.exp(_decimal(number))), number.value == 0 and number.exact)


def _ln(number: Number) -> Number:
    if number.value <= 0:
        raise ToolError("Only positive numbers have a logarithm.")
    return Number(Fraction(PRECISE.ln(_decimal(number))), number.value == 1 and number.exact)


def _log10(number: Number) -> Number:
    if number.value <= 0:
        raise ToolError("Only positive numbers have a logarithm.")
    power = Fraction(PRECISE.log10(_decimal(number)))
    exact = power.denominator == 1 and Fraction(10) ** power.numerator == number.value
    return Number(power, exact and number.exact)


def _factorial(number: Number) -> Number:
    n = _whole(number, "factorial")
    if not 0 <= n <= LARGEST_FACTORIAL:
        raise ToolError(f"factorial takes whole numbers from 0 to {LARGEST_FACTORIAL}.")
    return Number(Fraction(math.factorial(n)), number.exact)


def _round(number: Number, places: Number = Number(Fraction(0))) -> Number:
    """Halves go away from zero, as at school."""
    n = _whole(places, "The number of places")
    if abs(n) > LARGEST_EXPONENT // 2:
        raise ToolError(TOO_LONG)
    scale = Fraction(10) ** n
    rounded = math.floor(abs(number.value) * scale + Fraction(1, 2)) / scale
    return Number(rounded if number.value >= 0 else -rounded, number.exact)


def _gcd(*numbers: Number) -> Number:
    whole = [_whole(number, "gcd") for number in numbers]
    return Number(Fraction(math.gcd(*whole)), all(number.exact for number in numbers))


def _by_value(choose: Callable[..., Number]) -> Callable[..., Number]:
    return lambda *numbers: choose(numbers, key=lambda number: number.value)


def _of_value(function: Callable[[Fraction], Fraction | int]) -> Callable[[Number], Number]:
    return lambda number: Number(Fraction(function(number.value)), number.exact)


CONSTANTS = {
    "pi": Number(Fraction("3.14159265358979323846264338327950288419716939937510582097494"), False),
    "e": Number(Fraction("2.71828182845904523536028747135266249775724709369995957496697"), False),
}

FUNCTIONS: dict[str, tuple[int, int, Callable[..., Number]]] = {
    "abs": (1, 1, _of_value(abs)),
    "ceil": (1, 1, _of_value(math.ceil)),
    "exp": (1, 1, _exp),
    "factorial": (1, 1, _factorial),
    "floor": (1, 1, _of_value(math.floor)),
    "gcd": (1, MOST_VALUES, _gcd),
    "ln": (1, 1, _ln),
    "log10": (1, 1, _log10),
    "max": (1, MOST_VALUES, _by_value(max)),
    "min": (1, MOST_VALUES, _by_value(min)),
    "round": (1, 2, _round),
    "sqrt": (1, 1, _sqrt),
}
