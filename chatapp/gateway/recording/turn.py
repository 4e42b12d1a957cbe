"""The turn of a request that is recorded: heard by its page as by its program, written like every other turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ...core.draft import Draft
from ...core.events import Event, Finish, ItemsStored, TurnEnded
from ...core.items import KeyMaker
from ...providers.base import ProviderError
from ...store import Answer, Fenced, Seen
from ...store.models import Status
from ...turns.drafts import Drafts
from ...turns.engine import Engine
from ...turns.loop import CHECKPOINT_SECONDS, CUT_SHORT, keep_draft
from ...turns.model_request import RoundResponse
from ...turns.state import TurnState
from ..store.recorded import BegunTurn
from .waiting import begin_waiting

_drafts = Drafts()


class RecordedTurn:
    """Hears what its model says, for the page and for whoever else is to be told (`tell`)."""

    def __init__(self, engine: Engine, begun: BegunTurn, tell: Callable[[Event], None]) -> None:
        self.claim = begun.claim
        self._engine, self._tell = engine, tell
        answer, now = Answer(begun.row, list(begun.items)), asyncio.get_running_loop().time
        self.state = TurnState(begun.claim, answer, engine.live, engine.keeper, now)
        # What the page tells of this request beside what it was made of.
        self.told: dict[str, Any] = {}
        self._keeping = asyncio.create_task(self._keep_draft())

    async def _keep_draft(self) -> None:
        with suppress(Fenced):
            await keep_draft(self.state, _drafts, CHECKPOINT_SECONDS)

    # As an asking needs it

    @property
    def keys(self) -> KeyMaker:
        return self.state.keys

    @keys.setter
    def keys(self, keys: KeyMaker) -> None:
        self.state.keys = keys

    @property
    def draft(self) -> Draft:
        return self.state.draft

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self.state.draft = draft

    @property
    def facts(self) -> dict[str, Any] | None:
        return self.state.facts

    @facts.setter
    def facts(self, facts: dict[str, Any] | None) -> None:
        if facts is not None:
            facts.update(self.told)
        self.state.facts = facts

    def publish(self, event: Event) -> None:
        self.state.publish(event)
        self._tell(event)

    # How it ends

    async def end(self, response: RoundResponse) -> None:
        """Fenced where somebody stopped it before."""
        if response.finish in (Finish.LENGTH, Finish.CUT):
            await self._give_up(Status.STOPPED, {"reason": response.finish}, CUT_SHORT[response.finish])
            return
        keys = [item.key for item in response.items]
        measured = self.state.measured(keys, self.state.facts)
        name = "hand_over" if response.calls else "finish"
        await self.state.write(name, items=tuple(response.items), measured=measured)
        if response.calls:
            begin_waiting(self.claim.message)
        self.state.facts = None
        self.state.publish(ItemsStored(tuple(keys)))
        self._say_ended(Status.WAITING if response.calls else Status.COMPLETE)

    async def fail(self, error: ProviderError) -> None:
        ended = {
            "reason": error.trouble,
            "sentence": error.sentence,
            "raw": error.raw,
            "status": error.status,
        }
        await self._give_up(Status.FAILED, ended, error.sentence)

    async def stop(self, by: str) -> None:
        """Its program has gone, or its key."""
        await self._engine.stop(self.claim.message, by=by)

    async def _give_up(self, status: Status, ended: dict[str, Any], sentence: str) -> None:
        seen = Seen(self.claim.attempt, self.state.draft, self.state.elapsed())
        measured = self.state.measured([], self.state.facts)
        await self.state.write("give_up", seen=seen, measured=measured, status=status, ended=ended)
        self._say_ended(status, sentence)

    def _say_ended(self, status: Status, sentence: str = "") -> None:
        self.state.publish(TurnEnded(status, sentence))

    def close(self) -> None:
        self._keeping.cancel()
        self._engine.live.close(self.state.stream)
