"""run_turn(): fold, ask, show, append, call tools, again, until there is an answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from traceback import extract_tb
from typing import Any

from django.db import Error

from .. import store
from ..core.events import Finish, ItemsStored, TurnEnded
from ..core.items import Item, Kind, Outcome
from ..providers.base import ModelSpec, ProviderError, ToolSpec, Trouble
from ..providers.configured import Catalog, Provider, UnknownModel
from ..providers.refusals import trouble_error
from ..store import Answer, Branch, Claim, Fenced, Seen, in_thread
from ..store.models import Conversation, Status
from ..tools.base import Tool
from .calls import Calls
from .drafts import Drafts
from .keep.keeper import Keeper
from .live import Live
from .model_request import Asking, RoundResponse, asked_of
from .state import TurnState
from .tool_names import abroad

log = logging.getLogger(__name__)

ROUNDS = 25
CHECKPOINT_SECONDS = 1.0
# An answer that called tools for so long, or was given so many characters by them, answers with what it has.
SECONDS = 1800.0
RESULTS = 2 * 1024 * 1024
TOO_MANY_CALLS = "The call was not made: this answer has used up its calls. Answer with what you have."
KEEPS_CALLING = "The model kept calling tools instead of answering. Ask again."
CUT_SHORT = {
    Finish.LENGTH: "The answer reached the model's limit.",
    Finish.CUT: "The provider ended the answer before it was whole.",
}
OURS = "Something broke inside Thoughtline. Your question is safe; try again."


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a turn touches outside itself."""

    catalog: Catalog
    live: Live
    keeper: Keeper
    tools: Mapping[str, Tool]
    now: Callable[[], float]
    refresh: Callable[[], Awaitable[None]]
    replay_turns: int | None = None
    rounds: int = ROUNDS
    seconds: float = SECONDS
    results: int = RESULTS
    checkpoint: float = CHECKPOINT_SECONDS
    drafts: Drafts = field(default_factory=Drafts)


async def run_turn(claim: Claim, world: World, *, is_new: bool = False, branch: Branch | None = None) -> None:
    """Answers one question. Whoever takes the turn over meanwhile makes this end quietly, with nothing written. `is_new`: nobody has
    said anything to it yet. `branch`: it and what it follows, where that was read when the turn was made or claimed."""
    answer = None if is_new else await _answer(claim, world, branch)
    open_calls = store.without_result(answer.items if answer else [])
    # What these give is not in what was read before.
    branch = None if open_calls else branch
    turn = TurnState(claim, answer, world.live, world.keeper, world.now, has_draft=claim.attempt > 1)
    try:
        async with asyncio.TaskGroup() as group:
            beside = group.create_task(keep_draft(turn, world.drafts, world.checkpoint))
            await _Loop(turn, world, branch).run(open_calls)
            beside.cancel()
    except* Fenced:
        log.info("turn %s attempt %s was taken over", claim.message, claim.attempt)
    finally:
        world.live.close(turn.stream)


async def _answer(claim: Claim, world: World, branch: Branch | None) -> Answer:
    if branch:
        return branch.answer
    return await world.keeper.patiently(in_thread(store.load_answer))(claim.message)


async def keep_draft(turn: TurnState, drafts: Drafts, every: float) -> None:
    """Saves the draft beside the turn. This is also how a turn learns in its silence that it was taken over."""
    while True:
        await asyncio.sleep(every)
        if not turn.may_save_draft():
            return
        try:
            await drafts.save(turn.claim, lambda: turn.draft.to_json(turn.elapsed()))
        except Error as error:
            log.warning("turn %s: its draft was not saved: %s", turn.claim.message, type(error).__name__)


