"""What one page of a conversation hears: new questions below the branch it shows, the answer that is being written,
other branches beside it, and that something went away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import takewhile, zip_longest
from typing import Any, TypeVar
from uuid import UUID

from ..conversations.news.question import (
    NewQuestion,
    end_of_branch,
    is_at_hand,
    load_question,
    question_as_written,
    render_whole,
)
from ..conversations.page.run import render_run
from ..next_questions.news import next_now, nothing_next
from ..next_questions.store import waits_in
from ..pages import operations
from ..pages.elements import message_id
from ..pages.operations import Operation
from ..store import Questions, count_questions, in_thread, load_branch, places
from ..store.changes import Begun, Ended, Written
from ..store.models import LIVE, Conversation, Message, Role
from ..thread.message import ShownMessage, version_of
from ..thread.meter import is_to_be_counted
from ..thread.outline import render_line, render_questions
from ..thread.page import Viewer, load_message, load_messages, load_version
from ..turns.engine import Engine
from ..turns.notices import Notice, Once
from ..turns.watching import AT_WORK
from .answer import AnswerNews
from .outbox import Outbox

R = TypeVar("R")
STALE = "This part of the conversation was deleted. Reload the page to see what is left."
# So long the end of an answer may take to be told before what follows it is.
END_SECONDS = 5.0
# More siblings than these are numbered anew at the next reload.
MOST_SIBLINGS = 20


class ConversationNews:
    """`leaf` is the end of the branch on the page, `version` how far its last message was when the page was made."""

    def __init__(
        self,
        conversation: UUID,
        viewer: Viewer,
        engine: Engine,
        outbox: Outbox,
        tasks: asyncio.TaskGroup,
        *,
        leaf: UUID | None,
    ) -> None:
        self.conversation, self.viewer, self.engine, self.outbox = conversation, viewer, engine, outbox
        self.leaf, self._tasks = leaf, tasks
        self._stale = False
        self._told: tuple[UUID, str] | None = None
        self._following: asyncio.Task[None] | None = None
        self._news: AnswerNews | None = None
        # How many questions there are, where nobody came or went since they were counted.
        self._questions: Questions | None = None
        # Something was told of the answer while its rows were being read: that it was written.
        self._read_again = False
        self._heard: Written | None = None
        # Whether anything of the viewer's may wait here to be asked.
        self._has_next = False
        # Whether the page shows where a program was last: then it goes along, wherever the program goes on.
        self._goes_along = False

    async def catch_up(self, version: str) -> None:
        """What happened between the making of the page and now."""
        self.outbox.add(operations.state("title", await in_thread(_title_now)(self.conversation)))
        await self._look_whether_stale()
        if self._stale:
            return
        before = self.leaf
        made = await in_thread(self._missed)()
        self._goes_along = bool(self.viewer.program) and await in_thread(self._is_newest)()
        if made and before:
            await self._bring_up_to_date(before, version)
        self.outbox.add(*made, *(await in_thread(self._next)() or nothing_next()))
        if self.leaf is None:
            return
        shown = await in_thread(load_message)(self.leaf, self.viewer)
        at_work = shown.row.status in AT_WORK
        if shown.row.role == Role.ASSISTANT and (made or shown.version != version or at_work):
            self._follow(self.leaf)
        elif shown.asks or shown.handed:
            self._told = self.leaf, shown.version
            self.outbox.add(operations.say(shown.in_a_word))

    async def _bring_up_to_date(self, answer: UUID, version: str) -> None:
        """It was the end of the page, and ended while nobody listened."""
        if await in_thread(load_version)(answer, self.viewer) == version:
            return
        news = AnswerNews(answer, self.viewer, self.engine, self.outbox)
        try:
            await news.run()
        finally:
            news.close()

    async def hear(self, notice: Notice) -> None:
        if notice.what == "titled":
            title = await in_thread(_title_now)(self.conversation)
            self.outbox.add(operations.state("title", title))
        if notice.what == "next question":
            self._has_next = True
            self.outbox.add(*await in_thread(self._next)())
        if (message := notice.message) is None:
            return
        match notice.what:
            case "turn queued" if message == self.leaf:
                self.outbox.add(operations.state("answering", "1"), *await in_thread(self._lead_on)(message))
                self.outbox.add(*await in_thread(self._next)() if self._has_next else [])
                self._follow(message)
            case "turn queued":
                await self._hear_of_answer(message, notice)
            case "turn ended" | "turn waits":
                if await self._missed_the_end_of(message, notice.written):
                    self._follow(message)
            case "deleted" | "restored":
                await self._hear_of_deletion(message)
            case "titled" | "turn began" | "head moved" | "listed" | "share closed" | "reviews" | "roles":
                pass
            case "next question":
                pass

    async def _hear_of_answer(self, answer: UUID, notice: Notice) -> None:
        begun = self._begun(notice.written)
        # Of one that was stopped, what is kept of it is read.
        at_hand = begun is not None and is_at_hand(begun) and not self.engine.keeper.is_stopped(answer)
        new = await worked_out(self._below, answer, begun, at_hand=at_hand)
        if new is None:
            await self._hear_of_branch(answer)
            return
        self._questions = await self._count(answer, notice.once)
        await self._until_told_of_the_end()
        news = await worked_out(new.news, self.viewer.catalog, self._questions, at_hand=at_hand)
        self.outbox.add(*news)
        self.leaf = answer
        self.outbox.add(*await in_thread(self._next)() if self._has_next else [])
        self._follow(answer, new)

    async def _hear_of_branch(self, answer: UUID) -> None:
        """Beside the branch on the page. A program's next way is gone along with, where the page shows its last one."""
        if self.viewer.program and self._goes_along:
            await self._until_told_of_the_end()
            self._stop_following()
            self.outbox.add(*await in_thread(self._turned_to)(answer))
            self._follow(answer)
        else:
            self.outbox.add(*await in_thread(self._beside)(answer))
        self._forget_family()

    async def _count(self, leaf: UUID, once: Once) -> Questions:
        """With the one that was just asked."""
        if self._questions:
            return self._questions.one_more()
        counting = in_thread(count_questions)
        counted: Questions = await once.get(("questions", leaf), lambda: counting(self.conversation, leaf))
        return counted

    def _forget_family(self) -> None:
        """Something came or went beside the branch on the page."""
        self._questions = None
        if self._news:
            self._news.forget_family()

    def _begun(self, written: Written | None) -> Begun | None:
        """What was written, where it follows what is on the page."""
        is_next = isinstance(written, Begun) and written.question.parent_id == self.leaf
        return written if isinstance(written, Begun) and is_next else None

    def _below(self, answer: UUID, begun: Begun | None) -> NewQuestion | None:
        """The question, where it is below the branch on the page."""
        if begun:
            return question_as_written(begun, self.viewer)
        row = Message.objects.select_related("parent").filter(pk=answer, deletion=None).first()
        if row is None or row.parent is None or self.leaf not in (row.parent_id, row.parent.parent_id):
            return None
        return load_question(row.parent.pk, answer, self.viewer)

    def _beside(self, answer: UUID) -> list[Operation]:
        """What has a new sibling: the other answers, or the other questions where this is the first answer to one."""
        row = Message.objects.select_related("parent").filter(pk=answer, deletion=None).first()
        if row is None or row.parent is None:
            return []
        answers = places.load_siblings(self.conversation, [row])[row.pk]
        beside = (
            answers
            if len(answers) > 1
            else places.load_siblings(self.conversation, [row.parent])[row.parent.pk]
        )
        others = [pk for pk in beside if pk not in (row.pk, row.parent_id)]
        return [
            operations.shell(each.shell()) for each in load_messages(others[-MOST_SIBLINGS:], self.viewer)
        ]

    async def _hear_of_deletion(self, message: UUID) -> None:
        await self._look_whether_stale()
        self._forget_family()
        if self._stale:
            self._stop_following()
        else:
            self.outbox.add(*await in_thread(self._renumbered)(message))

    async def _look_whether_stale(self) -> None:
        was, self._stale = self._stale, await in_thread(self._has_lost_its_end)()
        if self._stale and not was:
            self.outbox.add(operations.say(STALE), operations.state("stale", STALE))
        elif was and not self._stale:
            self.outbox.add(operations.state("stale", ""))

    def _has_lost_its_end(self) -> bool:
        if self.leaf is None:
            return False
        there = Message.objects.filter(pk=self.leaf, conversation=self.conversation, deletion=None)
        return not there.exists()

    def _renumbered(self, message: UUID) -> list[Operation]:
        row = Message.objects.filter(pk=message).first()
        if row is None:
            return []
        beside = Message.objects.filter(
            conversation=self.conversation, parent=row.parent_id, deletion=None
        ).values_list("pk", flat=True)[:MOST_SIBLINGS]
        return [operations.shell(message.shell()) for message in load_messages(list(beside), self.viewer)]

    def _is_newest(self) -> bool:
        rows = Message.objects.filter(conversation=self.conversation, deletion=None).order_by("-order")
        return self.leaf is None or rows.values_list("pk", flat=True).first() == self.leaf

    def _missed(self) -> list[Operation]:
        """Questions that were asked below the branch on the page; the last answer becomes its end."""
        rows = Conversation.objects.annotate(has_next=waits_in(self.viewer.user))
        row = rows.get(pk=self.conversation)
        self._has_next = vars(row)["has_next"]
        head = places.load_head(self.viewer.user, row)
        if head is None or head == self.leaf:
            return []
        path = [message.pk for message in load_branch(head).messages]
        if self.leaf and self.leaf not in path:
            return []
        there = path.index(self.leaf) + 1 if self.leaf else 0
        self.leaf = head
        return self._below_what_stands(path, there)

    def _below_what_stands(self, path: Sequence[UUID], there: int) -> list[Operation]:
        """Of the branch that now is on the page so many messages stood there already; the last of them may have lost its Continue."""
        shown = load_messages(path[max(0, there - 1) :], self.viewer)
        made = [operations.shell(above.shell()) for above in shown[: min(there, 1)]]
        made += [operations.add("messages", render_whole(message)) for message in shown[min(there, 1) :]]
        return made + end_of_branch(shown[-1].row, self.viewer.catalog, self.viewer.program)

    def _turned_to(self, answer: UUID) -> list[Operation]:
        """The branch of this answer in place of the one on the page, from where they part."""
        tree = places.load_tree(self.conversation)
        before = tree.path_to(self.leaf) if self.leaf in tree.parents else ()
        path = tree.path_to(answer)
        there = sum(takewhile(bool, (one == other for one, other in zip(before, path, strict=False))))
        stays = ["earlier", *map(message_id, path[:there])]
        self.leaf = answer
        made = [operations.keep("messages", stays), *self._below_what_stands(path, there)]
        return made + self._outlined(path, there)

    def _outlined(self, path: Sequence[UUID], there: int) -> list[Operation]:
        """The branch at a glance, and how many questions it has."""
        stays = [f"o-{pk}" for pk in path[:there]]
        shown = load_messages(path[there:], self.viewer)
        pairs = zip_longest(shown, shown[1:])
        lines = [render_line(one, below) for one, below in pairs if one.is_question]
        counted = render_questions(count_questions(self.conversation, path[-1]))
        made = [operations.keep("outline", stays), *(operations.add("outline", line) for line in lines)]
        return [*made, operations.put(counted)]

    def _lead_on(self, answer: UUID) -> list[Operation]:
        """Its program went on with it: what its owner can do now."""
        if not self.viewer.program:
            return []
        return end_of_branch(Message.objects.get(pk=answer), self.viewer.catalog, self.viewer.program)

    def _next(self, status: str = "") -> list[Operation]:
        """What waits for the end of the page, which has this status."""
        return next_now(self.viewer.user, self.leaf, status) if self._has_next and self.leaf else []

    async def _missed_the_end_of(self, answer: UUID, written: Written | None) -> bool:
        """Whoever follows hears of the end twice: by the turn's own events, and by this."""
        if answer != self.leaf:
            return False
        if self._following and not self._following.done():
            self._read_again, self._heard = True, written
            return False
        return await self._is_news(answer, written)

    async def _is_news(self, answer: UUID, written: Written | None) -> bool:
        """Whether the page has been told less than what was written, or else than what the rows say."""
        if isinstance(written, Ended):
            return (answer, version_of(written.answer)) != self._told
        return (answer, await in_thread(load_version)(answer, self.viewer)) != self._told

    def _follow(self, answer: UUID, new: NewQuestion | None = None) -> None:
        self._stop_following()
        self._following = self._tasks.create_task(self._followed(answer, new))

    async def _followed(self, answer: UUID, new: NewQuestion | None) -> None:
        more = True
        while more:
            self._read_again = False
            await self._follow_once(answer, new)
            more, new = await self._was_told_more(answer), None

    async def _was_told_more(self, answer: UUID) -> bool:
        """Since its rows were read. What is told while this looks is looked at too."""
        while self._read_again:
            self._read_again = False
            if await self._is_news(answer, self._heard):
                return True
        return False

    async def _follow_once(self, answer: UUID, new: NewQuestion | None) -> None:
        """`new`: what the page was just told."""
        on_page = new.answered if new else None
        news = self._news = AnswerNews(answer, self.viewer, self.engine, self.outbox, shown=on_page)
        # Until it has ended, the page has no version of it: one that comes back meanwhile is told everything.
        self.outbox.add(operations.state("leaf", str(answer)), operations.state("version", ""))
        try:
            shown = await news.run()
        finally:
            news.close()
            self._news = None
        asked = new.asked if new else None
        counted = is_to_be_counted(shown.row, self.viewer.catalog)
        at_hand = asked is not None and not counted and not self._has_next and not self.viewer.program
        self.outbox.add(*await worked_out(self._ended, shown, asked, at_hand=at_hand))
        self._told = answer, shown.version
        self.outbox.add(operations.state("version", shown.version))
        if shown.row.status not in LIVE or shown.asks or shown.handed:
            self.outbox.add(operations.say(shown.in_a_word))

    def _ended(self, answer: ShownMessage, asked: ShownMessage | None) -> list[Operation]:
        if asked is None and answer.row.parent_id:
            asked = load_message(answer.row.parent_id, self.viewer)
        line = [operations.put(render_line(asked, answer))] if asked else []
        end = end_of_branch(answer.row, self.viewer.catalog, self.viewer.program)
        return line + end + self._run() + self._next(answer.row.status)

    def _run(self) -> list[Operation]:
        """The line above a program's run."""
        if not self.viewer.program:
            return []
        row = Conversation.objects.defer("tools", "instructions").get(pk=self.conversation)
        return [operations.put(render_run(row, self.viewer.zone))]

    async def _until_told_of_the_end(self) -> None:
        """What was asked by itself comes at once behind the answer before it, of which the page is still being told."""
        if self._following:
            await asyncio.wait({self._following}, timeout=END_SECONDS)

    def _stop_following(self) -> None:
        if self._following:
            self._following.cancel()


async def worked_out(work: Callable[..., R], *args: Any, at_hand: bool) -> R:
    """Here and now where everything for it is at hand: that takes less time than to reach a thread."""
    return work(*args) if at_hand else await in_thread(work)(*args)


def _title_now(conversation: UUID) -> str:
    return Conversation.objects.values_list("title", flat=True).get(pk=conversation)
