"""Conversations that programs hold through a door: questions, calls that they make, and answers that they keep in their own way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import Any

from tests.support.providers import LINES, Line

from .doors import Call, Door, Json, Told, Tool
from .habits import Habit
from .house import Answered, Program
from .replayed import assert_replayed, seals_in, shows_thoughts

# The other one takes an answer without thoughts for a thought.
SPEAKING = [line for line in LINES if line.suffix != "@think-noopen"]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (Tool("get_weather", CITY), Tool("get_time"), Tool("search"))


def thinks(words: str) -> Json:
    """Nothing that is thought was thought before; what is said of it may have been said to somebody else."""
    return {"reasoning": {"summary": f"{words} about {{{{last_user}}}} in request {{{{request}}}}"}}


def calls(name: str, **args: Any) -> Json:
    return {"tool": {"name": name, "args": args}}


WEATHER = calls("get_weather", city="Zürich", at={"z": 1.50, "a": [None, 2**53 + 1, "\\u0041"], "": {}})
# On the Messages API the strictest there is: each thought is bound to every byte before it.
BOUND = {"preserved_thinking": True, "default_thinking": "adaptive", "only_adaptive": True}
SCENARIO: Json = {
    "anthropic": BOUND,
    "turns": [
        {"items": [thinks("Plan"), WEATHER, calls("get_time")]},
        {"items": [thinks("Look"), {"text": "I look  it up: "}, calls("search", q="Why?", n=3)]},
        {"items": [thinks("Sum"), thinks("Check"), {"text": "So: {{tool_output}}, {{last_user}}\n\n```py\n1\n```\n"}]},
        {"items": [thinks("One"), calls("get_time"), thinks("Two"), calls("search", q="ü")]},
        {"items": [{"text": "Done: {{last_user}}"}]},
        {"items": [{"reasoning": {"text": "Hidden in request {{request}}", "redacted": True}}, calls("get_time")]},
        {"items": [thinks("Again"), {"text": " It is {{tool_output}}. "}]},
        {"items": [thinks("At once"), {"text": "Yes."}]},
    ],
}  # fmt: skip
MOST_ROUNDS = 6


After = Callable[["Talk"], Awaitable[None]]


class Talk:
    """One person's conversation with one model, by a program that keeps answers in its own way. `after_each`: request."""

    def __init__(
        self,
        up: Any,
        program: Program,
        door: Door,
        line: Line,
        scenario: str,
        habit: Habit,
        *,
        after_each: After | None = None,
    ) -> None:
        self.program, self.door, self.model = program, door, line.model(scenario)
        self._up, self._line, self._habit = up, line, habit
        self._answers, self._after_each = 0, after_each
        self.told: list[Told] = []
        self.requests: list[Json] = []

    async def ask(self, words: str, *, stream: bool) -> int:
        """Until nothing is called any more. How many requests that took."""
        self.told.append(self.door.question(words))
        for round in range(1, MOST_ROUNDS):
            called = await self._round(stream=stream)
            if not called:
                return round
            self.told.append(self.door.results({call.id: f"{call.name} says {words}" for call in called}))
        raise AssertionError("It calls again and again.")

    async def _round(self, *, stream: bool) -> list[Call]:
        rows = [row for told in self.told for row in told]
        answered = await self.program.ask(self.door, self.door.body(self.model, rows, TOOLS, stream=stream))
        (request,) = self.last_requests()
        self._judge(request, answered)
        self.told.append(self._habit.change(self.door, self.door.answer(answered.whole), self._answers))
        self._answers += 1
        if self._after_each:
            await self._after_each(self)
        return self.door.calls(self.told[-1])

    def last_requests(self) -> list[Json]:
        """Those that the provider had since it was last asked for them."""
        rows: list[Json] = self._up.new_requests()
        return rows

    def _judge(self, request: Json, answered: Answered) -> None:
        assert_replayed(self._line, self.requests, request)
        told = answered.reasoning
        assert (told["restored"], told["missed"]) == (self._left_out(), 0), told
        self.requests.append(request)

    def _left_out(self) -> int:
        """Thoughts of those answers of which the program sends none."""
        answers = [told for told in self.told if self.door.is_answer(told)]
        return sum(
            _thoughts_of(self._line, request)
            for request, answer in zip(self.requests, answers, strict=True)
            if not self.door.has_thoughts(answer)
        )

    def call_ids(self) -> list[str]:
        return [call.id for told in self.told if self.door.is_answer(told) for call in self.door.calls(told)]

    def seals(self) -> set[str]:
        """Of all that was said to it."""
        return {seal for request in self.requests for seal in seals_in(request["said"])}

    def sent_seals(self) -> set[str]:
        return {seal for request in self.requests for seal in seals_in(request["body"])}


def _thoughts_of(line: Line, request: Json) -> int:
    """Of a chat completion those that stand beside each other are one, and tags open its words alone."""
    if not shows_thoughts(line, request["said"]):
        return 0
    kinds = [kind for item in SCENARIO["turns"][request["turn"]]["items"] for kind in item]
    runs = [kind for kind, _ in groupby(kinds)] if line.dialect == "chat" else kinds
    return min(runs.count("reasoning"), 1 if "think-" in line.suffix else len(runs))
