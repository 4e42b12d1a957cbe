"""What stands in a thread because a program asked: its own words, the calls it has taken along, the thoughts that were put back for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from ..core.durations import thinking_in_words
from ..core.plural import many
from ..core.recorded import Recorded
from ..core.signs.visible import visible, visible_name
from ..core.values import fields
from ..pages.elements import item_id
from ..store import is_with_program
from ..store.models import Message, Role
from .item_body import arguments
from .items_so_far import HANDED, ItemSoFar

ROLES = {"system": "System message", "developer": "Developer message"}
# What a question says where its history departs from what was there, and an answer where it was asked for once more.
PARTED = {
    Role.USER: "The program’s history departs here: it dropped {} and asked again.",
    Role.ASSISTANT: "The program asked for this answer anew, and left {} behind.",
}


@dataclass(frozen=True, slots=True)
class ProgramsWords:
    """What a program says before its history, and the names of its tools: both where they are new."""

    words: tuple[tuple[str, str], ...]
    tools: tuple[str, ...]

    @property
    def gist(self) -> str:
        said = []
        if self.words:
            said.append(f"instructions of {many(sum(len(text) for _, text in self.words), 'character')}")
        if self.tools:
            said.append(many(len(self.tools), "tool"))
        return ", ".join(said)


def programs_words(question: Message) -> ProgramsWords | None:
    said = fields(fields(question.metadata).get("program"))
    words, tools = said.get("words"), said.get("tools")
    found = ProgramsWords(
        tuple(_headed(row) for row in (words if isinstance(words, list) else [])),
        tuple(visible_name(str(name)) for name in (tools if isinstance(tools, list) else [])),
    )
    return found if found.words or found.tools else None


def _headed(row: object) -> tuple[str, str]:
    role, text = row if isinstance(row, list) and len(row) == 2 else ("", row)
    return ROLES.get(str(role), "Its instructions"), visible(str(text))


@dataclass(frozen=True, slots=True)
class HandedCall:
    """A call that its program makes now."""

    id: str
    name: str
    arguments: str


def handed_calls(row: Message, pieces: Sequence[ItemSoFar]) -> tuple[HandedCall, ...]:
    if not is_with_program(row):
        return ()
    open_ones = [
        piece for piece in pieces if piece.waits == HANDED and piece.call_id and piece.result is None
    ]
    return tuple(_handed(row.pk, piece) for piece in open_ones)


def _handed(message: UUID, call: ItemSoFar) -> HandedCall:
    return HandedCall(f"{item_id(message, call.key)}-with", visible_name(call.name), arguments(call.text))


def with_program(calls: Sequence[HandedCall], program: str) -> str:
    """For those who listen to the page. `program`: what it is called, where whoever looks may know."""
    return (
        f"{program or 'The program'} is running {'a call' if len(calls) == 1 else many(len(calls), 'call')}."
    )


def handed_ms(since: datetime | None) -> int:
    return max(0, round((timezone.now() - since).total_seconds() * 1000)) if since else 0


def handed_for(ms: int) -> str:
    return "0 s" if ms < 1000 else thinking_in_words(ms).removeprefix("Thinking for ")


def put_back(answer: Message) -> int:
    """So many of its thoughts, however often: each request told all of its history."""
    return max((facts.restored or 0 for facts in Recorded(answer.metadata).rounds), default=0)
