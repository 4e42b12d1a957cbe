"""A conversation in the lists of its owner's other pages: its title, and whether it answers."""

from __future__ import annotations

from uuid import UUID

from ...pages import operations
from ...pages.operations import Operation
from ...store.changes import Written
from ...turns.engine import engine
from ..page.sidebar import render_row
from ..store import load_row, row_as_written


def list_news(
    conversation: UUID, *, moved: bool = False, open: UUID | None = None, written: Written | None = None
) -> list[Operation]:
    """`moved`: it belongs at the top now. `open`: the conversation that is on the page. `written`: what became of its rows, where
    whoever changed them says it."""
    over = engine().keeper.stopped
    row = None if over else row_as_written(written)
    row = row or load_row(conversation, over=over)
    if row is None or row.archived:
        return [operations.gone(f"c-{conversation}")]
    return [operations.row(render_row(row, open=open), moved=moved)]


def is_at_hand(written: Written | None) -> bool:
    """Whether no row is to be read for it."""
    return not engine().keeper.stopped and row_as_written(written) is not None


def row_now(conversation: UUID) -> list[Operation]:
    """Of the conversation on the page, where the list beside it shows it."""
    row = load_row(conversation, over=engine().keeper.stopped)
    return [operations.put(render_row(row, open=conversation))] if row else []
