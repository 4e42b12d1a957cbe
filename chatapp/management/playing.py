"""Plays a story through the engine: somebody asks, reads, edits, stops, decides, shares and forks, on a day that is past."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone

from chatapp.branches.store.forking import Extent, fork
from chatapp.conversations import store as listing
from chatapp.core.decision import Decision
from chatapp.core.model_name import ModelName
from chatapp.management.backdating import move_back
from chatapp.management.pace import Pace
from chatapp.management.world import STORIES, Step, Story
from chatapp.oversight.models import Look
from chatapp.oversight.store import looks as looking
from chatapp.providers.configured import Catalog
from chatapp.providers.demo import MODEL, NAME, DemoProvider
from chatapp.reviews.models import Note, Scope, Submission, Verdict
from chatapp.reviews.store import reviewing, submitting
from chatapp.sharing import store as sharing
from chatapp.store import Started, asks_of, in_thread, load_conversation, load_items, places, titles
from chatapp.store.models import Message
from chatapp.tools import TOOLS
from chatapp.tools.clock import in_zone
from chatapp.turns.engine import Engine

# How long somebody reads an answer, and how long everything else takes.
READING, ELSE = 35.0, 180.0


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
        player = Player(self, story)
        for step in story.steps:
            await player.take(step)

    async def _tell_time(self, arguments: dict[str, Any], report: Any) -> str:
        """The clock as it stood on the day of the story."""
        return in_zone(self.today.astimezone(UTC), arguments.get("zone", "UTC"))


class Player:
    """Takes the steps of one story: each verb of its file is a method here, and the words after it are its arguments."""

    def __init__(self, stage: Stage, story: Story) -> None:
        self._stage, self._story, self._owner = stage, story, stage.people[story.owner]
        self._engine = stage.engine
        self._began, self._start = timezone.now() - story.ago, stage.pace.now()
        self._conversation: UUID | None = None
        self._asks = 0
        self._last: Started
        self._named: dict[str, Started] = {}
        self._review: Submission
        self._note: Note

    async def take(self, step: Step) -> None:
        """All that it writes happened when the story says, also where it is broken off."""
        (verb, what), *how = step.items()
        pace, since = self._stage.pace, timezone.now()
        self._stage.today = at = self._began + timedelta(seconds=pace.now() - self._start)
        try:
            await getattr(self, verb)(what, **dict(how))
        finally:
            if self._conversation:
                await in_thread(move_back)(self._conversation, since=since, to=at)
        pace.let_pass(READING if verb in ("ask", "edit", "again") else ELSE)

    # What is asked

    async def ask(self, words: str, *, below: str = "", **how: Any) -> None:
        above = self._named[below].answer if below else self._last.answer if self._conversation else None
        if self._conversation is None:
            how["instructions"] = self._story.instructions
        await self._asked(self._engine.ask, self._conversation, words, parent=above, **how)

    async def edit(self, words: str, *, of: str, **how: Any) -> None:
        above = (await self._row(self._named[of].question)).parent_id
        await self._asked(self._engine.ask, self._conversation, words, parent=above, **how)

    async def again(self, of: str, **how: Any) -> None:
        await self._asked(self._engine.ask_again, self._named[of].question, **how)

    async def go_on(self, of: str) -> None:
        await self._engine.go_on(self._named[of].answer)
        await self._engine.runner.wait(self._named[of].answer)

    async def decide(self, decision: str) -> None:
        """The same word for every call that waits."""
        row = await self._row(self._last.answer)
        calls = [item for item in await in_thread(load_items)(row.pk) if item.key in asks_of(row)]
        answers = {call.key: (Decision(decision), self._engine.shown_hash(call)) for call in calls}
        await self._engine.decide(row.pk, answers, by=self._owner)
        await self._engine.runner.wait(row.pk)

    # What becomes of it

    async def title(self, words: str) -> None:
        await in_thread(titles.retitle)(self._here, words)

    async def pin(self, pinned: bool) -> None:
        await in_thread(listing.pin)(self._here, pinned=pinned)

    async def archive(self, archived: bool) -> None:
        await in_thread(listing.archive)(self._here, archived=archived)

    async def show(self, of: str) -> None:
        """The branch that is on screen in the end."""
        await in_thread(places.go_to)(self._owner, await self._row(self._named[of].answer))

    async def share(self, of: str, *, opened: int, days: int = 0, revoked: bool = False, **what: Any) -> None:
        until = timezone.now() + timedelta(days=days) if days else None
        leaf = await self._row(self._named[of].answer)
        link = await in_thread(sharing.share)(leaf, by=self._owner, expires_at=until, **what)
        for _ in range(opened):
            await in_thread(sharing.open_share)(link.token, counts=True)
        if revoked:
            await in_thread(sharing.revoke)(link.token, by=self._owner)

    async def fork(self, story: str, *, extent: str) -> None:
        """One's own conversation."""
        source = await in_thread(lambda: STORIES[story].first_answer)()
        key, by = self._story.key, self._owner
        made = await in_thread(fork)(source, by=by, extent=Extent(extent), submission=key)
        await self._stand_in(made.conversation.pk)

    async def fork_link(self, story: str, *, with_thoughts: bool = True) -> None:
        """What the link opens that was made in that story."""
        token = await in_thread(STORIES[story].link)(with_thoughts=with_thoughts)
        made = await in_thread(sharing.fork_shared)(token, by=self._owner, submission=self._story.key)
        await self._stand_in(made.conversation.pk)

    async def submit(self, of: str, *, question: str, scope: str = "branch") -> None:
        leaf = await self._row(self._named[of].answer)
        submit = in_thread(submitting.submit)
        self._review = await submit(leaf, by=self._owner, scope=Scope(scope), question=question)

    # What others do

    async def claim(self, by: str) -> None:
        await in_thread(reviewing.claim)(self._review, by=self._stage.people[by])

    async def note(self, words: str, *, by: str, of: str) -> None:
        append, who = in_thread(reviewing.append_note), self._stage.people[by]
        self._note = await append(self._review, by=who, text=words, message=self._named[of].answer)

    async def judge(self, verdict: str, *, by: str, reason: str) -> None:
        judge, who = in_thread(reviewing.give_verdict), self._stage.people[by]
        await judge(self._review, by=who, verdict=Verdict(verdict), reason=reason)

    async def answer_note(self, words: str) -> None:
        await in_thread(reviewing.append_answer)(self._review, by=self._owner, text=words, to=self._note)

    async def look(self, what: str, *, by: str) -> None:
        """An administrator was here."""
        who = self._stage.people[by]
        await in_thread(looking.append_looks)(who, [self._here], Look.What(what), address="127.0.0.1")

    async def wish(self, words: str, *, by: str) -> None:
        """An administrator would like it to be reviewed."""
        row = await in_thread(load_conversation)(self._here)
        await in_thread(submitting.ask_to_submit)(row, by=self._stage.people[by], words=words)

    async def _asked(
        self,
        asking: Callable[..., Awaitable[Started]],
        *about: Any,
        name: str = "",
        heard: int = 0,
        model: str = MODEL,
        **how: Any,
    ) -> None:
        pace, key = self._stage.pace, self._story.step_key(self._asks)
        self._asks += 1
        if heard:
            pace.fall_silent_after(heard)
        self._last = await asking(
            *about, author=self._owner, submission=key, model=str(ModelName(NAME, model)), **how
        )
        self._conversation, self._named[name] = self._last.conversation, self._last
        if heard:
            await pace.silent.wait()
            await self._engine.stop(self._last.answer, by=str(self._owner.pk))
        await self._engine.runner.wait(self._last.answer)

    async def _stand_in(self, conversation: UUID) -> None:
        row = await in_thread(load_conversation)(conversation)
        assert row.head_id, "nothing came along with the fork"
        head = await self._row(row.head_id)
        self._conversation = conversation
        self._last = Started(conversation, head.parent_id or head.pk, head.pk)

    @property
    def _here(self) -> UUID:
        assert self._conversation, "a story begins with a question or a fork"
        return self._conversation

    async def _row(self, message: UUID) -> Message:
        return await in_thread(Message.objects.get)(pk=message)
