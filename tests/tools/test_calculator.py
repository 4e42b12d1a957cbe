"""Arithmetic is exact, says when it is not, and refuses in words what would never end."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from chatapp.core.items import Outcome
from chatapp.tools import TOOLS, ToolError
from chatapp.tools.calculator.tool import calculator


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("17 * 23", "391"),
        ("2+3*4-5", "9"),
        ("(2+3)*4", "20"),
        ("2**10", "1024"),
        ("2^10", "1024"),
        ("2**3**2", "512"),
        ("-2**2", "-4"),
        ("(-2)**2", "4"),
        ("2**-2", "0.25"),
        ("--2", "2"),
        ("+-+2", "-2"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("7 % 3", "1"),
        ("-7 % 3", "2"),
        ("6 × 7", "42"),
        ("9 ÷ 3 − 1", "2"),
        ("0.1 + 0.2", "0.3"),
        ("1.10 * 3", "3.3"),
        (".5 + 5.", "5.5"),
        ("1.5e3", "1500"),
        ("1E-3", "0.001"),
        ("-1/8", "-0.125"),
        ("100/8", "12.5"),
        ("1/3", "1/3 ≈ 0.33333333333333333333"),
        ("1/3 + 1/3 + 1/3", "1"),
        ("2/3 * -1", "-2/3 ≈ -0.66666666666666666667"),
        ("0**0", "1"),
        ("1 ** 10**9", "1"),
        ("007 + 00.50 + 0", "7.5"),
        ("max(00, 0e5, 1e05)", "100000"),
        ("2^-1", "0.5"),
        ("2**64 - 1", "18446744073709551615"),
        ("\n 1\t+ 1 ", "2"),
    ],
)
def test_results_are_exact(expression: str, result: str):
    assert calculator(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("sqrt(16)", "4"),
        ("sqrt(9/4)", "1.5"),
        ("sqrt(2)", "≈ 1.4142135623730950488"),
        ("2**0.5", "≈ 1.4142135623730950488"),
        ("sqrt(2) * sqrt(2)", "≈ 2"),
        ("8**(1/3)", "≈ 2"),
        ("0**0.5", "0"),
        ("0**1.5", "0"),
        ("1**0.3", "1"),
        ("abs(-3) + floor(2.7) + ceil(2.1)", "8"),
        ("min(3, 1, 2) + max(3, 1, 2)", "4"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(10/3, 2)", "3.33"),
        ("round(1234, -2)", "1200"),
        ("factorial(20)", "2432902008176640000"),
        ("gcd(12, 18, 27)", "3"),
        ("log10(1000)", "3"),
        ("log10(1/100)", "-2"),
        ("log10(10**80 + 1)", "≈ 80"),
        ("ln(1)", "0"),
        ("ln(10)", "≈ 2.302585092994045684"),
        ("exp(0)", "1"),
        ("exp(1)", "≈ 2.7182818284590452354"),
        ("pi", "≈ 3.1415926535897932385"),
        ("2 * PI", "≈ 6.2831853071795864769"),
        ("exp(100)", "≈ 2.6881171418161354484E+43"),
        ("exp(-100)", "≈ 3.720075976020835963E-44"),
    ],
)
def test_functions_are_exact_where_they_can_be_and_say_so_where_not(expression: str, result: str):
    assert calculator(expression) == result


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "ends too early"),
        ("   ", "ends too early"),
        ("1 +", "ends too early"),
        ("(1", "cannot be read from '(1' on"),
        ("sqrt", "The values of sqrt stand in parentheses"),
        ("sqrt 2", "cannot be read from '2' on"),
        ("5%", "ends too early"),
        ("1 2", "cannot be read from '2' on"),
        (")", "cannot be read from ')' on"),
        ("2(3)", "a product is written with *"),
        ("1,000", "1000, not 1,000"),
        ("1..2", "cannot be read from '.2' on"),
        ("* 2", "cannot be read from '* 2' on"),
        ("1 == 1", "'='"),
        ("1_000", "'_'"),
        ("٣ + 1", "'٣'"),
        ("x + 1", "'x' is not known. There are pi, e, abs"),
        ("1j", "The character 'j' is not understood here: 'j'"),
        ("0x10", "The character 'x' is not understood here: 'x10'"),
        ("1 if 2 else 3", "'1 if 2 else 3' is no arithmetic"),
        ("(pi for e in pi)", "'(pi for e in pi)' is no arithmetic"),
        ("max(*pi)", "'*pi' is no arithmetic"),
        ("max(**pi)", "'max(**pi)' calls no function"),
        ("1if 2else 3", "The character 'i'"),
        ("1else", "The character 'e'"),
        ("2pi", "The character 'p'"),
        ("1.e", "The character 'e'"),
        ("2 sqrt(4)", "cannot be read from"),
        ("sqrt(4)(4)", "a product is written with *"),
        ("sqrt()", "sqrt takes 1 values, not 0"),
        ("sqrt(1, 2)", "sqrt takes 1 values, not 2"),
        ("round(1, 2, 3)", "round takes 1 to 2 values, not 3"),
        ("round(1, 0.5)", "The number of places needs whole numbers"),
        ("gcd(1.5, 3)", "gcd needs whole numbers"),
        ("1/0", "divided by zero"),
        ("1//0", "divided by zero"),
        ("1%0", "divided by zero"),
        ("0**-1", "divided by zero"),
        ("0**-0.5", "divided by zero"),
        ("sqrt(-1)", "no real square root"),
        ("(-8)**(1/3)", "no real power"),
        ("ln(0)", "Only positive numbers"),
        ("log10(-1)", "Only positive numbers"),
        ("factorial(-1)", "from 0 to 1000"),
        ("factorial(1001)", "from 0 to 1000"),
        ("factorial(2.5)", "whole numbers"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_words(expression: str, words: str):
    with pytest.raises(ToolError) as refused:
        calculator(expression)
    assert words in str(refused.value)


HOSTILE = [
    "9**9**9",
    "9**9**9**9**9",
    "-9**9**9",
    "(1/3)**99999999",
    "2**-99999999",
    "99999999999**99999",
    "2**99999999999999999999999999",
    "1e999999999",
    "1e-999999999",
    "1e" + "9" * 900,
    "10**4000",
    "exp(99999)",
    "exp(-99999)",
    "exp(exp(exp(9)))",
    "9**9**0.5**-9",
    "9.9**999999.5",
    "round(1, 99999)",
    "factorial(factorial(9))",
    "factorial(1000) * factorial(1000)",
    "*".join(["factorial(999)"] * 60),
    "+".join(f"1/{n}" for n in range(10_007, 10_150)),
    "(" * 500 + "1" + ")" * 499,
    "-" * 999 + "1",
    "2" + "**2" * 300,
    "sqrt(" * 199 + "2",
    "1+" * 5000 + "1",
    "9" * 1001,
    "1" + "+1" * 499,
    "1" + "*(1" * 99 + ")" * 99,
    "(" * 100 + "1 1" + ")" * 100,
    "(1," * 100 + "*" + ")" * 100,
    "1--" * 300 + "1",
    "-(" * 90 + "1" + ")" * 90,
    "__import__('os').system('true')",
    "().__class__",
    "lambda: 1",
    "[1]*10",
    "'a'*10",
    "1;2",
    "\x00",
    "\ud800",
    "1\u2028+1_",
]


@pytest.mark.parametrize("expression", HOSTILE)
def test_hostile_expressions_are_refused_or_answered_soon(expression: str):
    began = time.perf_counter()
    output = asyncio.run(TOOLS["calculator"].run(json.dumps({"expression": expression})))
    assert time.perf_counter() - began < 10
    assert output.outcome in (Outcome.DONE, Outcome.FAILED)
    assert "did not finish" not in output.text and "The tool calculator failed" not in output.text
    assert len(output.text) < 10_000


def test_too_large_is_said_in_words():
    for expression in ("9**9**9", "1e999999999", "exp(99999)", "factorial(999)**2"):
        with pytest.raises(ToolError, match="at most about 3,900 digits"):
            calculator(expression)


@pytest.mark.parametrize(
    "expression", ["2**12999", "2**-12999", "10**3900", "10**-3900", "(1/3)**8000", "9" * 1000]
)
def test_the_largest_numbers_that_are_allowed_can_be_written(expression: str):
    assert calculator(expression)
