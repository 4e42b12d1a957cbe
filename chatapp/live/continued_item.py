"""The text with which an answer goes on where it was cut, as one page shows it: it grows as one with what was said before, in the
body that has the block which was cut, and from the next block on in its own."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from ..core.items import clean
from ..markdown.kept import Blocks
from ..pages.operations import Operation
from ..thread.joining import DECIDED, joined
from ..thread.whole_text import Seams
from .growing_item import Emit, GrowingItem


class ContinuedItem:
    """`before`: what was said when it was cut; `bodies`: those of all pieces of the text, this one the last."""

    def __init__(
        self, message: UUID, key: str, before: str, seams: Seams, bodies: Sequence[GrowingItem], emit: Emit
    ) -> None:
        self._message, self._key, self._bodies, self._emit = message, key, bodies, emit
        self._before, self._seams = before, seams
        self._said = self._told = ""
        self._look_at, self._length = 1, 0
        self._begin()

    def _begin(self) -> None:
        self._open, self._told, self._length = -1, "", 0
        self._all = GrowingItem(self._message, self._key, self._bodies[-1].body, self._emit_parts)

    def write(self, letters: str, *, anew: bool = False) -> None:
        """`anew` makes no difference: the block that was cut is there already, and goes out rendered with what comes first."""
        more = self._joined(clean(letters))
        self._length += len(more)
        self._all.write(more, anew=True)

    def _joined(self, letters: str) -> str:
        """What is new of the text. How it begins decides how it is joined; then it is only longer."""
        if not self._look_at:
            return letters
        self._said += letters
        if len(self._said) >= self._look_at:
            self._look_at = 2 * len(self._said) if len(self._said) < DECIDED else 0
            text = joined(self._before, self._said)
            if not text.startswith(self._told):
                self._all.drop()
                self._begin()
            letters = text[len(self._told) :]
        self._told += letters
        return letters

    def _emit_parts(self, operation: Operation) -> None:
        """What is said of the whole text, told to the bodies of its pieces."""
        name, _, *said = operation
        if name == "blocks":
            changes, total, _, rest = said
            self._emit_blocks(changes, total, rest)
        else:
            self._emit([name, self._bodies[self._open].body, *said])

    def _emit_blocks(self, changes: list[tuple[int, str]], total: int, rest: str) -> None:
        was, self._open = self._open, self._seams.piece_of(total)
        edges = [0, *self._seams.ends]
        for n, body in enumerate(self._bodies):
            own = [
                (place - edges[n], self._seams.marked(place, html))
                for place, html in changes
                if self._seams.piece_of(place) == n
            ]
            is_open = n == self._open
            if not (own or is_open or n == was or was < 0):
                continue
            end = edges[n + 1] if n + 1 < len(edges) else total
            count = max(0, min(total, end) - edges[n])
            if is_open:
                cut = self._seams.within(self._length - len(rest))
                body.tell(own, total=count, rest=rest, cut=cut)
            else:
                body.tell(own, total=count)

    def settle(self, final: Blocks) -> None:
        """Only its own body; the others are told what they show in the end by themselves."""
        self._all.drop()
        self._bodies[-1].settle(final)

    def drop(self) -> None:
        self._all.drop()
        self._bodies[-1].drop()

    def cancel(self) -> None:
        self._all.cancel()
