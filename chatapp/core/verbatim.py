"""JSON in and out without losing anything: what a provider sent is what it gets back, value for value."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isfinite
from typing import Any, NoReturn

# Far below what Python can nest, so that a value read here can be written again from any depth of the program.
DEEPEST = 200


def loads(text: str) -> Any:
    """The value, or ValueError for anything that is not JSON as the standard has it, or is too deep or too big."""
    try:
        value = _value(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if text.count("[") + text.count("{") > DEEPEST and too_deep(value):
        raise ValueError("nested too deeply")
    return value


def _value(text: str) -> Any:
    """Looking for white space around it would take as long as reading it: frames of a stream have none."""
    if text.startswith("{"):
        value, end = _decoder.raw_decode(text)
        if end == len(text):
            return value
    return _decoder.decode(text)


def dumps(value: Any) -> str:
    """Pure ASCII: any database holds it, U+0000 and lone surrogates included."""
    return _ascii.encode(value)


def encode(value: Any) -> bytes:
    """A request's body: UTF-8 as it stands, escapes only where a lone surrogate leaves no other way."""
    try:
        return _plain.encode(value).encode()
    except UnicodeEncodeError:
        return dumps(value).encode()


def too_deep(value: Any, deepest: int = DEEPEST) -> bool:
    level = [value]
    for _ in range(deepest):
        if not level:
            return False
        level = [inner for outer in level for inner in _inner_values(outer) if isinstance(inner, dict | list)]
    return bool(level)


def _inner_values(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("a number is too large")
    return number


# Made once: json makes one for each call that has wishes of its own.
_ascii = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_decoder = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
