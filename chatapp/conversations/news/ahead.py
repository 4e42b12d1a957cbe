"""What everybody's question shows, drawn before anybody asks: the first one in a process finds its stencils."""

from __future__ import annotations

from functools import cache
from itertools import product

from django.contrib.auth.models import User
from django.utils import timezone

from ...core.items import Item, Kind
from ...providers.configured import Catalog
from ...store import Questions
from ...store.changes import NONE, Begun
from ...store.models import Message, Role, Status
from ...thread.items_so_far import ItemSoFar
from ...thread.outline import render_line
from ...thread.page import Viewer, shown_alone
from ..page.sidebar import render_row
from ..store import ConversationState, ListRow
from .question import end_of_branch, question_as_written

_KINDS = (Kind.REASONING, Kind.ASSISTANT_MESSAGE)
_METADATA = {"elapsed_ms": 1000, "reasoning_durations_ms": {Kind.REASONING: 1000}}


@cache
def draw_ahead() -> None:
    """Once in a process; it takes some hundredths of a second."""
    catalog = Catalog(())
    for thoughts_open, effort in product((False, True), ("", "high")):
        _draw_answer(Viewer(User(), thoughts_open, catalog), effort)
    for state, title, open, program in product(ConversationState, ("", "Title"), (None, NONE), ("", "A key")):
        row = ListRow(NONE, title, timezone.now(), pinned=False, archived=False, state=state, program=program)
        render_row(row, open=open)


def _draw_answer(viewer: Viewer, effort: str) -> None:
    words = Item(key="question", kind=Kind.USER_MESSAGE, text="Why?")
    running = _stand_in(Role.ASSISTANT, Status.RUNNING, effort)
    new = question_as_written(Begun(_stand_in(Role.USER, Status.COMPLETE), words, running, None), viewer)
    for count in (1, 2):
        new.news(viewer.catalog, Questions(count, count))
    for kind, is_open in product(_KINDS, (True, False)):
        viewer.item(NONE, ItemSoFar(key=kind, kind=kind, text="Because.", open=is_open, ms=1000)).shell()
    complete = _stand_in(Role.ASSISTANT, Status.COMPLETE, effort)
    items = [Item(key=kind, kind=kind, text="Because.") for kind in _KINDS]
    answer = shown_alone(complete, items, viewer, {}, is_leaf=True)
    answer.shell(), render_line(new.asked, answer), end_of_branch(complete, viewer.catalog)


def _stand_in(role: Role, status: Status, effort: str = "") -> Message:
    metadata = _METADATA if status == Status.COMPLETE and role == Role.ASSISTANT else {}
    return Message(
        pk=NONE,
        conversation_id=NONE,
        role=role,
        status=status,
        effort=effort,
        model="model",
        metadata=metadata,
        created_at=timezone.now(),
    )
