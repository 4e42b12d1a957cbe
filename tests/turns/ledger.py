"""Holds each request to the strict fake providers against the rows: what may go back went back, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any
from uuid import UUID

from chatapp import store
from chatapp.core.decision import Decision
from chatapp.core.items import Item, Kind
from chatapp.core.verbatim import encode
from chatapp.store import in_thread
from chatapp.store.models import Message, Status
from tests.support.patience import PATIENCE
from tests.support.providers import Line
from tests.support.stage import Stage

from .test_scenarios import thoughts_in

if TYPE_CHECKING:
    from tests.upstream.running import Running

# What these servers say, or what their contracts say of them: they take no thoughts back.
TAKES_NONE = {
    "@deepseek-r1",
    "@gemini",
    "@openai",
    "@groq",
    "@mistral",
}
TAKES_THOSE_OF_TOOL_TURNS = {"@deepseek-v3.2"}
Request = dict[str, Any]


class Ledger:
    """`lines`: who is asked, by the model's name. Each step of a story is checked when it has ended or waits."""

    def __init__(self, up: Running, *lines: Line) -> None:
        self._up, self._lines = up, lines
        self._seen = 0
        self._new_requests()
        self._rounds: Counter[UUID] = Counter()

    async def check(self, on: Stage, row: Message) -> Message:
        """The requests since the last check are those of this answer, and accepted; each sent the thoughts it could."""
        row = await on.row(row.id)
        rounds = row.metadata.get("rounds", [])[self._rounds[row.id] :]
        self._rounds[row.id] += len(rounds)
        requests = await self._requests(len(rounds))
        assert len(requests) == len(rounds), row.metadata.get("ended")
        for facts, request in zip(rounds, requests, strict=True):
            assert (request["status"], notes_of(request, facts)) == (200, []), request.get("error")
            await self._compare(row, facts, request)
        return row

    async def _requests(self, count: int) -> list[Request]:
        """The provider writes a request down when it notices that nobody listens any more."""
        requests = self._new_requests()
        async with asyncio.timeout(PATIENCE):
            while len(requests) < count:
                await asyncio.sleep(0.01)
                requests += self._new_requests()
        return requests

    def _new_requests(self) -> list[Request]:
        requests: list[Request] = self._up.requests(since=self._seen)
        self._seen = max([self._seen, *(request["n"] for request in requests)])
        return requests

    async def _compare(self, row: Message, facts: dict[str, Any], request: Request) -> None:
        line = next(line for line in self._lines if row.model.startswith(f"{line.provider}:"))
        branch = await in_thread(store.load_branch)(row.id)
        items = [branch.items.get(each.id, []) for each in branch.messages]
        items[-1] = [item for item in items[-1] if item.round < facts["round"]]
        wanted = [thought for said in items for thought in may_go_back(said, line, row.model)]
        assert facts["replayed"] == len(wanted), facts
        sent = thoughts_in(request["body"], line.dialect)
        if line.dialect == "chat":
            assert [words for words in sent if words] == in_messages(items, wanted)
        elif facts["dropped"] or repeats_an_id(wanted):
            assert list(map(bare, sent)) == [bare(thought.wire) for thought in wanted]
        else:
            assert sent == [thought.wire for thought in wanted]

    async def decide(self, on: Stage, row: Message, *decisions: Decision) -> Message:
        """Each word for the next call that waits; the last for all others, until the answer is complete."""
        words = list(decisions)
        while (row := await self.check(on, row)).status == Status.WAITING:
            asks = store.asks_of(row)
            calls = [item for item in await on.items(row.id) if item.key in asks]
            word, chosen = (words.pop(0), calls[:1]) if len(words) > 1 else (words[0], calls)
            row = await decide(on, row, word, chosen)
        assert row.status == Status.COMPLETE, row.metadata.get("ended")
        return row


async def decide(on: Stage, row: Message, word: Decision, calls: Iterable[Item]) -> Message:
    answers = {call.key: (word, on.engine.shown_hash(call)) for call in calls}
    await on.engine.decide(row.id, answers, by=on.conversation.owner)
    return await on.end(row.id)


def notes_of(request: Request, facts: dict[str, Any]) -> list[str]:
    """Without what is told of a dropped thought by a server that knows its thoughts by what was said before them."""
    told = "reasoning_content differs from what was sent in this conversation"
    return [note for note in request["notes"] if not (facts["dropped"] and note.endswith(told))]


def may_go_back(items: Sequence[Item], line: Line, model: str) -> list[Item]:
    """Of one message: finished thoughts of this very model that its server takes."""
    called = any(item.kind is Kind.TOOL_CALL for item in items)
    if line.suffix in TAKES_NONE or (line.suffix in TAKES_THOSE_OF_TOOL_TURNS and not called):
        return []
    thoughts = [item for item in items if item.kind is Kind.REASONING and not item.cut]
    return [item for item in thoughts if item.wire and f"{item.provider}:{item.model}" == model]


def in_messages(messages: Sequence[Sequence[Item]], thoughts: Sequence[Item]) -> list[str]:
    """A chat completion is one message, in which all its thoughts are one."""
    wanted = {id(thought) for thought in thoughts}
    joined = [
        "".join(item.text for item in said if id(item) in wanted)
        for items in messages
        for _, said in groupby(items, key=lambda item: item.round)
    ]
    return [words for words in joined if words]


def repeats_an_id(thoughts: Sequence[Item]) -> bool:
    ids = [thought.wire.get("id") for thought in thoughts if "id" in thought.wire]
    return len(set(ids)) < len(ids)


def bare(wire: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wire.items() if name != "id"}


def assert_one_begins_the_next(requests: Sequence[Request]) -> None:
    """Byte for byte: the history of a request opens that of the next one, and all beside the history is the same."""
    for earlier, later in pairwise(_unmarked(request["body"]) for request in requests):
        history = "input" if "input" in later else "messages"
        said, says = encode(earlier.pop(history)), encode(later[history])
        assert says.startswith(said[:-1] + b",")
        assert encode(earlier) == encode({name: later[name] for name in later if name != history})


def _unmarked(value: Any) -> Any:
    """Without the marks for the cache, which move on with the conversation and do not count as content."""
    if isinstance(value, dict):
        return {name: _unmarked(inner) for name, inner in value.items() if name != "cache_control"}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value
