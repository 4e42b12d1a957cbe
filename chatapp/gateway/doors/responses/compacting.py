"""Makes a conversation shorter: a model is asked to sum it up, and what the program goes on from are its user's messages and that
summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....core.events import Usage
from ....providers.base import Choice
from ..asked import ProgramRequest, Said, SaidBy
from ..door import PROVIDER, Wrong
from ..given import Given
from ..handed import Handed
from .compacted import compaction_item
from .kept import Exchanged, input_kept
from .reading import read
from .response import usage_of

Json = dict[str, Any]
TASK = (
    "Sum up this conversation for whoever goes on with it without having read it. Tell what is wanted and under which conditions, what "
    "was done and found, what was decided and why, what is left to do and what comes next, with the names, paths, numbers and words that "
    "are needed for it. Answer with the summary alone, and call no tool."
)
LEFT_OUT = frozenset({"stream", "store", "background", "text", "tool_choice", "max_output_tokens", "include"})


def read_compacting(body: Any, headers: Mapping[str, str]) -> ProgramRequest:
    """A request to make a conversation shorter: whatever shapes an answer does not shape a summary. Its model must be named."""
    given = Given.body(body)
    given.must("model")
    return read({name: value for name, value in given.fields().items() if name not in LEFT_OUT}, headers)


def asked_to_sum_up(asked: ProgramRequest) -> ProgramRequest:
    """What a model is asked for it: after the whole history, which was joined before. Its tools stay, for calls in the history speak of
    them."""
    task = Said(role=SaidBy.USER, parts=(TASK,))
    wishes = replace(asked.wishes, choice=Choice.NONE if asked.tools else None, call="", hosted=())
    return replace(asked, history=(*asked.history, task), wishes=wishes, stream=False, store=False)


def compaction(
    asked: ProgramRequest, previous: Sequence[Exchanged], summary: str, usage: Usage, handed: Handed, at: int
) -> Json:
    """The answer: a window to go on from. Without a summary there is none."""
    if not summary.strip():
        raise no_summary()
    items = [item for kept in previous for item in kept.input] + input_kept(asked, handed.secret)
    users = [item for item in items if item.get("type") == "message" and item.get("role") == "user"]
    return {
        "id": handed.response("resp_"),
        "object": "response.compaction",
        "created_at": at,
        "output": [*users, compaction_item(handed.item("cmp_", "compaction"), summary)],
        "usage": usage_of(usage),
    }


def no_summary() -> Wrong:
    return Wrong(502, PROVIDER, "The model said nothing that could stand in the place of the conversation.")
