"""Signs that deceive the eye are shown by their names."""

from __future__ import annotations

from ..core.signs import HIDDEN

__all__ = ["HIDDEN", "marked"]


def marked(html: str) -> str:
    """Escaped text in which each hidden sign reads as its number."""
    return HIDDEN.sub(lambda found: f"<mark>U+{ord(found[0]):04X}</mark>", html)
