"""For how long programs have been making their calls, by a clock that nobody sets. It is this process's: of a turn that another one handed
over, only its row tells."""

from __future__ import annotations

import time
from collections import OrderedDict
from uuid import UUID

MOST = 10_000
_since: OrderedDict[UUID, float] = OrderedDict()


def begin_waiting(message: UUID) -> None:
    _since[message] = time.monotonic()
    while len(_since) > MOST:
        _since.popitem(last=False)


def waited(message: UUID) -> float | None:
    """Seconds."""
    began = _since.get(message)
    return None if began is None else time.monotonic() - began


def forget() -> None:
    """As a process that begins anew."""
    _since.clear()
