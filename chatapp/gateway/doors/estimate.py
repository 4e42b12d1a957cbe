"""About how many tokens a request is, before any model has counted it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...core.attached import Attached
from ...core.verbatim import encode
from ...providers.base import ToolSpec
from .asked import ProgramRequest, Told, ToldAnswer, ToldCall, ToldOther

BYTES_A_TOKEN = 4
# Of a message beside its words.
A_MESSAGE, AN_ATTACHMENT = 4, 1_500


def estimate(asked: ProgramRequest) -> int:
    """Grows with what was said, and with nothing else. At least one."""
    size = sum(map(_size, _texts(asked)))
    beside = A_MESSAGE * len(asked.history) + AN_ATTACHMENT * sum(map(_attached, asked.history))
    return max(-(-size // BYTES_A_TOKEN) + beside, 1)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _texts(asked: ProgramRequest) -> Iterator[str]:
    for told in asked.history:
        yield from _said(told)
    yield from map(_tool, asked.tools)
    yield from (encode(tool).decode() for tool in asked.wishes.hosted)


def _said(told: Told) -> Iterator[str]:
    if not isinstance(told, ToldAnswer):
        yield from (part for part in told.parts if isinstance(part, str))
        return
    for part in told.parts:
        if isinstance(part, ToldCall):
            yield part.name
            yield part.arguments
        elif isinstance(part, ToldOther):
            yield encode(part.wire).decode()
        else:
            yield part.text


def _tool(tool: ToolSpec) -> str:
    return tool.name + tool.description + encode(tool.schema).decode()


def _attached(told: Told) -> int:
    parts: Iterable[object] = told.parts
    return sum(isinstance(part, Attached) for part in parts)
