"""Which runs of `*` and `_` open and close emphasis, also in scripts that put no blank between words.

CommonMark asks whether blanks or punctuation stand around a run, so `**注意：**这里` closes nothing by it. Here, as in the
amendment that is known as cjk-friendly, the punctuation of these scripts counts as a letter of theirs, and such a letter
makes as good an edge as punctuation does. Where none stands beside the run, nothing differs.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Scanned


def scanned(state: StateInline, as_usual: Scanned, start: int, *, can_split_word: bool) -> Scanned:
    """What CommonMark says of the run of marks that starts here, unless a sign of such a script stands beside it."""
    end = start + as_usual.length
    before = state.src[start - 1] if start > 0 else " "
    after = state.src[end] if end < state.posMax else " "
    if not (_close_set(before) or _close_set(after)):
        return as_usual
    opens = _flanks(after, before)
    closes = _flanks(before, after)
    return Scanned(
        opens and (can_split_word or not closes or _is_punctuation(before)),
        closes and (can_split_word or not opens or _is_punctuation(after)),
        as_usual.length,
    )


def _flanks(inner: str, outer: str) -> bool:
    if inner.isspace():
        return False
    edge = outer.isspace() or _is_punctuation(outer) or _close_set(outer)
    return edge or not _is_punctuation(inner) or _close_set(inner)


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "PS"


@lru_cache(1024)
def _close_set(sign: str) -> bool:
    """Of a script that is written without blanks, or close to it: Chinese, Japanese, Korean."""
    return (
        sign > "\u10ff" and unicodedata.east_asian_width(sign) in "WFH" and unicodedata.category(sign) != "So"
    )
