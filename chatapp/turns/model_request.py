"""One request to the model: worded from a log as it is, listened to, and repaired once where that helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..core import events
from ..core.contracts import taught
from ..core.draft import Draft
from ..core.history import Dropped, History, Logged, Repair, Target, fold, learned
from ..core.items import Item, KeyMaker, Kind
from ..providers.base import (
    NO_WISHES,
    OFF,
    Ask,
    ModelSpec,
    ProviderError,
    RequestShape,
    ToolSpec,
    Trouble,
    Wishes,
)
from ..providers.configured import Provider
from ..providers.refusals import trouble_error
from ..store import Branch, next_round
from .tool_names import event_at_home, log_abroad

# More pieces than this in one response are no answer to anybody.
MOST_ITEMS = 200
REPAIRS = {
    Repair.STALE: "The provider did not accept the earlier thoughts; asking again without them.",
    Repair.FORBIDDEN: "The provider does not take thoughts back; asking again without them.",
    Repair.REQUIRED: "The provider wants the earlier thoughts; asking again with them.",
    Repair.BOUND: "The provider did not accept earlier thoughts; asking again with leave to drop them.",
    Repair.UNBOUND: "The provider takes no leave to drop thoughts; asking again without it.",
    Repair.NO_SUMMARY: "The provider does not give summaries of thoughts here; asking again without them.",
}


@dataclass(slots=True)
class RoundResponse:
    """What came of one round."""

    label: str
    items: list[Item] = field(default_factory=list)
    finish: events.Finish = events.Finish.STOP
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def calls(self) -> list[Item]:
        return [item for item in self.items if item.kind is Kind.TOOL_CALL]

    @property
    def words(self) -> bool:
        return any(item.kind is Kind.ASSISTANT_MESSAGE and item.text.strip() for item in self.items)


class Hearing(Protocol):
    """Who is told of what a model says: a turn of the log, or whoever keeps nothing. `facts`: what was sent for the open round."""

    keys: KeyMaker
    draft: Draft
    facts: dict[str, Any] | None

    def publish(self, event: events.Event) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAsked:
    """What a request is made of. `log`: what was said until now, the last of it being answered. `left_out`: how many messages before it
    are not sent."""

    log: Sequence[Logged]
    conversation: str
    instructions: str = ""
    effort: str = ""
    tools: Sequence[ToolSpec] = ()
    may_call: bool = True
    wishes: Wishes = NO_WISHES
    left_out: int = 0

    @property
    def round(self) -> int:
        return next_round(self.log[-1].items)


def asked_of(branch: Branch, tools: Sequence[ToolSpec], *, may_call: bool) -> ModelAsked:
    """What a turn of the log asks."""
    log = log_abroad(branch.log())
    return ModelAsked(
        log=log,
        conversation=str(branch.conversation.id),
        instructions=branch.conversation.instructions,
        effort=branch.leaf.effort,
        tools=tools,
        may_call=may_call,
        left_out=len(branch.messages) - len(log),
    )


def as_it_is(event: events.Event) -> events.Event:
    return event


class Asking:
    """`named`: gives events with the names of tools that those who hear of them know."""

    def __init__(
        self,
        turn: Hearing,
        who: tuple[Provider, ModelSpec],
        asked: ModelAsked,
        *,
        replay_turns: int | None,
        named: Callable[[events.Event], events.Event] = event_at_home,
    ) -> None:
        self.turn, self.asked, self.replay_turns, self.named = turn, asked, replay_turns, named
        self.provider, self.model = who
        self.log, self.round = asked.log, asked.round
        # A model that has no such effort would think all the same.
        self.effort = asked.effort if asked.effort in self.model.efforts else ""
        self.learned = learned(self.log, self.model.id)
        # The history of the last request, as the wire was given it.
        self.sent: History | None = None

    async def ask(self) -> RoundResponse:
        """Each kind of repair is tried once, and only while nothing has been said yet."""
        repairs: list[Repair] = []
        while True:
            ask = self._ask(repairs)
            self.sent = ask.history
            response = RoundResponse(self.provider.endpoint.label, facts=self._facts(ask, repairs))
            self.turn.facts = response.facts
            try:
                return await self._listen(ask, response)
            except ProviderError as error:
                repair = _helps(error.repair, ask)
                if repair is None or repair in repairs or self.turn.draft.pieces:
                    raise
                repairs.append(repair)
                self.turn.publish(events.Repaired(repair, REPAIRS[repair]))

    async def _listen(self, ask: Ask, response: RoundResponse) -> RoundResponse:
        self.turn.publish(events.Asked(ask.round))
        try:
            async with aclosing(self.provider.stream(ask, self.turn.keys, self.turn.publish)) as stream:
                async for said in stream:
                    event = self.named(said)
                    self._refuse_too_many(event, response)
                    self.turn.publish(event)
                    _note(event, response)
        finally:
            sign = self.turn.draft.clock.first_sign
            response.facts["first_event_ms"] = None if sign is None else round(sign)
        response.items = self.turn.draft.finished()
        return response

    def _refuse_too_many(self, event: events.Event, response: RoundResponse) -> None:
        if isinstance(event, events.ItemStarted) and len(self.turn.draft.pieces) >= MOST_ITEMS:
            raise trouble_error(Trouble.TOO_LARGE, response.label)

    def _ask(self, repairs: list[Repair]) -> Ask:
        known = self.learned | frozenset(repairs)
        contract = taught(self.provider.contract(self.model), known)
        target = Target(
            self.model.provider, self.model.dialect, self.model.name, contract, self.effort != OFF
        )
        return Ask(
            model=self.model,
            contract=contract,
            history=self._history(target, repairs),
            label=self.provider.endpoint.label,
            conversation=self.asked.conversation,
            instructions=self.asked.instructions,
            tools=self.asked.tools,
            effort=self.effort,
            may_call=self.asked.may_call,
            round=self.round,
            repairs=known,
            wishes=self.asked.wishes,
        )

    def _history(self, target: Target, repairs: list[Repair]) -> History:
        log = self.log
        if Repair.STALE in repairs:
            stale = {**log[-1].repaired, self.round: (self.model.id, repairs)}
            log = [*log[:-1], replace(log[-1], repaired=stale)]
        return fold(log, target, cap=self.replay_turns)

    def _facts(self, ask: Ask, repairs: list[Repair]) -> dict[str, Any]:
        """What the answer's details tell of this round, and what later folds learn from it."""
        facts: dict[str, Any] = {
            "round": self.round,
            "model": self.model.id,
            "usage": {},
            "first_event_ms": None,
        }
        sent = self.provider.sent(ask)
        facts |= {
            "dialect": self.model.dialect,
            "messages": sum(1 for message in self.log if message.items),
            "left_out": self.asked.left_out,
            "replayed": sent.thoughts,
            "dropped": _dropped(ask.history, sent),
            "shape": list(sent.shape),
        }
        return facts | ({"repaired": list(repairs)} if repairs else {})


