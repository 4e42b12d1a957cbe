"""What it costs to read a long branch and to make a request of it: queries, the fold, the body, the bytes.

Run it with `python -m bench.fold`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext

from bench import fresh as fresh
from chatapp import store
from chatapp.core.history import Target, fold
from chatapp.core.items import Kind
from chatapp.core.verbatim import encode
from chatapp.providers import WIRES
from chatapp.providers.base import Ask, Endpoint, ToolSpec
from chatapp.providers.http import HttpProvider
from chatapp.store import Branch
from chatapp.store.models import Conversation, Message, Role
from chatapp.store.models import Item as Row

MOST_MS = 30
QUESTION = "How would you lay the pipes under the garden, and why? " * 3
THOUGHTS = "First the slope: two centimetres for each metre, or it silts up. Then the frost. " * 8
ANSWER = "Lay them **80 cm** deep, with a slope of 2 %, and a shaft at each bend.\n\n" * 16
SEALED = "gAAAAABo" + "kF3vQx9_" * 200
TOOL = ToolSpec(name="slope", description="The slope of a pipe.", schema={"type": "object", "properties": {}})
# Every fifth answer calls a tool first.
CALLS_EACH = 5


@dataclass(frozen=True)
class Maker:
    """Who is asked, and how its wire words what goes back."""

    model: str
    provider: HttpProvider
    thought: Callable[[str], dict[str, Any]]
    text: Callable[[str], dict[str, Any]]
    call: Callable[[str], dict[str, Any]]


def _responses_thought(key: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": THOUGHTS}]
    return {
        "id": f"rs_{key}",
        "type": "reasoning",
        "encrypted_content": SEALED,
        "summary": summary,
        "content": [],
    }


def _responses_text(key: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}]
    return {
        "id": f"msg_{key}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def _responses_call(key: str) -> dict[str, Any]:
    words = {"call_id": f"call_{key}", "name": "slope", "arguments": '{"metres":12}', "status": "completed"}
    return {"id": f"fc_{key}", "type": "function_call", **words}


def _chat_call(key: str) -> dict[str, Any]:
    function = {"name": "slope", "arguments": '{"metres":12}'}
    return {"id": f"call_{key}", "type": "function", "function": function}


def maker(name: str, dialect: str, model: str, **wires: Callable[[str], dict[str, Any]]) -> Maker:
    endpoint = Endpoint(name=name, dialect=dialect, base_url="http://127.0.0.1:1")
    return Maker(f"{name}:{model}", HttpProvider(endpoint, WIRES[dialect]), **wires)


MAKERS = (
    maker(
        "openai",
        "responses",
        "gpt-5",
        thought=_responses_thought,
        text=_responses_text,
        call=_responses_call,
    ),
    maker(
        "anthropic",
        "messages",
        "claude-opus-5",
        thought=lambda _: {"type": "thinking", "thinking": THOUGHTS, "signature": SEALED},
        text=lambda _: {"type": "text", "text": ANSWER},
        call=lambda key: {"type": "tool_use", "id": f"call_{key}", "name": "slope", "input": {"metres": 12}},
    ),
    maker(
        "deepseek",
        "chat",
        "deepseek-v4",
        thought=lambda _: {"reasoning_content": THOUGHTS},
        text=lambda _: {"content": ANSWER},
        call=_chat_call,
    ),
)


class Writer:
    """Fills a conversation with finished turns, in few queries."""

    def __init__(self, by: Maker) -> None:
        user, _ = get_user_model().objects.get_or_create(username="bench")
        self.conversation = store.start_conversation(user, tools=["slope"], instructions="Be brief.")
        self.by = by
        self.messages: list[Message] = []
        self.rows: list[Row] = []

    def branch(self, turns: int, *, at: UUID | None = None, lean: bool = False) -> UUID:
        """So many questions with their answers below a message; the last answer. `lean`: no calls."""
        for n in range(turns):
            at = self._answer(self._question(at), n, lean=lean)
        assert at
        return at

    def save(self) -> None:
        Message.objects.bulk_create(self.messages, 500)
        Row.objects.bulk_create(self.rows, 500)
        Conversation.objects.filter(pk=self.conversation.pk).update(next_order=len(self.messages))

    def _message(self, parent: UUID | None, role: Role, **more: Any) -> Message:
        order = len(self.messages)
        row = Message(conversation=self.conversation, parent_id=parent, order=order, role=role, **more)
        self.messages.append(row)
        return row

    def _question(self, parent: UUID | None) -> UUID:
        question = self._message(parent, Role.USER, next_seq=1)
        self.rows.append(Row(message=question, seq=0, key="part-0", kind=Kind.USER_MESSAGE, text=QUESTION))
        return question.id

    def _answer(self, question: UUID, n: int, *, lean: bool) -> UUID:
        key = uuid4().hex
        items = self._called(key) if n % CALLS_EACH == 0 and not lean else []
        said = [self._text(key, round=int(bool(items)))]
        items += [self._thought(key, round=said[0].round), *said]
        metadata = {
            "rounds": [{"round": 0, "model": self.by.model, "usage": {}, "replayed": n, "dropped": {}}]
        }
        answer = self._message(
            question, Role.ASSISTANT, model=self.by.model, next_seq=len(items), metadata=metadata
        )
        for seq, item in enumerate(items):
            item.message, item.seq = answer, seq
        self.rows += items
        return answer.id

    def _called(self, key: str) -> list[Row]:
        call = self._item(
            f"fc_{key}", Kind.TOOL_CALL, '{"metres":12}', self.by.call(key), call_id=f"call_{key}"
        )
        result = Row(key="part-2", kind=Kind.TOOL_RESULT, text="24 cm", call_id=call.call_id, name="slope")
        return [self._thought(f"{key}0"), call, result]

    def _thought(self, key: str, **more: Any) -> Row:
        return self._item(f"rs_{key}", Kind.REASONING, THOUGHTS, self.by.thought(key), **more)

    def _text(self, key: str, **more: Any) -> Row:
        return self._item(f"msg_{key}", Kind.ASSISTANT_MESSAGE, ANSWER, self.by.text(key), **more)

    def _item(self, key: str, kind: Kind, text: str, wire: Any, **more: Any) -> Row:
        model = self.by.provider.model(self.by.model.partition(":")[2])
        by = {"provider": model.provider, "dialect": model.dialect, "model": model.name}
        name = "slope" if kind is Kind.TOOL_CALL else ""
        return Row(key=key, kind=kind, text=text, wire=wire, name=name, **by, **more)


def written(by: Maker, turns: int, **more: Any) -> UUID:
    """The open answer below so many turns."""
    writer = Writer(by)
    leaf = writer.branch(turns, **more)
    writer.save()
    return leaf


def times(work: Callable[[], Any], runs: int) -> float:
    """The median of several runs, in milliseconds of the clock on the wall."""
    found = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1000)
    return median(found)


def queries(leaf: UUID) -> int:
    with CaptureQueriesContext(connection) as seen:
        store.load_branch(leaf)
    return len(seen)


def count(branch: Branch) -> tuple[int, int]:
    return len(branch.messages), sum(map(len, branch.items.values()))


def ask_for(by: Maker, branch: Branch) -> Ask:
    model = by.provider.model(by.model.partition(":")[2])
    contract = by.provider.contract(model)
    target = Target(model.provider, model.dialect, model.name, contract)
    history = fold(branch.log(), target)
    return Ask(
        model=model,
        contract=contract,
        history=history,
        conversation="c",
        instructions="Be brief.",
        tools=[TOOL],
    )


def measure(by: Maker, turns: int, runs: int) -> float:
    """Prints one line; the milliseconds of fold and body together."""
    leaf = written(by, turns)
    branch = store.load_branch(leaf)
    wire, ask = by.provider.wire, ask_for(by, branch)
    assert ask.history.replayed and not ask.history.dropped, ask.history.dropped
    log = branch.log()
    target = Target(ask.model.provider, ask.model.dialect, ask.model.name, ask.contract)
    body = wire.body(ask)
    figures = [
        times(lambda: store.load_branch(leaf), max(3, runs // 4)),
        times(branch.log, runs),
        times(lambda: fold(log, target), runs),
        times(lambda: wire.body(ask), runs),
        times(lambda: encode(body), runs),
    ]
    sizes = "{:6} {:6}".format(*count(branch))
    cells = " ".join(f"{ms:8.1f}" for ms in figures)
    print(f"{ask.model.dialect:10} {sizes} {queries(leaf):8} {cells} {len(encode(body)) / 1e6:8.2f}")
    return figures[2] + figures[3]


def per_wire(runs: int) -> float:
    print(
        f"{'wire':10} {'msgs':>6} {'items':>6} {'queries':>8} {'load ms':>8} {'log':>8} {'fold':>8} {'body':>8}",
        end="",
    )
    print(f" {'encode':>8} {'MB':>8}")
    return max(measure(by, 500, runs) for by in MAKERS)


def small_branch(runs: int) -> int:
    leaf = written(MAKERS[0], 200, lean=True)
    asked, ms = queries(leaf), times(lambda: store.load_branch(leaf), runs)
    print(
        "\n{} messages with {} items:".format(*count(store.load_branch(leaf))),
        f"{asked} queries, {ms:.1f} ms",
    )
    return asked


def large_conversation(runs: int) -> None:
    """The same short branch alone, and among 10,000 messages; then one branch of 10,000."""
    alone = written(MAKERS[0], 50)
    writer = Writer(MAKERS[0])
    among = writer.branch(50)
    root = writer.messages[0].id
    for _ in range(99):
        writer.branch(50, at=writer._answer(root, 1, lean=True), lean=True)
    writer.save()
    pairs = [
        (times(lambda: store.load_branch(alone), 1), times(lambda: store.load_branch(among), 1))
        for _ in range(runs)
    ]
    one, other = (median(column) for column in zip(*pairs, strict=True))
    print(
        f"\n100 messages alone: {one:.1f} ms; as a branch among {len(writer.messages)}: {other:.1f} ms,",
        end=" ",
    )
    print(f"ratio {median(b / a for a, b in pairs):.2f}")
    long = written(MAKERS[0], 5000, lean=True)
    print(f"one branch of {len(store.load_branch(long).messages)}:", end=" ")
    print(f"{queries(long)} queries, {times(lambda: store.load_branch(long), 3):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    runs = parser.parse_args().runs
    slowest = per_wire(runs)
    asked = small_branch(runs)
    large_conversation(runs)
    print(f"\nfold and body: {slowest:.1f} ms (at most {MOST_MS}); queries: {asked} (at most 3)")
    sys.exit(slowest > MOST_MS or asked > 3)


if __name__ == "__main__":
    main()
