"""The engine of this process: its edges put together, and the few commands that pages and scripts give it."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import Error

from .. import store
from ..core.decision import shown_hash
from ..core.items import Item
from ..providers import WIRES
from ..providers import local as local_model
from ..providers.base import OFF
from ..providers.client import close_connections, warm_up
from ..providers.configured import Catalog
from ..providers.local.provider import LocalProvider
from ..store import Answers, AskedFor, Branch, Claim, Refused, Started, in_thread
from ..store.database.threads import on_its_loop, refuse_late
from ..store.models import Conversation
from ..tools import TOOLS, Tool
from ..tools.at_hand import ToolsAtHand
from .edges import MakeEdges
from .heartbeat import BEAT_SECONDS, HeartbeatThread
from .keep.keeper import Keeper
from .locks import ProcessLock
from .loop import World
from .neighbours.edges import edges as neighbours
from .notices import Notice
from .parts import PARTS, EnginePart
from .purging import keep_purging
from .resting import keep_resting
from .title_from_model import Titles

# What was stopped is stored before it goes on.
SAVED_SECONDS = 1.0
STILL_SAVING = (
    "The database takes nothing at the moment, so this is still being saved. Try again in a moment."
)
Part = TypeVar("Part", bound=EnginePart)
S = TypeVar("S", bound=Started | None)
P = ParamSpec("P")


def _asked_by_coroutine(
    write: Callable[Concatenate[Engine, P], S],
) -> Callable[Concatenate[Engine, P], Coroutine[Any, Any, S]]:
    async def asked(self: Engine, /, *args: P.args, **asked: P.kwargs) -> S:
        if not self.runner.queues_for:
            return await in_thread(write)(self, *args, **asked)
        with self.runner.expecting():
            started, branch = await in_thread(_with_branch)(write, self, *args, **asked)
            if isinstance(started, Started):
                await self.runner.begin(started.claim, branch=branch)
        return started

    return asked


class Engine:
    def __init__(
        self,
        catalog: Catalog,
        *,
        folder: Path,
        tools: Mapping[str, Tool] = TOOLS,
        now: Callable[[], float] = time.monotonic,
        replay_turns: int | None = None,
        titles: bool = False,
        beat: float = BEAT_SECONDS,
        edges: MakeEdges = neighbours,
        **limits: Any,
    ) -> None:
        self.catalog, self.tools = catalog, ToolsAtHand(tools)
        self._parts = [make(catalog, self.tools) for make in PARTS]
        lock = ProcessLock(folder / "run")
        made = edges(folder / "run", lock.name)
        self.live, self.notices = made.live, made.notices
        self.keeper = Keeper(folder / "run")
        world = World(
            catalog=catalog,
            live=self.live,
            keeper=self.keeper,
            tools=self.tools,
            now=now,
            refresh=self._refresh,
            replay_turns=replay_turns,
            **limits,
        )
        self.runner = made.runner(world, lock, HeartbeatThread(lock.name, every=beat))
        self.notices.delivered.append(self._look_up)
        self.notices.heard.append(self.runner.hear)
        self.titles, self._finds_titles = Titles(catalog), titles
        self._beside: list[asyncio.Task[None]] = []

    def part(self, kind: type[Part]) -> Part:
        """What one feature keeps going here."""
        return next(part for part in self._parts if isinstance(part, kind))

    async def _refresh(self) -> None:
        for part in self._parts:
            await part.refresh()

    def _look_up(self, notice: Notice) -> None:
        if notice.message:
            self.live.look_up(notice.message)

    async def default_model(self, *, soon: bool = False) -> str:
        """What is asked when nobody chose. `soon`: for a page."""
        return await self.catalog.default_model(settings.DEFAULT_MODEL, soon=soon)

    async def load(self) -> None:
        """What the rows say of providers, models and tools, for those who ask without starting anything."""
        for part in self._parts:
            await part.load()

    async def start(self) -> None:
        """Goes on with what a dead process left, now and from time to time. Calling it again does nothing."""
        if not self._beside:
            self.notices.begin()
            await self.load()
            works = [
                self.runner.keep_recovering(),
                keep_purging(),
                keep_resting(),
                *(part.keep() for part in self._parts),
            ]
            if self._finds_titles:
                works.append(self.titles.keep_finding())
            self._beside = [asyncio.create_task(work, context=contextvars.Context()) for work in works]
            await self.runner.recover()
            await warm_up()

    def asked_by_page(self, write: Callable[P, S], *args: P.args, **asked: P.kwargs) -> S:
        """What one of those below writes, and its turn, for the thread of a page, which has a connection to the database already. The
        turn begins soon, and nobody waits for it."""
        refuse_late()
        if not self.runner.queues_for:
            return write(*args, **asked)
        with ExitStack() as coming:
            coming.enter_context(self.runner.expecting())
            started, branch = _with_branch(write, *args, **asked)
            if isinstance(started, Started):
                on_its_loop(self._begin, started.claim, branch, coming.pop_all())
        return started

    async def _begin(self, claim: Claim, branch: Branch | None, coming: ExitStack) -> None:
        with coming:
            await self.runner.begin(claim, branch=branch)

    def write_question(
        self,
        conversation: UUID | None,
        text: str,
        *,
        author: User,
        model: str,
        parent: UUID | None = None,
        effort: str = "",
        instructions: str = "",
        tools: Sequence[str] | None = None,
        submission: UUID | None = None,
        sent_from: UUID | None = None,
        may: Callable[[Conversation], None] | None = None,
    ) -> Started:
        """A question. Without a conversation it opens one, with these tools or the usual ones. `may`: as the store asks it."""
        asked = self._as_asked(model, effort, submission, sent_from)
        if conversation is None:
            chosen = self.definitions(tools)
            return store.open_conversation(author, text, tools=chosen, instructions=instructions, asked=asked)
        return store.start_turn(conversation, text, parent=parent, author=author, asked=asked, may=may)

    def write_answer(
        self,
        question: UUID,
        *,
        author: User,
        model: str,
        effort: str = "",
        submission: UUID | None = None,
        sent_from: UUID | None = None,
    ) -> Started:
        """A sibling answer to the same question."""
        asked = self._as_asked(model, effort, submission, sent_from)
        return store.start_answer(question, author=author, asked=asked)

    def write_kept(
        self,
        start: Callable[[AskedFor], Started | None],
        *,
        model: str,
        effort: str = "",
        submission: UUID | None = None,
    ) -> Started | None:
        """The turn that `start` makes, in one transaction with rows of its own; None where it makes none."""
        return start(self._as_asked(model, effort, submission, None))

    # Each with the turn that answers it, for whoever is on the event loop.
    ask = _asked_by_coroutine(write_question)
    ask_again = _asked_by_coroutine(write_answer)
    ask_kept = _asked_by_coroutine(write_kept)

    def definitions(self, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """What models read of these tools, or of those that new conversations have; a name that is unknown is left out."""
        chosen = [name for name, tool in self.tools.items() if tool.usual] if names is None else names
        return [self.tools[name].definition for name in dict.fromkeys(chosen) if name in self.tools]

    def shown_hash(self, call: Item) -> str:
        """Goes with a decision about this call as it is now."""
        tool = self.tools.get(call.name)
        return shown_hash(call.text, tool.fingerprint if tool else "")

    async def decide(self, answer: UUID, answers: Answers, *, by: User) -> None:
        """Somebody's word about calls that wait for it; Refused where it comes too late."""
        fingerprints = {name: tool.fingerprint for name, tool in self.tools.items()}
        deciding = in_thread(store.decide)
        going_on = await deciding(
            answer, answers, by=by, fingerprints=fingerprints, runner=self.runner.queues_for
        )
        for turn in going_on:
            await self.runner.start(turn)

    def _as_asked(self, model: str, effort: str, submission: UUID | None, sent_from: UUID | None) -> AskedFor:
        self._check(model, effort)
        return AskedFor(
            model=model,
            effort=effort,
            runner=self.runner.queues_for,
            claimed=bool(self.runner.queues_for),
            submission=submission,
            sent_from=sent_from,
        )

    def _check(self, model: str, effort: str) -> None:
        """UnknownModel or Refused, before anything is written."""
        _, spec = self.catalog.offered(model)
        if effort and spec.efforts and effort not in spec.efforts:
            raise Refused(
                f"{spec.id} does not know the effort {effort!r}. It knows: {', '.join(spec.efforts)}."
            )
        if effort and not spec.efforts and effort != OFF:
            raise Refused(f"{spec.id} has no effort to set.")

    async def go_on(self, answer: UUID) -> bool:
        """Continue, or Retry where nothing was kept: in the same message."""
        if not await self.keeper.stands(answer, within=SAVED_SECONDS):
            raise Refused(STILL_SAVING)
        if not await in_thread(store.requeue)(answer, runner=self.runner.queues_for):
            return False
        await self.runner.start(answer)
        return True

    async def stop(self, answer: UUID, *, by: str = "") -> bool:
        """The turn is stopped when this answers, whoever runs it; what was seen of it is kept. False where it had ended."""
        if self.keeper.is_ending(answer):
            return self.keeper.is_stopped(answer)
        # First it falls silent: a word that is shown while the stop is written would not be kept.
        async with self.runner.stopping(answer) as attempt:
            seen = await self.live.seen(answer)
            if attempt is None:
                attempt = await in_thread(store.attempt_at)(answer)
            if attempt is None:
                return False
            return await self.keeper.stop(answer, seen, attempt=attempt, by=by)

    async def close(self) -> None:
        """What runs is cancelled and stays as it is in the rows, for the next process to go on with."""
        for task in self._beside:
            task.cancel()
        await self.runner.close()
        await self.keeper.close()
        for part in self._parts:
            await part.close()
        await self.live.end()
        await self.notices.end()
        await close_connections()


def _with_branch(write: Callable[P, S], *args: P.args, **asked: P.kwargs) -> tuple[S, Branch | None]:
    """What is sent of it is read on the same thread. None where that cannot be: the turn reads it then, patiently."""
    started = write(*args, **asked)
    if not isinstance(started, Started):
        return started, None
    try:
        return started, store.load_branch(started.answer, of=started.row)
    except Error:
        return started, None


@cache
def engine() -> Engine:
    """The one of this process, as the settings have it."""
    catalog = Catalog(settings.PROVIDERS, beside=_local() if settings.LOCAL_MODEL else ())
    return Engine(
        catalog,
        folder=Path(settings.DATA_DIR),
        replay_turns=settings.REPLAY_TURNS,
        titles=settings.MODEL_TITLES,
        edges=_many() if settings.REDIS_URL else neighbours,
    )


def _many() -> MakeEdges:
    from .scale.edges import edges

    return edges


def _local() -> list[LocalProvider]:
    place = partial(local_model.model_state, Path(settings.DATA_DIR))
    return [LocalProvider(place, WIRES["chat"], label=local_model.LABEL, window=local_model.WINDOW)]
