"""What the socket and commands tell of the question that waits."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.models import User

from ..pages import operations
from ..pages.operations import Operation
from .page import NOTHING, render_next
from .store import load_next


def next_now(person: User, answer: UUID, status: str = "") -> list[Operation]:
    """What waits for this answer, in the composer of a page that ends with it. `status`: of the answer, where the caller knows better than
    the row."""
    return [operations.put(render_next(load_next(person, answer), status))]


def nothing_next() -> list[Operation]:
    return [operations.put(NOTHING)]
