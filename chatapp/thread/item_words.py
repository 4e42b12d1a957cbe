"""What an item is called, and how it came out, in words: for the page, the timeline, a search, and a copy."""

from __future__ import annotations

from ..core.decision import Decision
from ..core.items import Kind, Outcome
from ..store.models import Message, Status

KINDS = {
    Kind.USER_MESSAGE: "Question",
    Kind.ASSISTANT_MESSAGE: "Answer",
    Kind.REASONING: "Thought",
    Kind.TOOL_CALL: "Call",
    Kind.TOOL_RESULT: "Result",
    Kind.PERMISSION_DECISION: "Permission",
}
# Of a call; that it came to its end needs no word.
OUTCOMES: dict[str, str] = {
    Outcome.FAILED: "failed",
    Outcome.STOPPED: "stopped",
    Outcome.DENIED: "denied",
    Outcome.UNKNOWN: "outcome unknown",
}
DECIDED = {
    Decision.ONCE: "Allowed once",
    Decision.CONVERSATION: "Allowed for this conversation",
    Decision.DENIED: "Denied",
}


def cut_in_words(row: Message) -> str:
    match Status(row.status):
        case Status.INTERRUPTED:
            return "interrupted"
        case Status.FAILED:
            return "cut short"
        case Status.STOPPED | Status.COMPLETE | Status.QUEUED | Status.RUNNING | Status.WAITING:
            return "stopped"
