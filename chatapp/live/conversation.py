"""What one page of a conversation hears: new questions below the branch it shows, the answer that is being written,
other branches beside it, and that something went away."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from ..conversations.news.question import (
    NewQuestion,
    end_of_branch,
    is_at_hand,
    load_question,
    question_as_written,
)
from ..conversations.page.run import render_run
from ..next_questions.news import next_now, nothing_next
from ..next_questions.store import waits_in
from ..pages import operations
from ..pages.operations import Operation
from ..store import Questions, count_questions, in_thread, load_branch, places
from ..store.changes import Begun, Ended, Written
from ..store.database.worded import Worded
from ..store.models import LIVE, Conversation, Message, Role, Status
from ..thread.message import ShownMessage, version_of
from ..thread.meter import is_to_be_counted
from ..thread.outline import render_line
from ..thread.page import End, Viewer, load_end, load_message, load_messages, load_version
from ..turns.engine import Engine
from ..turns.notices import Notice, Once
from ..turns.watching import AT_WORK
from .answer import AnswerNews
from .branch_on_page import below_what_stands, parting, turned_to
from .outbox import Outbox

R = TypeVar("R")
STALE = "This part of the conversation was deleted. Reload the page to see what is left."
# So long the end of an answer may take to be told before what follows it is.
END_SECONDS = 5.0
# More siblings than these are numbered anew at the next reload.
MOST_SIBLINGS = 20


_HERE = Worded(
    lambda pk, person: Conversation.objects.filter(pk=pk).annotate(has_next=waits_in(person)), UUID, int
)


@dataclass(frozen=True, slots=True)
class Missed:
    """What a page did not hear: what was asked `below` its end, and how its end stands now, which may be another one. It `is_stale` where
    its own end was deleted."""

    title: str
    below: Sequence[Operation] = ()
    end: End | None = None
    is_stale: bool = False


class ConversationNews:
    """`leaf` is the end of the branch on the page, `version` how far its last message was when the page was made. `along`: whether the
    page showed where a program was last, when it last heard of it."""

    def __init__(
        self,
        conversation: UUID,
        viewer: Viewer,
        engine: Engine,
        outbox: Outbox,
        tasks: asyncio.TaskGroup,
        *,
        leaf: UUID | None,
        along: bool = False,
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
        self._goes_along = along

    async def catch_up(self, version: str) -> None:
        """What happened between the making of the page and now."""
        before = self.leaf
        missed = await in_thread(self._missed)()
        self.outbox.add(operations.state("title", missed.title))
        self._say_whether_stale(missed.is_stale)
        if missed.is_stale:
            return
        if missed.below and before:
            await self._bring_up_to_date(before, version)
        waits = await in_thread(self._next)() if self._has_next else []
        self.outbox.add(*missed.below, *(waits or nothing_next()))
        if self.leaf is None or missed.end is None or await self._turned_to_its_program():
            return
        is_news = missed.below or missed.end.version != version or missed.end.status in AT_WORK
        if missed.end.role == Role.ASSISTANT and is_news:
            self._follow(self.leaf)
        elif missed.end.status == Status.WAITING:
            await self._say_what_waits(self.leaf)

    async def _say_what_waits(self, answer: UUID) -> None:
        shown = await in_thread(load_message)(answer, self.viewer)
        if shown.asks or shown.handed:
            self._told = answer, shown.version
            self.outbox.add(operations.say(shown.in_a_word))

    async def _turned_to_its_program(self) -> bool:
        """Where that went on elsewhere while nobody listened."""
        if not self.viewer.program:
            return False
        newest = await in_thread(self._newest_answer)()
        if newest and newest != self.leaf:
            await self._hear_of_branch(newest)
            return self._goes_along
        self._go_along()
        return False

    def _go_along(self) -> None:
        """The page shows where its program is."""
        self._goes_along = bool(self.viewer.program)
        self.outbox.add(*[operations.state("along", "1")] if self._goes_along else [])

    async def look_again(self) -> None:
        """Nobody knows what went past; what is being followed looks for itself."""
        if self._following and not self._following.done():
            self._read_again, self._heard = True, None
            await self._turned_to_its_program()
            return
        told = self._told
        await self.catch_up(told[1] if told and told[0] == self.leaf else "")

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
            case "next question" | "missed":
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
        self._go_along()
        self.outbox.add(*await in_thread(self._next)() if self._has_next else [])
        self._follow(answer, new)

    async def _hear_of_branch(self, answer: UUID) -> None:
        """Beside the branch on the page. A program's next way is gone along with, where the page shows its last one."""
        if self.viewer.program and self._goes_along:
            await self._until_told_of_the_end()
            self._stop_following()
            self.outbox.add(*await in_thread(turned_to)(self.conversation, self.leaf, answer, self.viewer))
            self.leaf = answer
            self._follow(answer)
        elif self.viewer.program:
            self.outbox.add(*await in_thread(parting)(self.conversation, self.leaf, answer, self.viewer))
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
        self._say_whether_stale(await in_thread(self._end)() is None and self.leaf is not None)

    def _say_whether_stale(self, is_stale: bool) -> None:
        was, self._stale = self._stale, is_stale
        if self._stale and not was:
            self.outbox.add(operations.say(STALE), operations.state("stale", STALE))
        elif was and not self._stale:
            self.outbox.add(operations.state("stale", ""))

    def _end(self) -> End | None:
        return load_end(self.leaf, self.conversation, self.viewer) if self.leaf else None

    def _renumbered(self, message: UUID) -> list[Operation]:
        row = Message.objects.filter(pk=message).first()
        if row is None:
            return []
        beside = Message.objects.filter(
            conversation=self.conversation, parent=row.parent_id, deletion=None
        ).values_list("pk", flat=True)[:MOST_SIBLINGS]
        return [operations.shell(message.shell()) for message in load_messages(list(beside), self.viewer)]

    def _newest_answer(self) -> UUID | None:
        there = Message.objects.filter(conversation=self.conversation, deletion=None)
        answers = there.filter(role=Role.ASSISTANT).order_by("-order")
        return answers.values_list("pk", flat=True).first()

    def _missed(self) -> Missed:
        """The last answer that was asked for below the branch on the page becomes its end. All of it is read in one visit to a thread."""
        row = _HERE.first(self.conversation, self.viewer.user.pk)
        if row is None:
            raise Conversation.DoesNotExist(f"There is no conversation {self.conversation}.")
        end = self._end()
        if self.leaf and end is None:
            return Missed(row.title, is_stale=True)
        self._has_next, before = bool(row.has_next), self.leaf
        below = self._asked_below(row)
        return Missed(row.title, below, end if self.leaf == before else self._end())

    def _asked_below(self, row: Conversation) -> list[Operation]:
        head = places.load_head(self.viewer.user, row)
        if head is None or head == self.leaf:
            return []
        path = [message.pk for message in load_branch(head).messages]
        if self.leaf and self.leaf not in path:
            return []
        there = path.index(self.leaf) + 1 if self.leaf else 0
        self.leaf = head
        return below_what_stands(path, there, self.viewer)

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
        self._read_again = False
        self._say_where(answer)
        self._following = self._tasks.create_task(self._followed(answer, new))

    def _say_where(self, answer: UUID) -> None:
        """Until it has ended, the page has no version of it: one that comes back meanwhile is told everything."""
        self.outbox.add(operations.state("leaf", str(answer)), operations.state("version", ""))

    async def _followed(self, answer: UUID, new: NewQuestion | None) -> None:
        await self._follow_once(answer, new)
        while await self._was_told_more(answer):
            self._say_where(answer)
            await self._follow_once(answer, None)

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
