"""Where the engine touches other processes: what differs between one and many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .heartbeat import HeartbeatThread
from .live import Live
from .locks import ProcessLock
from .loop import World
from .notices import Notices
from .runner import EmbeddedRunner


@dataclass(frozen=True, slots=True)
class Edges:
    live: Live
    notices: Notices
    runner: Callable[[World, ProcessLock, HeartbeatThread], EmbeddedRunner]


# Of the folder that processes of one machine share, and the name of this one.
MakeEdges = Callable[[Path, str], Edges]
