"""How a turn ended, and why a thought did not go back, as people who administer read it."""

from __future__ import annotations

from ...core.history import Dropped
from ...core.signs.visible import visible
from ...providers.base import Trouble
from ...reviews.models import Verdict
from ..store.days import FREE, HELD, RATED, WITHDRAWN

_FAILED = "failed:"
_ENDED = {
    "stopped": "Stopped by a person",
    "length": "Cut at the model’s limit",
    "cut": "Cut by the provider",
    "interrupted": "Interrupted by a restart",
    "complete": "Complete",
}
_TROUBLE = {
    Trouble.KEY: "The key was refused",
    Trouble.FORBIDDEN: "The provider forbade it",
    Trouble.NOT_FOUND: "The model was not found",
    Trouble.BUSY: "The provider was busy",
    Trouble.BROKEN: "Something broke",
    Trouble.UNREACHABLE: "The provider could not be reached",
    Trouble.SILENT: "The provider fell silent",
    Trouble.GARBAGE: "The provider’s answer could not be read",
    Trouble.TOO_LARGE: "The answer was too large",
    Trouble.TOO_LONG: "The conversation was too long",
    Trouble.REFUSED: "The request was refused",
    Trouble.FILTERED: "The provider filtered it",
    Trouble.EMPTY: "The answer was empty",
    Trouble.CREDIT: "There was no credit left",
}
_DROPPED = {
    Dropped.MODEL_CHANGED: "Another model had made them",
    Dropped.CUT: "They were cut off",
    Dropped.STALE: "The provider no longer accepted them",
    Dropped.FORBIDDEN: "The model takes none of their kind back",
    Dropped.CAPPED: "Only the newest answers send theirs",
}
_REVIEWED = {
    FREE: "Waits for a reviewer",
    HELD: "Is being reviewed",
    RATED: "Rated",
    Verdict.APPROVED: "Approved",
    Verdict.NEEDS_WORK: "Needs work",
    Verdict.REJECTED: "Rejected",
    WITHDRAWN: "Withdrawn",
}


def is_failure(ended: str) -> bool:
    """Whoever stops a turn, or lets a model write so much and no more, has what they wanted."""
    return ended.startswith(_FAILED) or ended == "interrupted"


def ending_in_words(ended: str) -> str:
    if ended.startswith(_FAILED):
        trouble = ended.removeprefix(_FAILED)
        return _TROUBLE[Trouble(trouble)] if trouble in list(Trouble) else visible(trouble)
    return _ENDED.get(ended) or visible(ended)


def dropped_in_words(reason: str) -> str:
    return _DROPPED[Dropped(reason)] if reason in list(Dropped) else visible(reason)


def review_in_words(state: str) -> str:
    return _REVIEWED[state]
