"""Each block reads in the direction of its own first letter. Code and formulas read from left to right, as the style says."""

from __future__ import annotations

from markdown_it.rules_core import StateCore

_BLOCKS = frozenset(
    ("heading_open", "blockquote_open", "list_item_open", "th_open", "td_open", "summary_open")
)
_AROUND = frozenset(("blockquote", "list_item", "footnote"))


def directions(state: StateCore) -> None:
    """A browser passes over an element that has a direction of its own when it looks for the first letter of what is around
    it; so a paragraph in a quote or a point has none, and follows it."""
    inside = 0
    for token in state.tokens:
        if token.type.rpartition("_")[0] in _AROUND:
            inside += token.nesting
        if token.type in _BLOCKS or (token.type == "paragraph_open" and not inside):
            token.attrs["dir"] = "auto"
