"""Proves with a real model that its thoughts go back to it: it hides a number in a thought, and tells of it later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.contrib.auth.models import User

from chatapp.core.items import FROM_MODEL, Item, Kind
from chatapp.core.plural import many
from chatapp.core.recorded import Recorded, Round
from chatapp.management.remainders import (
    ASKED,
    EDITED,
    HIDE,
    Remainders,
    number_behind,
    question,
    read,
    stands_in,
)
from chatapp.store import Started, in_thread, load_answer
from chatapp.store.models import Message, Status
from chatapp.turns.engine import Engine

TOOL = "clock"


class ReplayVerdict(StrEnum):
    CARRIED = "carried"
    NOT_CARRIED = "not carried"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one question."""

    row: Message
    items: Sequence[Item]

    @property
    def rounds(self) -> tuple[Round, ...]:
        return Recorded(self.row.metadata).rounds

    @property
    def thoughts(self) -> int:
        return sum(item.kind is Kind.REASONING for item in self.items)

    @property
    def called(self) -> bool:
        return any(item.kind is Kind.TOOL_CALL for item in self.items)

    @property
    def words(self) -> str:
        return "\n".join(item.text for item in self.items if item.kind is Kind.ASSISTANT_MESSAGE)

    @property
    def in_the_open(self) -> str:
        """All it said outside of its thoughts."""
        return "\n".join(item.text for item in self.items if item.kind in FROM_MODEL - {Kind.REASONING})


class NoAnswer(Exception):
    """Says in words why there is none."""


class Proof:
    """One conversation of four answers. `tell` takes a line for the person."""

    def __init__(
        self, engine: Engine, *, model: str, effort: str, author: User, tell: Callable[[str], object]
    ) -> None:
        self._engine, self._model, self._effort = engine, model, effort
        self._author, self._tell = author, tell
        self._running: UUID | None = None
        self.conversation: UUID | None = None

    async def run(self) -> ReplayVerdict:
        """UnknownModel or Refused where nothing could be asked at all."""
        try:
            verdict, why = await self._prove()
        except NoAnswer as error:
            verdict, why = ReplayVerdict.CANNOT_TELL, str(error)
        self._tell(why)
        self._tell(f"Verdict: {verdict}.")
        return verdict

    async def stop(self) -> None:
        """What still runs of it."""
        if self._running:
            await self._engine.stop(self._running, by="terminal")

    async def _prove(self) -> tuple[ReplayVerdict, str]:
        hidden = await self._ask("It hides a number", HIDE)
        if not hidden.thoughts:
            return ReplayVerdict.CANNOT_TELL, "It sent no thought that could go back."
        asked = await self._ask("It is asked for remainders", question(ASKED), below=hidden)
        edited = await self._ask("The question is edited", question(EDITED), below=hidden)
        again = await self._again("The edited question is asked again", edited)
        said = [read(asked.words, ASKED), read(edited.words, EDITED), read(again.words, EDITED)]
        return verdict_on(hidden, (asked, edited, again), said)

    async def _ask(self, title: str, words: str, *, below: Answered | None = None) -> Answered:
        started = await self._engine.ask(
            self.conversation,
            words,
            parent=below.row.id if below else None,
            author=self._author,
            model=self._model,
            effort=self._effort,
            tools=[TOOL],
        )
        return await self._answered(title, started)

    async def _again(self, title: str, answer: Answered) -> Answered:
        assert answer.row.parent_id
        asking = self._engine.ask_again(
            answer.row.parent_id, author=self._author, model=self._model, effort=self._effort
        )
        return await self._answered(title, await asking)

    async def _answered(self, title: str, started: Started) -> Answered:
        self.conversation, self._running = started.conversation, started.answer
        self._tell(f"{title}.")
        await self._engine.runner.wait(started.answer)
        self._running = None
        found = await in_thread(load_answer)(started.answer)
        answer = Answered(found.row, found.items)
        for line in lines_of(answer):
            self._tell(f"  {line}")
        if answer.row.status != Status.COMPLETE:
            sentence = answer.row.metadata.get("ended", {}).get("sentence", "")
            raise NoAnswer(sentence or f"The answer was {answer.row.status}.")
        return answer


def lines_of(answer: Answered) -> Iterator[str]:
    """What went out with each request, and whether a tool was called between them."""
    for number, sent in enumerate(answer.rounds, start=1):
        left = [f"{many(times, 'thought')} left out ({why})" for why, times in sent.dropped.items() if times]
        went = f"{many(sent.replayed, 'thought')} went back" if sent.replayed else "no thought went back"
        repaired = [f"asked once more ({how})" for how in sent.repaired]
        yield f"Request {number}: {', '.join([went, *left, *repaired])}."
    if answer.row.status == Status.COMPLETE and not answer.called:
        yield "It called no tool."


def verdict_on(
    hidden: Answered, later: Sequence[Answered], said: Sequence[Remainders | None]
) -> tuple[ReplayVerdict, str]:
    """The verdict, and what it rests on. `said`: the remainders that the later answers tell, None where one tells none."""
    told = [remainders for remainders in said if remainders is not None]
    number = number_behind(told) if len(told) == len(said) else None
    if number is not None and stands_in(number, hidden.in_the_open):
        return (
            ReplayVerdict.CANNOT_TELL,
            f"The number {number} was said in the open, so that it proves nothing.",
        )
    if not _all_went_back(hidden, later):
        agree = "agree" if number is not None else "do not agree"
        return (
            ReplayVerdict.NOT_CARRIED,
            f"Not all thoughts went back with every request. The answers {agree}.",
        )
    if len(told) < len(said):
        return ReplayVerdict.CANNOT_TELL, "An answer does not tell the remainders it was asked for."
    if number is None:
        return (
            ReplayVerdict.NOT_CARRIED,
            "All thoughts went back, but the answers do not come from one number.",
        )
    return ReplayVerdict.CARRIED, f"All thoughts went back, and one number lies behind all answers: {number}."


def _all_went_back(hidden: Answered, later: Sequence[Answered]) -> bool:
    sent = [sent for answer in later for sent in answer.rounds]
    carried = all((each.replayed or 0) >= hidden.thoughts for each in sent)
    return carried and not any(each.dropped for each in (*hidden.rounds, *sent))
