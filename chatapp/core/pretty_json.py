"""JSON with its lines broken, for people who must be able to rely on it: what was written twice stands there twice, and
numbers stand there as they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},:]|[^\s\[\]{},:"]++')
_INDENT = "  "
# Deeper ones begin where these do: short lines far down would be mostly blanks.
DEEPEST_INDENT = 16


def pretty(text: str) -> str:
    """The text itself where it is no object and no list."""
    return "".join(_laid_out(text)) if isinstance(json_value(text), dict | list) else text


def pretty_result(text: str) -> str:
    """Also where a line of words stands above the JSON, as above what a server answered."""
    line, _, below = text.partition("\n")
    laid_out = pretty(text)
    return f"{line}\n{pretty(below)}" if below and laid_out == text else laid_out


def json_value(text: str) -> Any:
    """The text itself where it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _laid_out(text: str) -> Iterator[str]:
    depth, before = 0, ""
    for token in map(itemgetter(0), _TOKEN.finditer(text)):
        if token in ("}", "]"):
            depth -= 1
        if _begins_a_line(token, before):
            yield "\n" + _INDENT * min(depth, DEEPEST_INDENT)
        yield _readable(token)
        if token in ("{", "["):
            depth += 1
        before = token


def _begins_a_line(token: str, before: str) -> bool:
    if token in ("}", "]"):
        return before not in ("{", "[")
    return before in ("{", "[", ",")


def _readable(sign: str) -> str:
    if sign == ":":
        return ": "
    return json.dumps(json.loads(sign), ensure_ascii=False) if sign.startswith('"') else sign
