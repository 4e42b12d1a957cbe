"""The branch at a glance, on wide screens: its questions on the page, each with how long its answer was thought about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from django.template.loader import render_to_string

from ..core.durations import in_short, together
from ..core.recorded import Recorded
from ..core.titles import first_words
from .message import ShownMessage

WIDEST = 240


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """`width`: the ruler's, two for a second; none where nobody thought, or nobody knows."""

    id: str
    target: str
    words: str
    took: str = ""
    width: int = 0


def outline_of(messages: Sequence[ShownMessage]) -> list[OutlineLine]:
    pairs = zip_longest(messages, messages[1:])
    return [line_of(message, answer) for message, answer in pairs if message.is_question]


def line_of(question: ShownMessage, answer: ShownMessage | None) -> OutlineLine:
    text = " ".join(item.piece.text for item in question.items)
    ms = _thought(answer) if answer else 0
    width = min(WIDEST, -(-ms // 1000) * 2)
    took = in_short(ms) if ms else ""
    return OutlineLine(f"o-{question.row.pk}", question.id, first_words(text[:1000]), took, width)


def render_line(question: ShownMessage, answer: ShownMessage | None) -> str:
    return render_to_string("thread/_outline_line.html", {"line": line_of(question, answer)})


def _thought(answer: ShownMessage) -> int:
    return together(Recorded(answer.row.metadata).thoughts.values())
