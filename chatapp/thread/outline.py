"""The branch at a glance, on wide screens: its questions on the page, each with how long its answer was thought about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from django.utils.safestring import SafeString

from ..core.durations import in_short, together
from ..core.recorded import Recorded
from ..core.titles import first_words
from ..pages.stencils import Stencil
from ..store import Questions
from .item_body import asked_in
from .message import ShownMessage

WIDEST = 240
_LINE, _QUESTIONS = Stencil("thread/_outline_line.html"), Stencil("thread/_questions.html")


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """`width`: the ruler's, two for a second; none where nobody thought, or nobody knows."""

    id: str
    target: str
    words: str
    took: str = ""
    width: int = 0


def render_outline(messages: Sequence[ShownMessage]) -> SafeString:
    pairs = zip_longest(messages, messages[1:])
    return SafeString(
        "".join(render_line(message, answer) for message, answer in pairs if message.is_question)
    )


def _line_of(question: ShownMessage, answer: ShownMessage | None) -> OutlineLine:
    text = " ".join(asked_in(item.piece).words for item in question.items if not item.piece.role)
    ms = _thought_ms(answer) if answer else 0
    width = min(WIDEST, -(-ms // 1000) * 2)
    took = in_short(ms) if ms else ""
    return OutlineLine(f"o-{question.row.pk}", question.id, first_words(text[:1000]), took, width)


def render_line(question: ShownMessage, answer: ShownMessage | None) -> SafeString:
    line = _line_of(question, answer)
    names = {"line.id": line.id, "line.target": line.target}
    return _LINE.fill(
        {}, {**names, "line.words": line.words, "line.took": line.took, "line.width": line.width}
    )


def render_questions(questions: Questions) -> SafeString:
    """How many there are."""
    here, part = questions.here, questions.here < questions.anywhere
    return _QUESTIONS.fill({"one": here == 1, "part": part}, {"questions.here": here})


def _thought_ms(answer: ShownMessage) -> int:
    return together(Recorded(answer.row.metadata).thoughts.values())
