"""Tabs that watch the conversation of a stage: a page made from rows, and what a socket would bring to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from difflib import unified_diff
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string

from chatapp.conversations.news.question import answering
from chatapp.conversations.page.composer import being_written, render_asking, render_send
from chatapp.core.events import Event, ItemDone
from chatapp.core.items import KeyMaker
from chatapp.live.conversation import ConversationNews
from chatapp.live.outbox import Outbox
from chatapp.providers.base import Ask, ProviderError
from chatapp.store import in_thread, load_draft, places
from chatapp.store.models import LIVE, Conversation, Message
from chatapp.thread.page import Viewer, load_thread

from .frames import Frames
from .patience import PATIENCE
from .screen import Element, Screen
from .stage import Stage

# None: the response ends.
Said = Event | ProviderError | None


class Steps:
    """A model that says one event after the other, each when the test says so."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[Said] = asyncio.Queue()
        self._taken = asyncio.Event()

    async def script(self, ask: Ask, keys: KeyMaker) -> AsyncIterator[Event]:
        while event := await self._events.get():
            if isinstance(event, ProviderError):
                self._taken.set()
                raise event
            yield _by(ask, event)
            self._taken.set()
        self._taken.set()

    async def say(self, *events: Said) -> None:
        """Returns when the turn has taken them; None ends the response."""
        for event in events:
            self._taken.clear()
            await self._events.put(event)
            await asyncio.wait_for(self._taken.wait(), PATIENCE)


def _by(ask: Ask, event: Event) -> Event:
    """As the model says it that was asked."""
    if not isinstance(event, ItemDone):
        return event
    spec = ask.model
    maker = {"provider": spec.provider, "dialect": spec.dialect, "model": spec.name, "round": ask.round}
    return ItemDone(replace(event.item, **maker))


class Tab:
    """One page that is open. `looks` are done to its screen after every frame, or what their `after` says; those that care are
    told of each connection by their `joins`."""

    def __init__(self, on: Stage, *looks: Callable[[Screen], None], **outbox: Any) -> None:
        self.on, self.looks, self.outbox_limits = on, looks, outbox
        self.viewer = Viewer(
            on.conversation.owner,
            False,
            on.engine.catalog,
            tools=lambda: on.engine.tools,
            known=on.engine.keeper.known,
        )
        self.screen = Screen("")
        self.received = 0
        self._work: asyncio.Task[None] | None = None
        self._more = asyncio.Event()

    async def open(self) -> Tab:
        """Loads the page anew and listens; returns when it hears."""
        self.drop()
        self.screen = Screen(await page_html(self.on, self.viewer))
        before = self.received
        self.join()
        await self.sees(lambda _: self.received > before)
        return self

    def join(self) -> None:
        """The socket opens: the page says what it shows."""
        self.drop()
        for look in self.looks:
            getattr(look, "joins", lambda: None)()
        self._work = asyncio.create_task(self._listen())
        self._work.add_done_callback(lambda _: self._more.set())

    def drop(self) -> None:
        """The line breaks; the page stays."""
        if self._work:
            self._work.cancel()
        self._work = None

    async def _listen(self) -> None:
        mine = asyncio.current_task()

        def take(frame: str) -> None:
            if self._work is mine:
                self._take(frames.read(frame), frame)
                outbox.read(frames.count)

        frames = Frames()
        outbox = Outbox(take, **self.outbox_limits)
        shown = self.screen.thread.attributes
        leaf = UUID(shown["data-leaf"]) if shown.get("data-leaf") else None
        on, conversation = self.on.engine, self.on.conversation.id
        async with asyncio.TaskGroup() as group, on.notices.listen(conversation) as told:
            group.create_task(outbox.run())
            along = "data-along" in shown
            news = ConversationNews(conversation, self.viewer, on, outbox, group, leaf=leaf, along=along)
            await news.catch_up(shown.get("data-version", ""))
            while True:
                await news.hear(await told.get())

    def _take(self, operations: list[list[Any]], frame: str) -> None:
        self.screen.do(operations, lambda: self._look(after="operation"))
        self.received += len(frame.encode())
        self._look(after="frame")
        self._more.set()

    def _look(self, *, after: str) -> None:
        for look in self.looks:
            if getattr(look, "after", "frame") == after:
                look(self.screen)

    async def sees(self, look: Callable[[Screen], Any]) -> None:
        """Returns when this is true of what is on screen."""
        async with asyncio.timeout(PATIENCE):
            while not look(self.screen):
                if self._work and self._work.done():
                    self._work.result()
                self._more.clear()
                await self._more.wait()

    async def sees_the_end(self) -> None:
        """Of the answer at the end of its branch, with everything that follows from it."""
        row = await in_thread(_leaf)(self.on)
        end = {"data-leaf": str(row.pk), "data-version": f"{row.attempt}.{row.next_seq}.{row.status}"}
        await self.sees(lambda screen: end.items() <= screen.thread.attributes.items())
        await self.sees(lambda screen: "data-answering" not in screen.thread.attributes)

    async def looks_as_if_just_loaded(self) -> None:
        fresh = Screen(await page_html(self.on, self.viewer))
        assert [each.id for each in self.screen.articles] == [each.id for each in fresh.articles]
        for mine, theirs in zip(self.screen.articles, fresh.articles, strict=True):
            different = [
                *unified_diff([*mine.lines()], [*theirs.lines()], "streamed", "loaded", n=1, lineterm="")
            ]
            assert not different, "\n".join(different)
        for name in ("data-leaf", "data-version", "data-answering"):
            assert self.screen.thread.attributes.get(name) == fresh.thread.attributes.get(name)
        assert [*self.screen.one("send").lines()] == [*fresh.one("send").lines()]
        assert parent(self.screen) == parent(fresh)


def parent(screen: Screen) -> str:
    """What the next question follows."""
    (field,) = [each for each in screen.one("asking").elements if each.attributes["name"] == "parent"]
    return field.attributes["value"]


def bodies(screen: Screen, *kinds: str) -> list[Element]:
    """What holds the blocks of each item of these kinds."""
    items = [each for each in screen.root.all("data-item-key") if each.attributes["data-kind"] in kinds]
    return [item if "data-body" in item.attributes else item.all("data-body")[0] for item in items]


async def page_html(on: Stage, viewer: Viewer) -> str:
    row = await in_thread(_leaf)(on)
    seen = None
    if row and row.status in LIVE:
        seen = await on.engine.live.seen(row.pk) or await in_thread(load_draft)(row.pk)
    return await in_thread(_page)(on.conversation.id, row and row.pk, viewer, seen)


def _leaf(on: Stage) -> Message:
    conversation = Conversation.objects.get(pk=on.conversation.id)
    return Message.objects.filter(pk=places.load_head(conversation.owner, conversation)).first()


def _page(conversation: UUID, leaf: UUID | None, viewer: Viewer, seen: Any) -> str:
    thread = load_thread(Conversation.objects.get(pk=conversation), leaf, viewer, seen=seen)
    end, marks = thread.leaf, ""
    if end:
        marks = f' data-leaf="{end.row.pk}" data-version="{end.version}"'
    if end and end.row.status in LIVE:
        marks += f' data-answering="{answering(end.row)}"'
    shown = render_to_string("thread/_messages.html", {"thread": thread})
    return (
        f'<div id="thread"{marks}><div id="messages" data-body>{shown}</div></div>'
        + render_asking(leaf or "")
        + render_send(being_written(end.row if end else None))
    )