def _helps(repair: Repair | None, ask: Ask) -> Repair | None:
    """Where thoughts may be dropped already and are refused all the same, they are left out."""
    return Repair.STALE if repair is Repair.BOUND and ask.contract.bound else repair


def _dropped(history: History, sent: RequestShape) -> dict[str, int]:
    """What the fold let through and the wire has no place for counts as forbidden."""
    dropped = Counter(history.dropped)
    dropped[Dropped.FORBIDDEN] += max(0, history.replayed - sent.thoughts)
    return {reason: number for reason, number in dropped.items() if number}


def _note(event: events.Event, response: RoundResponse) -> None:
    facts = response.facts
    match event:
        # The case of nearly all events stands first.
        case events.ItemDelta():
            pass
        case events.Skipped():
            facts["skipped"] = facts.get("skipped", 0) + 1
        case events.Withheld():
            facts["withheld"] = dict(event.reasons)
        case events.Retrying():
            # What is told of a request is told of the one that was answered.
            facts.pop("skipped", None)
            facts.pop("withheld", None)
        case events.Usage():
            response.facts["usage"] = _numbers_told(event)
        case events.ResponseEnded():
            response.finish = event.finish
            response.facts["finish"] = event.finish
        case (
            events.Asked()
            | events.ItemStarted()
            | events.ItemDone()
            | events.ItemAmended()
            | events.Repaired()
            | events.ItemsStored()
            | events.Saving()
            | events.TurnEnded()
        ):
            pass


def _numbers_told(usage: events.Usage) -> dict[str, int]:
    values = {
        name: getattr(usage, name) for name in ("input", "cached", "cache_written", "output", "reasoning")
    }
    return {name: value for name, value in values.items() if value is not None}
