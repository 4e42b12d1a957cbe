"""A running answer as one page watches it: its events become operations, and at its end the rows have the last word."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from uuid import UUID

from ..conversations.news.question import answering
from ..core.draft import Draft
from ..core.events import (
    Asked,
    Event,
    ItemAmended,
    ItemDelta,
    ItemDone,
    ItemsStored,
    ItemStarted,
    Repaired,
    ResponseEnded,
    Retrying,
    Saving,
    Skipped,
    TurnEnded,
    Usage,
    Withheld,
)
from ..core.items import Kind
from ..pages import operations
from ..pages.elements import item_id, message_id
from ..store import Seen, in_thread
from ..store.changes import Ended
from ..store.models import LIVE, Status
from ..thread.item import ShownItem
from ..thread.item_body import ARGUMENTS, blocks_within
from ..thread.items_so_far import ItemSoFar, item_from_draft
from ..thread.message import ShownMessage
from ..thread.page import Viewer, load_message, shown_alone
from ..thread.whole_text import (
    Seams,
    as_whole_texts,
    may_go_on,
    pieces_of,
    said_by,
    seams_within,
    times_in_words,
)
from ..turns.engine import Engine
from ..turns.live import LiveEvent
from ..turns.watching import AT_WORK, News, watch
from .continued_item import ContinuedItem
from .growing_item import Emit, GrowingItem
from .outbox import Outbox

GROWING_ARGUMENTS = '<pre class="well" tabindex="0" data-grows></pre>'
Body = GrowingItem | ContinuedItem


class AnswerNews:
    """`shown`: as the page has it already."""

    def __init__(
        self,
        message: UUID,
        viewer: Viewer,
        engine: Engine,
        outbox: Outbox,
        *,
        shown: ShownMessage | None = None,
    ) -> None:
        self.message, self.viewer, self.engine, self.outbox = message, viewer, engine, outbox
        self._draft, self._attempt = Draft(), -1
        self._pieces: dict[str, ItemSoFar] = {}
        self._bodies: dict[str, Body] = {}
        # Those that letters go into as they come, by the keys of their items.
        self._growing: dict[str, Body] = {}
        # The pieces of a text that was cut, while it is not known whether it goes on; and where it was cut.
        self._cut: Sequence[ItemSoFar] = ()
        self._seams = Seams()
        self._shells: dict[str, str] = {}
        self._finishing: set[asyncio.Task[None]] = set()
        self._shown = shown
        if shown:
            self._shells[shown.id] = shown.shell()
        # Who is beside it, as long as nobody came or went; how it ended, where whoever wrote that told it.
        self._look = shown.look if shown else None
        self._ended: Ended | None = None
        # What is said in the first news may be on the page already.
        self._joining = True
        self._thinks = False

    async def run(self) -> ShownMessage:
        """Until the turn has ended or waits for a person; returns what the rows say then."""
        shown = self._shown or await self._show_rows()
        if shown.row.status not in AT_WORK:
            self._keep()
        elif not shown.end:
            # What was asked at the end of the page is decided.
            self.outbox.add(operations.gone(self._end))
        engine = self.engine
        watching = watch(
            self.message,
            engine.live,
            engine.notices,
            engine.keeper,
            row=shown.row,
            hear=self._take_letters,
        )
        async for news in watching:
            self._ended = news.ended
            await self._take(news)
            await self._settle_cut()
            if self._joining:
                # Only now is it known what of the page is void: it may show more than the rows do.
                self._keep()
                self._joining = False
            await self.outbox.room()
        await asyncio.gather(*self._finishing)
        shown = await self._show_rows()
        self._keep()
        return shown

    def forget_family(self) -> None:
        """Something is beside it, or below it, that was not there."""
        self._look = None

    def _as_written(self) -> ShownMessage | None:
        if self._ended is None or self._look is None or self._shown is None:
            return None
        row = copy(self._ended.answer)
        row.parent = self._shown.row.parent
        siblings, is_leaf = self._look.siblings, self._look.leaf is not None
        return shown_alone(row, self._ended.items, self.viewer, siblings, is_leaf=is_leaf)

    async def _show_rows(self) -> ShownMessage:
        """Everything that is stored; only what the page does not have yet goes out."""
        shown = self._as_written() or await in_thread(load_message)(self.message, self.viewer)
        self._shown, self._look = shown, shown.look
        before, self._pieces = self._pieces, {item.piece.key: item.piece for item in shown.items}
        self._say_message(shown)
        await self._look_where_cut(shown)
        for item in shown.items:
            if item.id not in self._shells or item.piece != before.get(item.piece.key):
                self._show_item(item)
            if item.piece not in self._cut:
                self._body(item).settle(await blocks_within(self.message, item.piece))
        if shown.end:
            self._say_shell(self._end, shown.end_html(), self._items)
        return shown

    async def _look_where_cut(self, shown: ShownMessage) -> None:
        """The pieces of the text that may go on: the page may show already with what, so their bodies wait for the first news."""
        pieces = [item.piece for item in shown.items]
        texts = [piece for piece in pieces if piece.kind is not Kind.REASONING][-1:]
        goes_on = shown.row.status in AT_WORK and texts and may_go_on(texts[0])
        self._cut = pieces_of(texts[0], pieces) if goes_on else ()
        key = next((piece.key for piece in self._cut), "")
        times = times_in_words(self._cut, self.viewer.zone)
        self._seams = await seams_within(self.message, key, said_by(self._cut), times)

    async def _settle_cut(self) -> None:
        cut, self._cut = self._cut, ()
        for piece in cut:
            self._body(self._item(piece)).settle(await blocks_within(self.message, piece))

    def _say_message(self, shown: ShownMessage) -> None:
        self._say_shell(shown.id, shown.shell(), "messages")
        if shown.row.status not in AT_WORK:
            # In the same moment: whoever types on at once is told what the answer waits for.
            self.outbox.add(operations.state("answering", answering(shown.row)))

    def _keep(self) -> None:
        ids = [item_id(self.message, key) for key in self._pieces]
        if self._shown and self._shown.end:
            ids.append(self._end)
        else:
            self._shells.pop(self._end, None)
        self.outbox.add(operations.keep(self._items, ids))

    @property
    def _items(self) -> str:
        return f"{message_id(self.message)}-items"

    @property
    def _end(self) -> str:
        return f"{message_id(self.message)}-end"

    def _take_letters(self, said: LiveEvent) -> bool:
        """Nearly everything that is said are letters of what grows already: they go out without waking anybody."""
        event = said.event
        if not isinstance(event, ItemDelta) or self._joining or self.outbox.is_full:
            return False
        body, piece = self._growing.get(event.key), self._pieces.get(event.key)
        if body is None or piece is None or not piece.open:
            return False
        self._draft.apply(event, said.at)
        self._grow(body, event.key, event.text)
        return True

    async def _take(self, news: News) -> None:
        if news.attempt != self._attempt:
            await self._begin_again(news.attempt)
        letters: dict[str, list[str]] = {}
        touched: dict[str, None] = {}
        for said in news.said:
            self._draft.apply(said.event, said.at)
            self._note(said.event, said.at, letters, touched)
        self._wait(self._draft.waits)
        for key in touched:
            self._show_growing(key, "".join(letters.get(key, ())))
        kinds = {type(said.event) for said in news.said}
        if ItemsStored in kinds and TurnEnded not in kinds:
            await self._show_head()

    async def _show_head(self) -> None:
        """What is stored of a running answer stands in its head too."""
        shown = await in_thread(load_message)(self.message, self.viewer)
        self._shown = replace(shown, waits=self._shown.waits if self._shown else "")
        self._say_message(shown)

    async def _begin_again(self, attempt: int) -> None:
        """Another attempt: what was seen of the last one is void, what is stored stays."""
        if self._attempt >= 0:
            self.close()
            await self._show_rows()
            self._keep()
        self._attempt, self._draft = attempt, Draft()
        if self._shown and self._shown.row.status in LIVE and self._shown.row.status != Status.RUNNING:
            row = copy(self._shown.row)
            row.status = Status.RUNNING
            self._shown = replace(self._shown, row=row)
            self._say_shell(self._shown.id, self._shown.shell(), "messages")

    def _note(self, event: Event, at: float, letters: dict[str, list[str]], touched: dict[str, None]) -> None:
        match event:
            case ItemStarted():
                touched[event.key] = None
                self._say_that_it_thinks(event.kind)
            case ItemDelta():
                touched[event.key] = None
                letters.setdefault(event.key, []).append(event.text)
            case ItemDone():
                touched[event.item.key] = None
                self._know(item_from_draft(self._seen(at), event.item.key))
            case Retrying():
                for key in event.lost:
                    touched.pop(key, None)
                    self._lose(key)
            case (
                Asked()
                | ItemAmended()
                | Usage()
                | Skipped()
                | Withheld()
                | ResponseEnded()
                | Repaired()
                | ItemsStored()
                | Saving()
                | TurnEnded()
            ):
                pass

    def _say_that_it_thinks(self, kind: Kind) -> None:
        """For those who listen: once, however many thoughts there are."""
        if kind is Kind.REASONING and not self._thinks:
            self._thinks = True
            self.outbox.add(operations.say("Thinking"))

    def _lose(self, key: str) -> None:
        """What was thought for an answer that never came is no part of it."""
        self._growing.pop(key, None)
        if piece := self._pieces.pop(key, None):
            item = self._item(piece)
            self._shells.pop(item.id, None)
            if body := self._bodies.pop(item.body_id, None):
                body.drop()
        self.outbox.add(operations.gone(item_id(self.message, key)))

    def _know(self, piece: ItemSoFar) -> ItemSoFar:
        self._pieces[piece.key] = piece
        self._pieces = {
            each.key: each for each in as_whole_texts(list(self._pieces.values()), self.viewer.zone)
        }
        return self._pieces[piece.key]

    def _seen(self, at: float) -> Seen:
        return Seen(self._attempt, self._draft, at)

    def _wait(self, words: str) -> None:
        """Why nothing comes at the moment."""
        if self._shown is None or self._shown.waits == words:
            return
        self._shown = replace(self._shown, waits=words)
        # Rows may say already how it ended, while what was said before that is still being read.
        if words and self._shown.end:
            self._say_shell(self._end, self._shown.end_html(), self._items)
        else:
            self._shells.pop(self._end, None)
            self.outbox.add(operations.gone(self._end))

    def _show_growing(self, key: str, letters: str) -> None:
        piece = self._pieces.get(key)
        if piece and piece.open and letters and piece.kind is not Kind.TOOL_CALL and key in self._growing:
            self._grow(self._growing[key], key, letters)
            return
        said_more = piece is not None and piece.open and piece.kind is Kind.TOOL_RESULT
        if piece is None or said_more:
            if key not in self._draft.pieces:
                return
            at = self.engine.live.now((self.message, self._attempt)) or self._draft.at
            piece = self._know(item_from_draft(self._seen(at), key))
        if piece.kind is Kind.TOOL_RESULT:
            self._show_result(piece, progress=said_more)
            return
        item = self._item(piece)
        fresh = item.id not in self._shells
        if fresh or not piece.open:
            self._show_item(item)
        self._fill(item, letters)

    def _grow(self, body: Body, key: str, letters: str) -> None:
        body.write(letters, anew=self._joining)
        # From now on the growing item has them; a page that reads nothing would keep them here once more.
        self._draft.pieces[key].text.clear()

    def _fill(self, item: ShownItem, letters: str) -> None:
        body = self._body(item)
        if not item.piece.open:
            self._finish(body, item.piece)
        elif letters and item.piece.kind is Kind.TOOL_CALL and isinstance(body, GrowingItem):
            body.write_plainly(letters, before=ARGUMENTS, inside=GROWING_ARGUMENTS)
        elif letters:
            self._growing[item.piece.key] = body
            body.write(letters, anew=self._joining)

    def _show_result(self, result: ItemSoFar, *, progress: bool) -> None:
        """Inside its call. `progress`: nothing of it is new but how far it is."""
        calls = (p for p in self._pieces.values() if p.kind is Kind.TOOL_CALL and p.call_id == result.call_id)
        mine = [call for call in calls if call.result is None or call.result.key == result.key]
        if not mine:
            return
        call = self._pieces[mine[0].key] = replace(mine[0], result=result)
        item = self._item(call)
        if progress:
            self.outbox.add(operations.put(item.progress_html()))
            return
        self._show_item(item)
        self._finish(self._body(item), call)

    def _finish(self, body: Body, piece: ItemSoFar) -> None:
        task = asyncio.create_task(self._finished(body, piece))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)

    async def _finished(self, body: Body, piece: ItemSoFar) -> None:
        body.settle(await blocks_within(self.message, piece))
        for before in self._pieces_before(piece):
            self._body(self._item(before)).settle(await blocks_within(self.message, before))

    def _item(self, piece: ItemSoFar) -> ShownItem:
        return self.viewer.item(self.message, piece)

    def _body(self, item: ShownItem) -> Body:
        if item.body_id not in self._bodies:
            self._bodies[item.body_id] = self._new_body(item)
        return self._bodies[item.body_id]

    def _new_body(self, item: ShownItem) -> Body:
        emit: Emit = self.outbox.add
        own, whole = GrowingItem(self.message, item.piece.key, item.body_id, emit), item.piece.whole
        if whole is None or not whole.is_last:
            return own
        bodies = [self._body(self._item(piece)) for piece in self._pieces_before(item.piece)]
        before = [body for body in bodies if isinstance(body, GrowingItem)]
        if len(before) != len(self._seams.ends):
            return own
        self._cut = ()
        return ContinuedItem(self.message, whole.key, whole.said[-2], self._seams, [*before, own], emit)

    def _pieces_before(self, piece: ItemSoFar) -> list[ItemSoFar]:
        """What its text said until it was cut."""
        return pieces_of(piece, list(self._pieces.values()))[:-1]

    def _show_item(self, item: ShownItem) -> None:
        self._say_shell(item.id, item.shell(), self._items)

    def _say_shell(self, element: str, html: str, container: str) -> None:
        if self._shells.get(element) != html:
            self._shells[element] = html
            self.outbox.add(operations.add(container, html))

    def close(self) -> None:
        """Nothing that is still being rendered goes out."""
        for task in self._finishing:
            task.cancel()
        for body in self._bodies.values():
            body.cancel()
        self._bodies, self._growing, self._shells = {}, {}, {}
