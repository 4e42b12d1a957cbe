"""One item of a running answer as one page shows it: letters at once, finished blocks behind them, the growing block now and then."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from uuid import UUID

from ..core.items import clean
from ..core.visible import visible
from ..markdown import Growing, Open, feed_within, open_within
from ..markdown.kept import Blocks
from ..pages import operations
from ..pages.operations import Operation

AGAIN_SECONDS = 0.2
# Under load less often: rendering, with the wait for it, takes at most this part of the time.
MOST_OF_THE_TIME = 1 / 20
# So many times as long as the event loop was late, everything rests: it has no time for more than letters.
REST = 50
LONGEST_REST = 2.0
# Where none of these are, letters look the same whether they are rendered or not.
_SIGNS = re.compile(r"_|[^\w\s.,;:'’\"“”„?!()–—…%/-]|://|www\.|^[^\S\n]*+(?:[-=]|\d++[.)]\s)", re.MULTILINE)
# As far back as a sign may begin that later letters complete.
LONGEST_SIGN = 40
# So much at once is shown rendered from the start: somebody joined late.
LATE = 2000
BRIEF = 100
_FENCES = ("```", "~~~", "$$")
Emit = Callable[[Operation], None]


class GrowingItem:
    def __init__(self, message: UUID, key: str, body: str, emit: Emit) -> None:
        self.message, self.key, self.body = message, key, body
        self.blocks: list[str] = []
        self._emit = emit
        self._text: list[str] = []
        self._length = self._sent = 0
        self._growing = Growing(message=str(message), key=key)
        self._finished = self._shown_length = self._signless = 0
        self._shown_at, self._pause, self._code = time.monotonic(), AGAIN_SECONDS, False
        self._rests_until, self._line_ended = 0.0, False
        self._task: asyncio.Task[None] | None = None
        self._look: asyncio.TimerHandle | None = None
        self._settled = self._dropped = False

    def write(self, letters: str, *, anew: bool = False) -> None:
        """Letters that came; they go out at once, and are rendered behind that. `anew`: the page may show them already, so
        they go out rendered, in place of what it shows."""
        letters = clean(letters)
        self._text.append(letters)
        self._length += len(letters)
        if self._sent == 0 and (self._task or anew or len(letters) > LATE):
            # What came before has not gone out yet: it goes rendered, with this behind it.
            self._render()
            return
        self._emit(operations.text(self.body, letters))
        self._sent = self._length
        if self._is_due("\n" in letters):
            self._render()
        self._look_later()

    def _look_later(self) -> None:
        """A model may pause: what it wrote last is not left as letters until it goes on."""
        if self._look is None and not self._growing.lost:
            self._look = asyncio.get_running_loop().call_later(self._pause, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        if self._task or time.monotonic() - self._shown_at < self._pause:
            self._look_later()
        elif self._line_ended or self._again():
            self._render()

    def _is_due(self, new_line: bool) -> bool:
        self._line_ended |= new_line
        if self._task or self._growing.lost:
            return False
        return (self._line_ended and time.monotonic() >= self._rests_until) or self._again()

    def _again(self) -> bool:
        """Whether the growing block has doubled, some time has passed, and there is more to see than letters."""
        doubled = self._length - self._finished >= 2 * self._shown_length
        if self._code or not doubled or time.monotonic() - self._shown_at < self._pause:
            return False
        whole, start = self._whole(), self._finished + self._shown_length
        found = _SIGNS.search(whole, max(start, self._signless))
        if not found:
            self._signless = len(whole) - LONGEST_SIGN
        return bool(found)

    def _render(self) -> None:
        self._task = self._task or asyncio.create_task(self._rendered(time.monotonic()))

    async def _rendered(self, asked_at: float) -> None:
        began = time.monotonic()
        rest = min(REST * (began - asked_at), LONGEST_REST)
        self._rests_until, self._line_ended = began + rest, False
        try:
            text, again, late = self._whole(), self._again(), self._sent == 0
            made = await feed_within(self._growing, text)
            if made or again or late:
                await self._show(text, made)
                self._pause = max(AGAIN_SECONDS, rest, (self._shown_at - asked_at) / MOST_OF_THE_TIME)
        finally:
            self._task = None

    async def _show(self, text: str, made: list[str]) -> None:
        """The finished blocks and, behind them, the growing one as it is now."""
        tail, opened = self._growing.tail, Open("")
        if _SIGNS.search(tail) and not (made and self._is_brief(tail)):
            opened = await open_within(self._growing)
        self._finished = len(text) - len(tail)
        self._code, self._shown_at = opened.code, time.monotonic()
        self._shown_length = len(tail) if opened.html else 0
        rest = self._whole()[self._rendered_to(text, opened) :]
        changes = enumerate(made, len(self.blocks))
        self.blocks += made
        self._sent = self._length
        total = len(self.blocks)
        self._emit(operations.blocks(self.body, changes, total=total, growing=opened.html, rest=rest))

    def _is_brief(self, tail: str) -> bool:
        """What has just begun behind a finished block waits for its turn, unless it will grow as text only."""
        return len(tail) < BRIEF and not tail.startswith(_FENCES)

    def _rendered_to(self, text: str, opened: Open) -> int:
        """Where the letters begin that the growing block does not show: it drops the white space at its end."""
        if not opened.html:
            return self._finished
        return len(text) if opened.code else len(text.rstrip())

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
            self._emit(operations.blocks(self.body, made, total=len(final)))
        self.blocks, self._settled = list(final), True
        self._text, self._length, self._sent = [], 0, 0

    def lend(self) -> None:
        """Another one writes into its body: what it shows then is said in any case."""
        self._settled = False

    def drop(self) -> None:
        """Nothing of it is shown any more."""
        self._dropped = True
        self.cancel()

    def cancel(self) -> None:
        for waiting in (self._task, self._look):
            if waiting:
                waiting.cancel()
