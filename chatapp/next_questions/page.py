"""What the composer shows of the question that waits, above the place where one writes."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.template.loader import render_to_string

from ..store.models import LIVE, Status
from .models import NextQuestion
from .store import edition

NOTHING = '<div id="next"></div>'
WHEN = {
    Status.WAITING: "Next, when you have decided and this is complete",
    Status.STOPPED: "Not sent, since the answer was stopped",
    Status.FAILED: "Not sent, since the answer failed",
    Status.INTERRUPTED: "Not sent, since the answer was interrupted",
}
USUALLY = "Next, when this is complete"
REFUSED = "Not sent"
WHEN_SAVED = "Next, when you have saved it"


@dataclass(frozen=True, slots=True)
class ShownNext:
    """`when` it is sent, or why it was not. `why_not`: in the words of whoever refused it. `can_be_sent`: by a press of a button.
    `comes_back`: into the composer, and for what."""

    answer: UUID
    person: int
    text: str
    edition: str
    when: str
    why_not: str
    is_edited: bool
    can_be_sent: bool
    comes_back: str


def shown_next(row: NextQuestion, status: str) -> ShownNext:
    """`status`: of the answer that it waits for, as it is known now."""
    ended = status not in LIVE
    when = WHEN.get(Status(status), REFUSED if ended and row.why_not else USUALLY)
    return ShownNext(
        answer=row.after_id,
        person=row.person_id,
        text=row.text,
        edition=edition(row.text),
        when=WHEN_SAVED if ended and row.is_edited else when,
        why_not=row.why_not if ended else "",
        is_edited=row.is_edited,
        can_be_sent=ended,
        comes_back=status if status in WHEN or (ended and row.why_not) else "",
    )


def render_next(row: NextQuestion | None, status: str = "") -> str:
    if row is None:
        return NOTHING
    shown = shown_next(row, status or row.after.status)
    return render_to_string("next_questions/_next.html", {"next": shown})
