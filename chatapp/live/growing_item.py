"""One item of a running answer as one page shows it: letters at once, which the page shapes, and each block once it is finished."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from uuid import UUID

from ..core.items import clean
from ..core.signs.visible import visible
from ..markdown import Growing, GrowingPieces, feed_within
from ..markdown.kept import Blocks
from ..pages import operations
from ..pages.operations import Cuts, Operation

# So many times as long as the event loop was late, everything rests: it has no time for more than letters.
REST = 50
LONGEST_REST = 2.0
# So much at once is shown with its finished blocks from the start: somebody joined late.
LATE = 2000
Emit = Callable[[Operation], None]


class GrowingItem:
    def __init__(self, message: UUID, key: str, body: str, emit: Emit) -> None:
        self.message, self.key, self.body = message, key, body
        self.blocks: list[str] = []
        self._emit = emit
        self._text: list[str] = []
        self._length = self._sent = 0
        self._growing = Growing(message=str(message), key=key)
        self._pieces = GrowingPieces(message=str(message), key=key)
        self._rests_until, self._line_ended = 0.0, False
        self._task: asyncio.Task[None] | None = None
        self._look: asyncio.TimerHandle | None = None
        self._settled = self._dropped = False

    def write(self, letters: str, *, anew: bool = False) -> None:
        """Letters that came; they go out at once, and blocks that they finish behind that. `anew`: the page may show them already,
        so they go out in place of what it shows."""
        letters = clean(letters)
        self._text.append(letters)
        self._length += len(letters)
        self._line_ended |= "\n" in letters
        if self._sent == 0 and (self._task or anew or len(letters) > LATE):
            # What came before has not gone out yet: it goes with its blocks, and this behind it.
            self._render()
            return
        self._say_pieces(letters)
        self._emit(operations.text(self.body, letters))
        self._sent = self._length
        self._look_for_blocks()

    def _say_pieces(self, letters: str) -> None:
        for source, html in self._pieces.feed(letters, self._growing.known):
            self._emit(operations.piece(self.body, source, html))

    def _look_for_blocks(self) -> None:
        """Where a line has ended; at once, or when there is time for it."""
        if not self._line_ended or self._task or self._look or self._growing.lost:
            return
        rest = self._rests_until - time.monotonic()
        if rest <= 0:
            self._render()
        else:
            self._look = asyncio.get_running_loop().call_later(rest, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        self._look_for_blocks()

    def _render(self) -> None:
        self._task = self._task or asyncio.create_task(self._rendered(time.monotonic()))

    async def _rendered(self, asked_at: float) -> None:
        began = time.monotonic()
        self._rests_until = began + min(REST * (began - asked_at), LONGEST_REST)
        self._line_ended = False
        try:
            text = self._whole()
            made = await feed_within(self._growing, text)
            if made or self._sent == 0:
                self._show(text, made)
        finally:
            self._task = None
        # A line that ended meanwhile was not looked at.
        self._look_for_blocks()

    def _show(self, text: str, made: list[str]) -> None:
        """The finished blocks, and the letters behind them."""
        rest = self._growing.tail + self._whole()[len(text) :]
        changes, is_new = [*enumerate(made, len(self.blocks))], self._sent < self._length
        self._sent = self._length
        self.tell(changes, total=len(self.blocks) + len(made), rest=rest)
        if is_new:
            self._say_pieces(rest)

    def tell(self, changes: list[tuple[int, str]], *, total: int, rest: str = "", cut: Cuts = ()) -> None:
        """Finished blocks by their place, `total` of them, and the letters behind; also of a text that several bodies share."""
        for place, html in changes:
            self.blocks[place : place + 1] = [html]
        del self.blocks[total:]
        self._settled = False
        self._emit(operations.blocks(self.body, changes, total=total, rest=rest, cut=cut))

    def _whole(self) -> str:
        if len(self._text) > 1:
            self._text[:] = ["".join(self._text)]
        return self._text[0] if self._text else ""

    def write_plainly(self, letters: str, *, before: str, inside: str) -> None:
        """Letters that are no Markdown, each of them seen: into an element of their own, behind a block."""
        letters = visible(clean(letters))
        if self._sent == 0:
            self.blocks = [before]
            self._emit(operations.blocks(self.body, [(0, before)], total=1, growing=inside, rest=letters))
        else:
            self._emit(operations.text(self.body, letters))
        self._sent += len(letters)

    def settle(self, final: Blocks) -> None:
        """The item is finished: only the blocks that a late definition changed are sent again. A page that missed it may show
        letters where nothing is left to show, so the first time it is said in any case."""
        if self._dropped:
            return
        self.cancel()
        made = [(n, html) for n, html in enumerate(final) if self.blocks[n : n + 1] != [html]]
        if made or len(final) != len(self.blocks) or self._sent or self._length or not self._settled:
            self._emit(operations.blocks(self.body, made, total=len(final), last=True))
        self.blocks, self._settled = list(final), True
        self._text, self._length, self._sent = [], 0, 0

    def drop(self) -> None:
        """Nothing of it is shown any more."""
        self._dropped = True
        self.cancel()

    def cancel(self) -> None:
        for waiting in (self._task, self._look):
            if waiting:
                waiting.cancel()
