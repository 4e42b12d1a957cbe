"""What a page of a transcript may cost: so much of each text, and so much of all of them formatted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

from ...core.items import Item, Kind
from ...core.pretty_json import pretty, pretty_result
from ...markdown.kept import Blocks
from ...markdown.whole import as_it_is
from ...thread.item_body import MARKDOWN, blocks_of
from ...thread.items_so_far import ItemSoFar

MOST_SIGNS = 20_000
# That takes a sixth of a second.
MOST_FORMATTED = 60_000
_FORMATTED = (*MARKDOWN, Kind.USER_MESSAGE)


def cut(piece: ItemSoFar) -> ItemSoFar:
    """Where its text is too long, only the beginning, as people would read it."""
    result = cut(piece.result) if piece.result else None
    if len(piece.text) <= MOST_SIGNS:
        return replace(piece, result=result)
    return replace(piece, text=_as_people_read(piece)[:MOST_SIGNS] + "…", result=result, shortened=True)


def left_out(items: Iterable[Item]) -> int:
    """So many signs of a message are cut off."""
    return sum(max(0, len(item.text) - MOST_SIGNS) for item in items)


def _as_people_read(piece: ItemSoFar) -> str:
    match piece.kind:
        case Kind.TOOL_CALL:
            return pretty(piece.text)
        case Kind.TOOL_RESULT:
            return pretty_result(piece.text)
        case Kind.USER_MESSAGE | Kind.ASSISTANT_MESSAGE | Kind.REASONING | Kind.PERMISSION_DECISION:
            return piece.text


class Formatting:
    """Of one page: what is beyond its bound stands there as it was written."""

    def __init__(self, most: int = MOST_FORMATTED) -> None:
        self._left = most
        self._of_whole: dict[tuple[UUID, str], bool] = {}
        self.is_cut_short = False

    def blocks(self, message: UUID, piece: ItemSoFar) -> Blocks:
        if piece.kind not in _FORMATTED or not piece.text:
            return blocks_of(message, piece)
        if self._has_room(message, piece):
            return blocks_of(message, piece)
        self.is_cut_short = True
        return (as_it_is(piece.text),)

    def _has_room(self, message: UUID, piece: ItemSoFar) -> bool:
        """A text that was cut and went on is formatted as one, or none of its pieces is."""
        if piece.whole is None:
            return self._takes(len(piece.text))
        text = message, piece.whole.key
        if text not in self._of_whole:
            self._of_whole[text] = self._takes(len(piece.whole.said[-1]))
        return self._of_whole[text]

    def _takes(self, signs: int) -> bool:
        self._left -= signs
        return self._left >= 0
