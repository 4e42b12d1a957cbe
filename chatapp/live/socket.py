"""The listening socket. It only brings news: whoever opens it may see what it tells of, and the page says only how far it has read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Hashable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qs
from uuid import UUID

from autobahn.exception import Disconnected
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db import Error
from django.http import Http404

from ..conversations.news.ahead import draw_ahead
from ..conversations.news.list import is_at_hand, list_news, row_now
from ..core.named import identity, number
from ..pages import operations
from ..pages.access import is_told_of_theirs, my_conversation
from ..pages.door.open_sockets import LOOKING, OPEN, OPENINGS, Rate
from ..pages.operations import Operation
from ..pages.preferences import load_preference
from ..pages.signed_in import PRESENCE, Anybody, Proof, still_proved, who_is_signed_in
from ..pages.visitors import same_origin
from ..pages.words.days import ZONE_COOKIE, zone_named
from ..reviews.news import review_news
from ..store import in_thread
from ..thread.page import Viewer
from ..turns.engine import Engine, engine
from ..turns.keep.keeper import PASSING
from ..turns.notices import Notice, Once
from .conversation import ConversationNews
from .outbox import Outbox, Stuck

log = logging.getLogger(__name__)
R = TypeVar("R")

# Above 4000 the page does not come back by itself. The server under us says none of the protocol's own codes but 1000.
NOT_YOURS, SIGNED_OUT, NONSENSE, TOO_MANY, AGAIN = 4404, 4401, 4400, 4429, 3013
LONGEST_WORD = 12
# So long after it could not ask the database a socket begins anew.
ANEW_SECONDS = 0.5
# What no page shows.
UNSEEN = ("turn began", "head moved", "share closed")
# Words at once, and seconds for each further one: many times as often as a page says how far it has read.
WORDS, WORD_SECONDS = 500, 0.01


class SignedOut(Exception):
    """Whoever opened the socket may hear no more."""


class Listening(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        self._work: asyncio.Task[None] | None = None
        self._told: asyncio.Queue[Notice] = asyncio.Queue()
        self._told_of = AsyncExitStack()
        if not same_origin(dict(self.scope["headers"])):
            await self.close()
            return
        self._session = self._cookie(settings.SESSION_COOKIE_NAME)
        if not self._session:
            await self._refuse(SIGNED_OUT)
            return
        if not OPENINGS.may(self._session):
            await self._refuse(AGAIN)
            return
        try:
            async with LOOKING():
                user = await in_thread(_signed_in)(self._session)
        except Error as error:
            # Accepted, so that the page takes it for what it is, and comes back.
            log.warning("nobody could be looked up for a socket: %s", type(error).__name__)
            await self._refuse(AGAIN)
            return
        if not user.is_authenticated:
            await self._refuse(SIGNED_OUT)
            return
        # Before the page hears that it is connected, so that nothing goes past it.
        await self._told_of.enter_async_context(engine().notices.listen(user.pk, self._told))
        await self.accept()
        self._user, self._pace = user, Rate(WORDS, WORD_SECONDS)
        self._proof: Proof | None = None
        self._outbox = Outbox(self._say)
        self._work = asyncio.create_task(self._listen(user))
        await OPEN.enter(user.pk, self)

    async def _refuse(self, code: int) -> None:
        """In a way that tells the page why."""
        await self.accept()
        await self.close(code)

    async def give_way(self) -> None:
        """Too many pages of its person are open; this one has been open for longest."""
        await self._end()
        await self.close(TOO_MANY)

    async def go_elsewhere(self) -> None:
        """This process is about to end."""
        await self._end()
        await self.close(AGAIN)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """How far the page has read: a number, and nothing else."""
        read = number(text_data or "", digits=LONGEST_WORD)
        if self._work is None or read is None or not self._pace.may(""):
            await self._end()
            await self.close(NONSENSE)
            return
        self._outbox.read(read)

    async def disconnect(self, code: int) -> None:
        await self._end()

    async def _end(self) -> None:
        if self._work:
            self._work.cancel()
            OPEN.leave(self._user.pk, self)
        await self._told_of.aclose()

    def _say(self, frame: str) -> None:
        # What was ended hears of it a moment later.
        if self._work and not self._work.cancelling():
            at_once(self.send(text_data=frame))

    async def _until_signed_out(self) -> None:
        await PRESENCE.until_signed_out(self._session, self._user)
        raise SignedOut

    async def _ask_again(self, once: Once) -> None:
        """Of all sockets that are told of a fact, the first one asks, for each session."""
        asking = in_thread(still_proved)
        self._proof = await once.get(
            (self._session, self._user.pk), lambda: asking(self._session, self._user, self._proof)
        )
        if self._proof is None:
            raise SignedOut

    async def _listen(self, user: User) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._until_signed_out())
                group.create_task(self._outbox.run())
                group.create_task(self._keep_hearing(user, engine()))
        except* Stuck:
            await self.close(AGAIN)
        except* (Http404, ObjectDoesNotExist):
            await self.close(NOT_YOURS)
        except* SignedOut:
            await self.close(SIGNED_OUT)
        except* Disconnected:
            pass
        except* Exception as group:
            # The page comes back, and begins with what the rows say.
            log.error("a listening socket broke: %s", ", ".join(type(e).__name__ for e in group.exceptions))
            await self.close(AGAIN)

    async def _keep_hearing(self, user: User, mine: Engine) -> None:
        """A database that is away for a moment closes no socket: this begins anew, as for a page that has come back."""
        if conversation := self._conversation:
            await self._told_of.enter_async_context(mine.notices.listen(conversation, self._told))
        asked = parse_qs(self.scope["query_string"].decode("ascii", "replace"))
        self._outbox.on_page |= {name: asked.get(name, [""])[0] for name in ("leaf", "version")}
        self._outbox.on_page["along"] = "1" if "along" in asked else ""
        is_anew = False
        while True:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._hear(user, mine, group, is_anew=is_anew))
            except* PASSING as lost:
                names = ", ".join(sorted({type(error).__name__ for error in lost.exceptions}))
                log.warning("a listening socket begins anew: %s", names)
            is_anew = True
            await asyncio.sleep(ANEW_SECONDS)

    @property
    def _conversation(self) -> UUID | None:
        conversation: UUID | None = self.scope["url_route"]["kwargs"].get("pk")
        return conversation

    async def _hear(self, user: User, mine: Engine, group: asyncio.TaskGroup, *, is_anew: bool) -> None:
        page = None
        if conversation := self._conversation:
            async with LOOKING():
                page = await self._page(user, conversation, mine, group)
        if is_anew:
            # What was told meanwhile could not be shown.
            self._outbox.add(operations.relist())
        while True:
            await self._tell(user, page, await self._told.get())

    async def _page(
        self, user: User, conversation: UUID, mine: Engine, group: asyncio.TaskGroup
    ) -> ConversationNews:
        shown = dict(self._outbox.on_page)
        leaf, thoughts_open, program = await in_thread(_end_of_branch)(user, conversation, shown["leaf"])
        zone = zone_named(self._cookie(ZONE_COOKIE))
        viewer = Viewer(
            user,
            thoughts_open,
            mine.catalog,
            zone,
            tools=lambda: mine.tools,
            known=mine.keeper.known,
            program=program,
        )
        along = bool(shown["along"])
        page = ConversationNews(conversation, viewer, mine, self._outbox, group, leaf=leaf, along=along)
        await page.catch_up(shown["version"])
        # In the list beside it too: its answer may have come to wait, or to its end, since the page was made.
        row, self._proof = await in_thread(self._with_proof)(user, partial(row_now, conversation))
        if self._proof is None:
            raise SignedOut
        self._outbox.add(*row)
        return page

    def _with_proof(self, user: User, made: Callable[[], R]) -> tuple[R, Proof | None]:
        """In this order: what rows say may be newer than what was asked before."""
        return made(), still_proved(self._session, user, self._proof)

    def _cookie(self, name: str) -> str:
        value: str = self.scope.get("cookies", {}).get(name, "")
        return value

    async def _tell(self, user: User, page: ConversationNews | None, notice: Notice) -> None:
        if notice.what in UNSEEN:
            return
        if notice.what == "missed":
            await self._look_again(user, page, notice)
        elif notice.address == user.pk:
            self._outbox.add(*await self._news_of_person(user, notice, page.conversation if page else None))
        elif page:
            await self._ask_again(notice.once)
            if not is_told_of_theirs(user, notice.written):
                await in_thread(my_conversation)(user, page.conversation)
            await page.hear(notice)

    async def _news_of_person(self, user: User, notice: Notice, opened: UUID | None) -> list[Operation]:
        """Made once for all sockets of a session that show the same. `opened`: the conversation on the page."""
        if notice.what == "reviews":
            return await self._read(user, notice, "reviews", partial(review_news, user))
        here = opened if opened == notice.conversation else None
        moved = notice.what == "turn queued"
        made = partial(list_news, notice.conversation, moved=moved, open=here, written=notice.written)
        if not is_at_hand(notice.written):
            return await self._read(user, notice, here, made)
        news = notice.once.now(here, made)
        await self._ask_again(notice.once)
        return news

    async def _read(
        self, user: User, notice: Notice, what: Hashable, made: Callable[[], list[Operation]]
    ) -> list[Operation]:
        """In a thread, which is visited once for this and for whether they are still signed in."""
        once, reading = notice.once, in_thread(self._with_proof)
        news: list[Operation]
        news, self._proof = await once.get((what, self._session), lambda: reading(user, made))
        once.tell((self._session, user.pk), self._proof)
        if self._proof is None:
            raise SignedOut
        return news

    async def _look_again(self, user: User, page: ConversationNews | None, notice: Notice) -> None:
        await self._ask_again(notice.once)
        if notice.address == user.pk:
            self._outbox.add(operations.relist())
        elif page:
            await in_thread(my_conversation)(user, page.conversation)
            await page.look_again()


def _signed_in(session: str) -> Anybody:
    """In a thread, where a page that will hear of questions can be prepared for, too."""
    draw_ahead()
    return who_is_signed_in(session)


def _end_of_branch(user: User, conversation: UUID, leaf: str) -> tuple[UUID | None, bool, str]:
    """The end of the branch on the page, as the page says, what its viewer chose, and what drives it, where a program does."""
    program = my_conversation(user, conversation).program
    return identity(leaf), load_preference(user).thoughts_open, program


def at_once(sending: Coroutine[Any, Any, None]) -> None:
    """The server under us takes everything without waiting: a task for every word would cost more than the word."""
    with suppress(StopIteration):
        sending.send(None)
        sending.close()
        raise RuntimeError("The server under us waits where it never did.")
