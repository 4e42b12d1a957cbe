"""Tells a story through the engine: somebody asks, reads, edits, stops, decides, shares and forks, on a day that is past."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone

from chatapp.core.permission import Decision
from chatapp.management.pace import Pace
from chatapp.management.seeded import first_answer, head_of, key_of, step_of, token_of
from chatapp.models import Look, Message, Note, Scope, Share, Submission, Verdict
from chatapp.providers.catalog import Catalog
from chatapp.providers.demo import MODEL, NAME, QUICK, DemoProvider
from chatapp.store import (
    Started,
    asks_of,
    in_thread,
    load_conversation,
    load_items,
    reviewing,
    sharing,
    submitting,
    titles,
)
from chatapp.store.backdating import move_back
from chatapp.store.forking import Extent, fork
from chatapp.store.listing import archive, pin
from chatapp.store.looking import append_looks
from chatapp.store.places import go_to
from chatapp.tools import TOOLS
from chatapp.tools.clock import in_zone
from chatapp.turns.engine import Engine

THINKER, TALKER = f"{NAME}:{MODEL}", f"{NAME}:{QUICK}"
READING_SECONDS = 35.0
Tell = Callable[["Teller"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Story:
    """`ago`: how long ago it began. Its name is the same in every run, and so are the keys of its forms."""

    name: str
    owner: str
    ago: timedelta
    tell: Tell


class Stage:
    """The engine, with the demo alone and a clock that is moved, and the people who ask."""

    def __init__(self, folder: Path, people: Mapping[str, Any]) -> None:
        self.people, self.pace = people, Pace()
        self.today = timezone.now()
        clock = replace(TOOLS["clock"], call=self._tell_time)
        self.engine = Engine(
            Catalog((), demo=DemoProvider(sleep=self.pace.sleep)),
            folder=folder,
            tools={**TOOLS, clock.name: clock},
            now=self.pace.now,
        )

    async def play(self, story: Story) -> None:
        self.pace.begin(story.name)
        teller = Teller(self, story)
        try:
            await story.tell(teller)
        finally:
            await teller.close()

    async def _tell_time(self, arguments: dict[str, Any], report: Any) -> str:
        """The clock as it stood on the day of the story."""
        return in_zone(self.today.astimezone(UTC), arguments.get("zone", "UTC"))


class Teller:
    """`conversation` and `last` are where the story stands."""

    def __init__(self, stage: Stage, story: Story) -> None:
        self._stage, self._story, self._steps = stage, story, 0
        self._began, self._start = timezone.now() - story.ago, stage.pace.now()
        self._asked: dict[UUID, datetime] = {}
        self.owner = stage.people[story.owner]
        self.conversation: UUID | None = None
        self.last: Started | None = None

    @property
    def moment(self) -> datetime:
        return self._began + timedelta(seconds=self._stage.pace.now() - self._start)

    async def ask(
        self,
        words: str,
        *,
        below: Started | None = None,
        words_heard: int | None = None,
        model: str = THINKER,
        **how: Any,
    ) -> Started:
        """Below the last answer, or another. `words_heard`: so many, then somebody stops it."""
        above = below or self.last
        parent = above.answer if above else None
        return await self._asked_for(
            partial(self._stage.engine.ask, self.conversation, words, parent=parent, model=model, **how),
            words_heard,
        )

    async def edit(self, earlier: Started, words: str, *, model: str = THINKER, **how: Any) -> Started:
        """Another question beside an earlier one."""
        parent = (await self._row(earlier.question)).parent_id
        engine = self._stage.engine
        asking = partial(engine.ask, self.conversation, words, parent=parent, model=model, **how)
        return await self._asked_for(asking, None)

    async def again(
        self, earlier: Started, *, words_heard: int | None = None, model: str = THINKER, **how: Any
    ) -> Started:
        """Another answer beside an earlier one."""
        asking = partial(self._stage.engine.ask_again, earlier.question, model=model, **how)
        return await self._asked_for(asking, words_heard)

    async def go_on(self, stopped: Started) -> None:
        await self._stage.engine.go_on(stopped.answer)
        await self._stage.engine.runner.wait(stopped.answer)

    async def decide(self, asked: Started, decision: Decision) -> None:
        """The same word for every call that waits."""
        engine, row = self._stage.engine, await self._row(asked.answer)
        calls = [item for item in await in_thread(load_items)(row.pk) if item.key in asks_of(row)]
        answers = {call.key: (decision, engine.shown_hash(call)) for call in calls}
        await engine.decide(row.pk, answers, by=self.owner)
        await engine.runner.wait(row.pk)

    async def share(self, shown: Started, *, opened: int = 0, **how: Any) -> Share:
        link = await in_thread(sharing.share)(await self._row(shown.answer), by=self.owner, **how)
        for _ in range(opened):
            await in_thread(sharing.open_share)(link.token, counts=True)
        return link

    async def revoke(self, link: Share) -> None:
        await in_thread(sharing.revoke)(link.token, by=self.owner)

    async def fork_shared(self, name: str, *, with_thoughts: bool = True) -> None:
        """What the link opens that was made in the story of that name, to go on with it."""
        token = await in_thread(token_of)(name, with_thoughts)
        made = await in_thread(sharing.fork_shared)(token, by=self.owner, submission=key_of(self._story.name))
        await self._stand_in(made.conversation.pk)

    async def fork(self, name: str, extent: Extent) -> None:
        """One's own conversation, of the story of that name."""
        source = await in_thread(first_answer)(name)
        made = await in_thread(fork)(
            source, by=self.owner, extent=extent, submission=key_of(self._story.name)
        )
        await self._stand_in(made.conversation.pk)

    async def looked_at_by(self, name: str, what: Look.What = Look.What.TRANSCRIPT) -> None:
        """An administrator was here."""
        who = self._stage.people[name]
        await in_thread(append_looks)(who, [self._here], what, address="127.0.0.1")

    async def submit(self, shown: Started, question: str, scope: Scope = Scope.BRANCH) -> Submission:
        leaf = await self._row(shown.answer)
        return await in_thread(submitting.submit)(leaf, by=self.owner, scope=scope, question=question)

    async def claim(self, submission: Submission, name: str) -> None:
        await in_thread(reviewing.claim)(submission, by=self._stage.people[name])

    async def note(self, submission: Submission, name: str, on: Started, words: str) -> Note:
        by = self._stage.people[name]
        return await in_thread(reviewing.append_note)(submission, by=by, text=words, message=on.answer)

    async def answer_note(self, submission: Submission, note: Note, words: str) -> None:
        await in_thread(reviewing.append_answer)(submission, by=self.owner, text=words, to=note)

    async def judge(self, submission: Submission, name: str, verdict: Verdict, reason: str = "") -> None:
        by = self._stage.people[name]
        await in_thread(reviewing.give_verdict)(submission, by=by, verdict=verdict, reason=reason)

    async def wished_by(self, name: str, words: str) -> None:
        """An administrator would like it to be reviewed."""
        row = await in_thread(load_conversation)(self._here)
        await in_thread(submitting.ask_to_submit)(row, by=self._stage.people[name], words=words)

    async def title(self, words: str) -> None:
        await in_thread(titles.retitle)(self._here, words)

    async def pin(self) -> None:
        await in_thread(pin)(self._here, pinned=True)

    async def archive(self) -> None:
        await in_thread(archive)(self._here, archived=True)

    async def return_to(self, earlier: Started) -> None:
        """The branch that is on screen in the end."""
        await in_thread(go_to)(self.owner, await self._row(earlier.answer))

    async def close(self) -> None:
        """All of it happened when the story says, also where it was broken off."""
        if self.conversation is not None:
            moving = in_thread(move_back)
            await moving(self.conversation, began=self._began, asked=self._asked, now=timezone.now())

    async def _asked_for(self, asking: Callable[..., Awaitable[Started]], words_heard: int | None) -> Started:
        pace, engine = self._stage.pace, self._stage.engine
        self._stage.today = at = self.moment
        if words_heard is not None:
            pace.fall_silent_after(words_heard)
        started = await asking(author=self.owner, submission=step_of(self._story.name, self._steps))
        self._steps += 1
        if words_heard is not None:
            await pace.silent.wait()
            await engine.stop(started.answer, by=str(self.owner.pk))
        await engine.runner.wait(started.answer)
        pace.let_pass(READING_SECONDS)
        self.conversation, self.last = started.conversation, started
        self._asked |= {started.answer: at} | (
            {} if started.question in self._asked else {started.question: at}
        )
        return started

    async def _stand_in(self, conversation: UUID) -> None:
        head = await in_thread(head_of)(conversation)
        self.conversation = conversation
        self.last = Started(conversation, head.parent_id or head.pk, head.pk)

    @property
    def _here(self) -> UUID:
        if self.conversation is None:
            raise LookupError("Nobody has asked anything yet.")
        return self.conversation

    async def _row(self, message: UUID) -> Message:
        return await in_thread(Message.objects.get)(pk=message)
