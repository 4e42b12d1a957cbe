"""The edges of the engine, for processes that share a folder: mostly there is one."""

from __future__ import annotations

from pathlib import Path

from ..edges import Edges
from ..runner import EmbeddedRunner
from .line import NeighbourLine
from .live import NeighbourLive
from .notices import NeighbourNotices


def edges(folder: Path, name: str) -> Edges:
    line = NeighbourLine(folder, name)
    return Edges(NeighbourLive(line), NeighbourNotices(line), EmbeddedRunner)
