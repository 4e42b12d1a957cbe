"""What the demo finds in a request: the question, its own earlier thoughts, what tools gave, and what it was saying."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...core.history import GO_ON, History, Part, Question, Response, Result
from ...core.items import Kind
from ...core.verbatim import loads

QUOTE_CAP = 80


@dataclass(frozen=True, slots=True)
class Called:
    """A call of this turn and its result."""

    name: str
    argument: str
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """`cut`: what was said before somebody stopped it, when the answer is to go on. `again`: how often this very
    question was asked before."""

    question: str
    thoughts: tuple[Part, ...] = ()
    dropped: tuple[tuple[str, int], ...] = ()
    called: tuple[Called, ...] = ()
    cut: str = ""
    tools: tuple[str, ...] = ()
    again: int = 0

    @property
    def quoted(self) -> str:
        """The question in one short line."""
        line = re.sub(r"[\s`*_<>\[\]|$#\\]+", " ", self.question).strip()
        return line if len(line) <= QUOTE_CAP else line[:QUOTE_CAP].rsplit(" ", 1)[0] + " …"


def situation(history: History, *, tools: tuple[str, ...], again: int = 0) -> Situation:
    start = asked_at(history)
    before, since = history.steps[:start], history.steps[start:]
    question = since[0].text if since and isinstance(since[0], Question) else ""
    return Situation(
        question=question,
        thoughts=tuple(part for step in before if isinstance(step, Response) for part in _thoughts(step)),
        dropped=tuple(sorted(history.dropped.items())),
        called=tuple(call for step in since if isinstance(step, Response) for call in _called(step)),
        cut=_cut(history),
        tools=tools,
        again=again,
    )


def asked_at(history: History) -> int:
    """Where the question stands that is being answered now."""
    steps = history.steps
    places = (n for n in reversed(range(len(steps))) if _is_question(steps[n]))
    return next(places, len(steps))


def _is_question(step: object) -> bool:
    return isinstance(step, Question) and step.text != GO_ON


def _thoughts(response: Response) -> Iterator[Part]:
    return (part for part in response.parts if part.item.kind is Kind.REASONING)


def _called(response: Response) -> Iterator[Called]:
    calls = {part.call_id: part.item.text for part in response.parts if part.item.kind is Kind.TOOL_CALL}
    return (
        Called(result.name, _argument(calls.get(result.call_id, "")), result) for result in response.results
    )


def _argument(text: str) -> str:
    """The demo's own calls have one argument each."""
    try:
        values = loads(text)
    except ValueError:
        return ""
    return str(next(iter(values.values()), "")) if isinstance(values, dict) else ""


def _cut(history: History) -> str:
    if not (history.steps and history.steps[-1] == Question(GO_ON)):
        return ""
    said = [step for step in history.steps if isinstance(step, Response)][-1:]
    texts = [
        part.item.text for step in said for part in step.parts if part.item.kind is Kind.ASSISTANT_MESSAGE
    ]
    return texts[-1] if texts else ""
