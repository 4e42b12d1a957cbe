"""Reads written arithmetic with Python's own grammar, of which nothing is known here but numbers, signs and a few names."""

from __future__ import annotations

import ast
import operator
import re

from ..base import ToolError
from .arithmetic import CONSTANTS, FUNCTIONS, Number, Operation, apply, called, negative, power, written

LONGEST = 1000
DEEPEST = 100


def evaluate(text: str) -> Number:
    """The value, or a ToolError that says what is wrong."""
    if len(text) > LONGEST:
        raise ToolError(f"The expression is longer than {LONGEST} characters.")
    source = _in_pythons_signs(text)
    _refuse_what_is_deep(source)
    try:
        return _computed(ast.parse(source, mode="eval").body, source)
    except SyntaxError as error:
        raise _unreadable(source, error) from None
    except ZeroDivisionError:
        raise ToolError("Something is divided by zero.") from None


_PYTHONS = str.maketrans({"^": "**", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"})
# Of letters right behind a number Python knows the exponent, and some more that are none of ours (1j, 0x1, 1if).
_STRANGE = re.compile(r"[^0-9a-z.+*/%(), -]|(?<=[0-9.])(?:[a-df-z]|e(?![0-9+-]))", re.IGNORECASE | re.ASCII)
_LEADING_ZEROS = re.compile(r"(?<![0-9A-Za-z.])0+(?=[0-9])")


def _in_pythons_signs(text: str) -> str:
    source = " ".join(text.translate(_PYTHONS).split())
    if strange := _STRANGE.search(source):
        near = source[strange.start() :][:20]
        raise ToolError(f"The character {strange[0]!r} is not understood here: {near!r}")
    return _LEADING_ZEROS.sub("", source).lower()


def _refuse_what_is_deep(source: str) -> None:
    """Before it is parsed: the parser goes deeper with each open parenthesis, each sign before a sign, and each power."""
    deepest = parentheses = signs = 0
    for char in source.replace(" ", ""):
        parentheses += (char == "(") - (char == ")")
        signs = signs + 1 if char in "+-*" else 0
        deepest = max(deepest, parentheses + signs)
    if deepest + source.count("**") > DEEPEST:
        raise ToolError("The expression is nested too deeply.")


def _unreadable(source: str, error: SyntaxError) -> ToolError:
    rest = source[error.offset - 1 :] if error.offset else ""
    if not rest:
        return ToolError("The expression ends too early.")
    return ToolError(f"It cannot be read from {rest[:20]!r} on: {error.msg}.")


def _computed(whole: ast.expr, source: str) -> Number:
    """From the inside out, without recursion: a long sum is as deep as it is long."""
    nodes = [node for node in ast.walk(whole) if isinstance(node, ast.expr)]
    names = {node.func for node in nodes if isinstance(node, ast.Call)}
    values: dict[ast.expr, Number] = {}
    for node in reversed(nodes):
        if node not in names:
            values[node] = _value(node, values, source[node.col_offset : node.end_col_offset])
    return values[whole]


_NUMBER = re.compile(r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?")
_OPERATIONS: dict[type[ast.operator], Operation] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _value(node: ast.expr, values: dict[ast.expr, Number], source: str) -> Number:
    match node:
        case ast.Constant() if _NUMBER.fullmatch(source):
            # Not the parser's value: that is no longer exact where there is a point.
            return written(source)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return negative(values[operand])
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return values[operand]
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return power(values[base], values[exponent])
        case ast.BinOp(left=left, op=sign, right=right):
            return apply(_OPERATIONS[type(sign)], values[left], values[right])
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return called(name, [values[argument] for argument in arguments])
    raise _why_not_computed(node, source)


def _why_not_computed(node: ast.expr, source: str) -> ToolError:
    match node:
        case ast.Name(id=name) if name in FUNCTIONS:
            return ToolError(f"The values of {name} stand in parentheses: {name}(…).")
        case ast.Name() | ast.Call(func=ast.Name(), keywords=[]):
            return ToolError(
                f"{source[:20]!r} is not known. There are {', '.join([*CONSTANTS, *FUNCTIONS])}."
            )
        case ast.Call():
            return ToolError(f"{source[:20]!r} calls no function: a product is written with *.")
        case ast.Tuple():
            return ToolError("A comma stands only between the values of a function: 1000, not 1,000.")
        case _:
            return ToolError(f"{source[:20]!r} is no arithmetic that is known here.")
