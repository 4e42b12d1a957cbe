"""How an answer ended otherwise than with a finished text: one sentence, and what its provider said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.durations import in_words
from ..core.items import clean
from ..core.recorded import LeftHow
from ..pages.signed_in import Anybody
from ..store.models import Message, Status

INTERRUPTED = "The server was restarted while this was being written. What you see was kept."
CUT_SHORT = {
    "length": "The answer reached the model’s limit",
    "cut": "The provider ended the answer before it was whole",
}
LEFT_BEHIND = {
    LeftHow.WENT_ON: "The program went on without what it had called for",
    LeftHow.DEPARTED: "The program left this answer behind and asked elsewhere",
    LeftHow.FORGOTTEN: "The program never came back to this answer",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How an answer ended otherwise, in a sentence, with the next step."""

    status: str
    sentence: str
    raw: str = ""
    reason: str = ""


def ending(row: Message, viewer: Anybody, *, waits: str = "") -> Ending | None:
    ended = row.metadata.get("ended")
    ended = ended if isinstance(ended, dict) else {}
    reason, raw = str(ended.get("reason", "")), clean(str(ended.get("raw") or ""))
    match Status(row.status):
        case Status.STOPPED:
            return Ending(row.status, _stopped(row, ended, viewer), reason=reason)
        case Status.FAILED:
            sentence = clean(str(ended.get("sentence") or "This answer failed."))
            return Ending(row.status, sentence, raw, reason)
        case Status.INTERRUPTED:
            return Ending(row.status, INTERRUPTED)
        case Status.QUEUED | Status.RUNNING | Status.WAITING:
            return Ending(row.status, clean(waits)) if waits else None
        case Status.COMPLETE:
            return None


def _stopped(row: Message, ended: dict[str, Any], viewer: Anybody) -> str:
    if known := (CUT_SHORT | LEFT_BEHIND).get(str(ended.get("reason"))):
        return known
    by = "Stopped by you" if ended.get("by") == str(viewer.pk) else "Stopped"
    elapsed = row.metadata.get("elapsed_ms")
    if not isinstance(elapsed, int) or elapsed <= 0:
        return by
    return f"{by} after {in_words(elapsed)}"
