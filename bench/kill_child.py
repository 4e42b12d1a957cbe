"""The process that is killed: the engine as it is served, and people who ask, stop and continue as fast as they can."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import Error, connection

from chatapp import store
from chatapp.core.decision import Decision
from chatapp.store import Claim, Refused, in_thread, turns
from chatapp.store.models import LIVE, Conversation, Message, Status
from chatapp.store.permissions import deciding
from chatapp.store.rows import with_owner
from chatapp.tools.base import Tool, tool
from chatapp.turns.engine import Engine
from chatapp.turns.keep import keeper

from .kill_plan import MODEL, OneModel, PlannedModel
from .shut import impatient
from .witness import Witness, WitnessedLive

PEOPLE = 3
TURNS_EACH = 5
CHECKPOINT = 0.1
# So long a write waits for a database that is locked, before it is told so.
SHUT_SECONDS = 0.1
WRITES = (
    "start_conversation",
    "start_turn",
    "claim_turn",
    "append_round",
    "begin_call",
    "append_result",
    "park",
    "decide",
    "finish",
    "give_up",
    "stop",
    "interrupt",
    "requeue",
    "save_drafts",
)
SIDES = ("before", "inside", "after")
# A call has run, and nothing is noted of what came of it.
AFTER_A_CALL = ("act", "inside")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """For one process. `fuse`: the write or the tool at which it kills itself, and on which side of it. `fenced`, `begun`: whether writes
    ask whose turn it is, and whether calls are written down before they run. `noted`: whether what is to be written is noted
    before in a file of its own."""

    folder: Path
    witness: Path
    seed: int
    fuse: tuple[str, str] | None = None
    fenced: bool = True
    begun: bool = True
    noted: bool = True
    finishing: bool = False


def serve(orders: Orders) -> None:
    with impatient(SHUT_SECONDS):
        asyncio.run(_serve(orders))


async def _serve(orders: Orders) -> None:
    witness, random = Witness(orders.witness), Random(orders.seed)
    _watch_writes(witness, random, orders.fuse)
    if not orders.fenced:
        _take_the_fence_away()
    if not orders.begun:
        _forget_what_began()
    if not orders.noted:
        _note_nothing()
    catalog: Any = OneModel(PlannedModel(witness.note, random))
    engine = Engine(
        catalog, folder=orders.folder, tools=_tools(witness, random, orders.fuse), checkpoint=CHECKPOINT
    )
    object.__setattr__(engine.live, "publish", WitnessedLive(engine.live, witness).publish)
    await _started(engine)
    witness.note("up")
    people = (_Person(f"person{n}", engine, witness, random, orders.finishing) for n in range(PEOPLE))
    await asyncio.gather(*(person.live() for person in people))
    await engine.close()


async def _started(engine: Engine) -> None:
    """Where the database is shut, whoever comes next starts it."""
    while True:
        try:
            return await engine.start()
        except Error:
            await asyncio.sleep(0.05)


class _Person:
    def __init__(self, name: str, engine: Engine, witness: Witness, random: Random, finishing: bool) -> None:
        self.name, self.engine, self.witness = name, engine, witness
        self.random, self.finishing = random, finishing

    async def live(self) -> None:
        going = True
        while going:
            try:
                going = await self._act()
            except (Error, Refused):
                # The database is shut, or was just now: they try again, as people do.
                await asyncio.sleep(0.02)

    async def _act(self) -> bool:
        answer = await in_thread(self._latest)()
        if answer is None or answer.status == Status.COMPLETE:
            return not self.finishing and await self._ask(answer)
        if answer.status == Status.WAITING:
            await self._decide(answer)
            return True
        if answer.status in LIVE:
            await self._attend(answer.id)
            return True
        self.witness.note("goes on", message=answer.id)
        await self.engine.go_on(answer.id)
        return answer.status != Status.FAILED

    async def _ask(self, last: Message | None) -> bool:
        conversation, question = await in_thread(self._place)(last)
        parent = last.id if last and last.conversation_id == conversation.id else None
        await self.engine.ask(
            conversation.id, question, parent=parent, model=MODEL, author=conversation.owner
        )
        return True

    async def _attend(self, answer: UUID) -> None:
        """Waits for the answer; sometimes not to its end."""
        if self.random.random() < 0.3:
            await asyncio.sleep(self.random.uniform(0, 0.4))
            await self._stop(answer)
        await self.engine.runner.wait(answer)

    async def _stop(self, answer: UUID) -> None:
        if await self.engine.stop(answer, by=self.name):
            self.witness.note("stopped", message=answer)

    async def _decide(self, answer: Message) -> None:
        """About some of the calls, or about all; sometimes it is stopped instead."""
        if self.random.random() < 0.1 and not self.finishing:
            await self._stop(answer.id)
            return
        asks = store.asks_of(answer)
        items = [item for item in await in_thread(store.load_items)(answer.id) if item.key in asks]
        chosen = self.random.sample(items, self.random.randrange(1, len(items) + 1))
        words = {item.key: (self._word(), self.engine.shown_hash(item)) for item in chosen}
        owner = (await in_thread(store.load_conversation)(answer.conversation_id)).owner
        await self.engine.decide(answer.id, words, by=owner)
        for item in chosen:
            self.witness.note("decided", message=answer.id, call=item.key, word=words[item.key][0])

    def _word(self) -> Decision:
        return self.random.choice((Decision.ONCE, Decision.ONCE, Decision.DENIED, Decision.CONVERSATION))

    def _latest(self) -> Message | None:
        mine = Message.objects.filter(conversation__owner__username=self.name, role="assistant")
        return mine.order_by("-created_at").first()

    def _place(self, last: Message | None) -> tuple[Conversation, str]:
        """Where the next question goes, and the question: new words each time."""
        owner, _ = get_user_model().objects.get_or_create(username=self.name)
        asked = Message.objects.filter(conversation__owner=owner, role="user").count()
        question = f"{self.name}-{asked}"
        if (
            last is None
            or Message.objects.filter(conversation=last.conversation_id).count() >= 2 * TURNS_EACH
        ):
            return store.start_conversation(owner, tools=self.engine.definitions()), question
        return store.load_conversation(last.conversation_id), question


def _tools(witness: Witness, random: Random, fuse: tuple[str, str] | None) -> dict[str, Tool]:
    """They leave a trace of each run: only the first may run twice, and the last asks."""

    async def look(call: str) -> str:
        """Looks."""
        return await run("look", call)

    async def act(call: str) -> str:
        """Acts."""
        return await run("act", call)

    async def send(call: str) -> str:
        """Sends."""
        return await run("send", call)

    async def run(name: str, call: str) -> str:
        witness.note("effect", tool=name, call=call)
        if fuse == (name, "inside"):
            _burn(witness, *fuse)
        await asyncio.sleep(random.uniform(0, 0.06))
        return f"did {call}"

    return {
        "look": tool(look, safe=True, idempotent=True),
        "act": tool(act, safe=True, idempotent=False),
        "send": tool(send),
    }


def _watch_writes(witness: Witness, random: Random, fuse: tuple[str, str] | None) -> None:
    for name in WRITES:
        mine = {side: fuse == (name, side) for side in SIDES}
        setattr(store, name, _watched(name, getattr(store, name), witness, random, mine))


def _watched(
    name: str, write: Callable[..., Any], witness: Witness, random: Random, fuses: dict[str, bool]
) -> Callable[..., Any]:
    """The same write; noted while it is inside its transaction, and deadly where its fuse is."""

    def burn(side: str) -> None:
        if fuses[side]:
            _burn(witness, name, side)

    def watched(*args: Any, **values: Any) -> Any:
        burn("before")
        statements = _Statements(random.randrange(1, 4), lambda: burn("inside"))
        message = getattr(args[0], "message", args[0])
        witness.note("enters", write=name)
        try:
            with connection.execute_wrapper(statements):
                result = write(*args, **values)
        finally:
            witness.note("leaves", write=name, message=message)
        burn("after")
        return result

    return watched


def _burn(witness: Witness, name: str, side: str) -> None:
    witness.note("fuse", write=name, side=side)
    os.kill(os.getpid(), signal.SIGKILL)


class _Statements:
    """Counts the statements of one transaction, and says when number `last` has been executed."""

    def __init__(self, last: int, reached: Callable[[], None]) -> None:
        self._left, self._reached = last, reached

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        self._left -= 1
        if self._left == 0:
            self._reached()
        return result


def _forget_what_began() -> None:
    """The broken build: a call runs without a word about it before."""
    store.begin_call = lambda claim, call: None


def _note_nothing() -> None:
    """The broken build: what waits for the database is lost with its process."""
    keeper.NOTED = ()


def _take_the_fence_away() -> None:
    """The broken build: whoever holds any claim, however old, may write."""

    def hold(claim: Claim) -> Message:
        return with_owner(Message.objects.all()).get(pk=claim.message)

    turns.hold = deciding.hold = hold
