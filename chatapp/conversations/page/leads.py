"""Where one otherwise writes: which program drives the run, and what its owner can do."""

from __future__ import annotations

from uuid import UUID

from ...pages.stencils import Stencil
from ...store import is_with_program
from ...store.models import LIVE, Message

_LEADS = Stencil("conversations/run/_leads.html")


def render_leads(program: str, answer: Message | None) -> str:
    """`answer`: the last one of the branch on screen."""
    is_live = answer is not None and answer.status in LIVE
    words = {"program": program, "stops": answer.pk if answer and is_live else "", "forks": _to_fork(answer)}
    return _LEADS.fill({"calls": answer is not None and is_with_program(answer)}, words)


def _to_fork(answer: Message | None) -> UUID | str:
    """Of an answer that is being written, its question: that can be asked again in the fork."""
    if answer is None:
        return ""
    return answer.parent_id if answer.parent_id and answer.status in LIVE else answer.pk
