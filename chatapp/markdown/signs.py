"""Signs that deceive the eye are shown by their names."""

from __future__ import annotations

from ..core.signs.visible import Leave, visible


def marked(html: str) -> str:
    """Escaped text in which each hidden sign reads as its number."""
    return visible(html, Leave.PROSE, written="<mark>U+{:04X}</mark>")
