"""Chooses what the demo says in one response: thoughts, calls and words in their order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from ...core.history import GO_ON, History, Question, Response, Result, Step
from ...core.items import Item, Kind, Outcome
from ...core.plural import many
from ..base import OFF, ProviderError, ToolSpec, Trouble, Wishes
from .calling import Call, any_calls, calls, filled, own_name
from .speech import Piece
from .topics import Topic, topic_of, topics

THOUGHTS = {OFF: 0, "low": 1, "medium": 2, "high": 3}
USUAL = 2
QUOTE_CAP, FIRST_CAP, RESULT_CAP = 80, 160, 2000
MOST_ANSWERS = 3
CALLING, FAILING, GENERAL = "calling", "failing", "general"

FAILS = "The demo failed, because you asked it to. Press Retry, and it answers."
FAILS_RAW = '{"error": {"type": "demo_failure", "message": "A provider\'s own words would stand here."}}'
NOTHING_MORE = "There is nothing more to say here: I am a demo, and this answer was at its end."


@dataclass(frozen=True, slots=True)
class Reply:
    """`again`: how often this very question was asked before. `program`: what a program wishes, where one asks."""

    history: History
    tools: Sequence[ToolSpec]
    effort: str
    again: int
    program: Wishes | None = None

    def pieces(self) -> list[Piece]:
        """One response. It goes on where it was cut, if it was."""
        steps = self.history.steps
        cut = _texts_of(steps[-2:], Kind.ASSISTANT_MESSAGE) if steps[-1:] == (Question(GO_ON),) else []
        return self._rest(cut[-1]) if cut else self._whole()

    def _rest(self, cut: str) -> list[Piece]:
        """What was still to come when it was cut, by saying it all again as far as that."""
        for again in range(self.again, self.again + MOST_ANSWERS):
            pieces = replace(self, again=again)._whole()
            for n, piece in enumerate(pieces):
                rest = piece.text.removeprefix(cut) if isinstance(piece, Item) else ""
                if rest and piece == _answer_item(cut + rest):
                    return [_answer_item(rest), *pieces[n + 1 :]]
        return [_answer_item(NOTHING_MORE)]

    def _whole(self) -> list[Piece]:
        steps = self.history.steps[asked_at(self.history) :]
        if results := [result for step in steps if isinstance(step, Response) for result in step.results]:
            return self._with_results(results)
        if self.program:
            return self._for_a_program(self.program)
        if named := self._calls(named=True):
            return named
        topic = topic_of(self._question)
        return self._about(topic) if topic else self._calls(named=False) or self._about(topics()[GENERAL])

    def _for_a_program(self, wishes: Wishes) -> list[Piece]:
        tools = [tool for tool in self.tools if not wishes.call or tool.name == wishes.call]
        if calling := self._called(any_calls(self._question, tools)):
            return calling
        if wishes.form:
            text = filled(wishes.form.schema or {}, self._question, [_in_a_line(self._question)])
            thoughts = map(self._filled, topics()[GENERAL].thoughts[: self._most])
            return [*_thought_items(thoughts), _answer_item(json.dumps(text))]
        return self._about(topic_of(self._question) or topics()[GENERAL])

    def _calls(self, *, named: bool) -> list[Piece]:
        return self._called(calls(self._question, self.tools, named=named))

    def _called(self, calls: Iterable[Call]) -> list[Piece]:
        """After one half of the thoughts; the other is kept for their results."""
        found = [
            Item(
                key="",
                kind=Kind.TOOL_CALL,
                name=call.name,
                text=json.dumps(call.arguments, ensure_ascii=False),
            )
            for call in calls
        ]
        return [*_thought_items(topics()[CALLING].thoughts[: (self._most + 1) // 2]), *found] if found else []

    def _with_results(self, results: Sequence[Result]) -> list[Piece]:
        topic = topics()[CALLING]
        told = "\n\n".join(map(_told, results))
        done = any(result.outcome == Outcome.DONE for result in results)
        said = self._chosen(topic).replace("«results»", told) if done else told
        return [*_thought_items(topic.thoughts[2:][: self._most // 2]), _answer_item(said)]

    def _about(self, topic: Topic) -> list[Piece]:
        """With most effort the last thought comes after the first paragraph, as it does with models that think between."""
        thoughts = _thought_items(map(self._filled, topic.thoughts[: self._most]))
        if topic.name == FAILING and not self.again:
            return [*thoughts, ProviderError(Trouble.BROKEN, FAILS, FAILS_RAW)]
        answer = self._filled(self._chosen(topic))
        opening, gap, rest = answer.partition("\n\n")
        if len(thoughts) < len(topic.thoughts) or not gap:
            return [*thoughts, _answer_item(answer)]
        return [*thoughts[:-1], _answer_item(opening), thoughts[-1], _answer_item(rest)]

    @property
    def _most(self) -> int:
        return THOUGHTS.get(self.effort, USUAL)

    @property
    def _question(self) -> str:
        step = next(iter(self.history.steps[asked_at(self.history) :]), None)
        return step.text if isinstance(step, Question) else ""

    def _chosen(self, topic: Topic) -> str:
        """The same question always begins with the same answer, and goes through all of them when it is asked again."""
        first = crc32(self._question.encode(errors="replace"))
        return topic.answers[(first + self.again) % len(topic.answers)]

    def _filled(self, text: str) -> str:
        tools = ", ".join(f"*{own_name(tool.name)}*" for tool in self.tools) or "none"
        text = text.replace("«tools»", tools).replace("«memory»", self._memory())
        # It comes last: what stands in it is nobody's to fill.
        return text.replace("«question»", _in_a_line(self._question) or "…")

    def _memory(self) -> str:
        """Counts what really came back."""
        kept = _texts_of(self.history.steps[: asked_at(self.history)], Kind.REASONING)
        count = many(len(kept), "thought") if kept else "no thoughts"
        said = f"With your question came **{count} of earlier turns**."
        if kept:
            said += f" The first of them begins:\n\n> {' '.join(kept[0].split())[:FIRST_CAP]}"
        dropped = [f"{number} ({why})" for why, number in sorted(self.history.dropped.items())]
        return f"{said}\n\nLeft out on the way: {', '.join(dropped)}." if dropped else said


def asked_at(history: History) -> int:
    """Where the question stands that is being answered now."""
    steps = history.steps
    questions = (n for n, step in enumerate(steps) if isinstance(step, Question) and step.text != GO_ON)
    return max(questions, default=len(steps))


def _texts_of(steps: Sequence[Step], kind: Kind) -> list[str]:
    parts = (part for step in steps if isinstance(step, Response) for part in step.parts)
    return [part.item.text for part in parts if part.item.kind is kind]


def _thought_items(texts: Iterable[str]) -> list[Item]:
    return [Item(key="", kind=Kind.REASONING, text=text) for text in texts]


def _answer_item(text: str) -> Item:
    return Item(key="", kind=Kind.ASSISTANT_MESSAGE, text=text)


def _in_a_line(question: str) -> str:
    """In one short line, in which nothing is Markdown."""
    line = re.sub(r"[\s`*_<>\[\]|$#\\]+", " ", question).strip()
    return line if len(line) <= QUOTE_CAP else line[:QUOTE_CAP].rsplit(" ", 1)[0] + " …"


def _told(result: Result) -> str:
    tool = f"tool *{own_name(result.name)}*"
    match Outcome(result.outcome):
        case Outcome.DONE:
            return f"The {tool} says: {_result_shown(result.text)}"
        case Outcome.FAILED:
            return f"The {tool} could not do it. It says: {_result_shown(result.text)}"
        case Outcome.DENIED:
            return f"You did not allow the {tool}, so I have no result."
        case Outcome.STOPPED | Outcome.UNKNOWN:
            return f"The {tool} was interrupted, so I have no result."


def _result_shown(text: str) -> str:
    """A result is shown as it is, whatever is in it."""
    if len(text) <= 100 and not set(text) & set("`\n\r"):
        return f"`{text}`" if text.strip() else "nothing"
    cut = text[:RESULT_CAP] + (" …" if len(text) > RESULT_CAP else "")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", cut)), default=0))
    return f"\n\n{fence}text\n{cut}\n{fence}\n"