class _Loop:
    def __init__(self, turn: TurnState, world: World, branch: Branch | None) -> None:
        self.turn, self.world, self.branch = turn, world, branch
        # What is sent of it stays as it is until the turn has ended.
        self.of: Conversation | None = None
        self.who: tuple[Provider, ModelSpec] | None = None
        self.calls = Calls(turn, world.tools, world.now, world.refresh)

    async def run(self, open_calls: Sequence[Item]) -> None:
        try:
            if not await self._has_to_wait(open_calls):
                while not await self._round():
                    pass
        except (Fenced, Error):
            # With the database in trouble the row stays as it is: whoever looks next goes on from the last item.
            raise
        except UnknownModel as error:
            await self._fail(ProviderError(Trouble.NOT_FOUND, str(error)))
        except ProviderError as error:
            await self._fail(error)
        except Exception as error:
            log.error(
                "turn %s attempt %s broke: %s",
                *self.turn.stream,
                _where(error),
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            await self._fail(ProviderError(Trouble.BROKEN, OURS))

    async def _round(self) -> bool:
        """One response of the model and its calls. True when the turn has ended, or waits."""
        branch = await self._branch()
        self.of = branch.conversation
        # Found once: what staff change meanwhile is for the next answer.
        self.who = self.who or self.world.catalog.find(branch.leaf.model)
        may_call = self._may_call(branch, store.next_round(branch.items.get(branch.leaf.id, [])))
        asked = asked_of(branch, self._offered(branch.conversation), may_call=may_call)
        response = await Asking(self.turn, self.who, asked, replay_turns=self.world.replay_turns).ask()
        if response.finish in (Finish.LENGTH, Finish.CUT):
            await self._cut_short(response.finish)
            return True
        self._refuse_empty(response)
        if may_call and (response.calls or response.finish is Finish.PAUSE):
            calls = response.calls
            await self._store("append_round", response)
            return await self._has_to_wait(calls)
        if response.calls:
            calls, words = response.calls, response.words
            await self._store("append_round", response)
            await self._refuse_calls(calls, words=words)
        await self._store("finish", response)
        self._say_ended(Status.COMPLETE)
        return True

    async def _branch(self) -> Branch:
        """What was read with the question serves its first round."""
        claim, branch, self.branch = self.turn.claim, self.branch, None
        if branch is None:
            loading = self.world.keeper.patiently(in_thread(store.load_branch))
            branch = await loading(claim.message, of=self.of)
        # What somebody else took over, and may have answered, is not asked for again.
        if branch.leaf.attempt != claim.attempt:
            raise Fenced
        return branch

    def _may_call(self, branch: Branch, number: int) -> bool:
        """Rounds, time and what the calls gave, counted since the answer was last told to go on."""
        metadata, world = branch.leaf.metadata, self.world
        since = metadata.get("goes_on_at", 0)
        items = branch.items.get(branch.leaf.id, [])
        given = sum(len(item.text) for item in items if item.kind is Kind.TOOL_RESULT and item.round >= since)
        seconds = (self.turn.elapsed() - metadata.get("goes_on_ms", 0)) / 1000
        return number - since < world.rounds and seconds < world.seconds and given < world.results

    def _offered(self, conversation: Conversation) -> list[ToolSpec]:
        """As they were described when they were chosen, also where one is not to be had at the moment."""
        definitions = store.definitions_of(conversation)
        known = [(each, self.world.tools.get(each["name"])) for each in definitions]
        full = [tool.definition | each if tool else each for each, tool in known]
        return [
            ToolSpec(name=abroad(each["name"]), description=each["description"], schema=each["schema"])
            for each in full
            if each.keys() >= {"description", "schema"}
        ]

    async def _has_to_wait(self, calls: Sequence[Item]) -> bool:
        """True where a person is asked before the turn can go on."""
        asks = await self.calls.settle(calls)
        if asks:
            await self.turn.write("park", items=tuple(asks), measured=self.turn.measured([]))
            self._say_ended(Status.WAITING)
        return bool(asks)

    def _refuse_empty(self, response: RoundResponse) -> None:
        label = response.label
        if response.finish in (Finish.FILTER, Finish.REFUSAL):
            raise trouble_error(Trouble.FILTERED, label)
        paused = response.finish is Finish.PAUSE and response.items
        if not response.calls and not response.words and not paused:
            raise trouble_error(Trouble.EMPTY, label)

    async def _store(self, name: str, response: RoundResponse) -> None:
        keys = [item.key for item in response.items]
        measured = self.turn.measured(keys, self.turn.facts)
        await self.turn.write(name, items=tuple(response.items), measured=measured)
        self.turn.facts, response.items = None, []
        self.turn.publish(ItemsStored(tuple(keys)))

    async def _refuse_calls(self, calls: Iterable[Item], *, words: bool) -> None:
        """The model called again although it was asked for its closing answer."""
        for call in calls:
            await self.calls.answer(call, TOO_MANY_CALLS, Outcome.FAILED)
        if not words:
            raise ProviderError(Trouble.EMPTY, KEEPS_CALLING)

    async def _cut_short(self, how: Finish) -> None:
        await self._give_up(Status.STOPPED, {"reason": how})
        self._say_ended(Status.STOPPED, CUT_SHORT[how])

    async def _fail(self, error: ProviderError) -> None:
        ended = {
            "reason": error.trouble,
            "sentence": error.sentence,
            "raw": error.raw,
            "status": error.status,
        }
        log.warning("turn %s attempt %s failed: %s", *self.turn.stream, error.trouble)
        await self._give_up(Status.FAILED, ended)
        self._say_ended(Status.FAILED, error.sentence)

    async def _give_up(self, status: Status, ended: dict[str, Any]) -> None:
        seen = Seen(self.turn.claim.attempt, self.turn.draft, self.turn.elapsed())
        measured = self.turn.measured([], self.turn.facts)
        await self.turn.write("give_up", seen=seen, measured=measured, status=status, ended=ended)

    def _say_ended(self, status: Status, sentence: str = "") -> None:
        self.turn.publish(TurnEnded(status, sentence))


def _where(error: Exception) -> str:
    """Its type and place, without its words: they may hold somebody's text."""
    last = extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {last.name}:{last.lineno}"
