"""What a program told of its history becomes the log of a branch, with what models really wrote in the place of what it sent back of them.

Which thoughts may go back is not decided here: `core/history` does, as for the chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.attached import told, words_of
from ...core.history import History, Logged, Repair, Response
from ...core.items import Item, Kind, Outcome, clean
from ..doors.asked import (
    Said,
    SaidBy,
    Told,
    ToldAnswer,
    ToldCall,
    ToldOther,
    ToldResult,
    ToldThought,
    ToldWords,
)
from ..doors.door import invalid
from ..doors.handed import HandedPlace, Sealing, place_in, place_of
from .digests import Chain, bare, same_arguments, spoken
from .kept import KeptAnswer, ModelScope

CHAT = "chat"
ORPHAN = "The result for the call '{}' answers no call in this request."


@dataclass(frozen=True, slots=True)
class Names:
    """By what the answers of a history may be found: the secrets in the ids that each still has, and its digest."""

    secrets: list[frozenset[str]] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def all_secrets(self) -> set[str]:
        return {secret for each in self.secrets for secret in each}


def names_of(history: Sequence[Told], chain: Chain) -> Names:
    """`chain` has the whole history afterwards."""
    names = Names()
    for each in history:
        chain.add(each)
        if isinstance(each, ToldAnswer):
            names.secrets.append(frozenset(place.secret for place in _places(each)))
            names.digests.append(chain.digest())
    return names


def _places(answer: ToldAnswer) -> Iterator[HandedPlace]:
    for part in answer.parts:
        match part:
            case ToldThought():
                places = (place_of(part.id), place_in(part.seal))
            case ToldWords() | ToldOther():
                places = (place_of(part.id), None)
            case ToldCall():
                places = (place_of(part.id), place_of(part.item_id))
        yield from (place for place in places if place)


class Found:
    """What was kept of an owner's answers, by either name."""

    def __init__(self, kept: Sequence[KeptAnswer]) -> None:
        self._by_secret = {each.secret: each for each in kept}
        self._by_digest = {each.digest: each for each in kept}

    def of(self, secrets: frozenset[str], digest: str) -> KeptAnswer | None:
        known = (self._by_secret[secret] for secret in secrets if secret in self._by_secret)
        return next(known, None) or self._by_digest.get(digest)


@dataclass(slots=True)
class Restored:
    """`restored`: thoughts that the program had left out; `missed`: answers of which nothing is known here any more. `kept`: what was
    found of each answer, in their order. `made`: the items that each entry of the history became, behind its `opening`."""

    log: list[Logged] = field(default_factory=list)
    instructions: str = ""
    restored: int = 0
    missed: int = 0
    kept: list[KeptAnswer | None] = field(default_factory=list)
    made: dict[int, list[Item]] = field(default_factory=dict)
    opening: int = 0
    # Of which response each thought is, by what it is as an object: two may be alike.
    secrets: dict[int, str] = field(default_factory=dict)

    def sent_back(self, history: History | None) -> set[str]:
        """The responses of which thoughts were in what was sent."""
        if not history or not self.secrets:
            return set()
        parts = (part for step in history.steps if isinstance(step, Response) for part in step.parts)
        return {self.secrets[id(part.item)] for part in parts if id(part.item) in self.secrets}


def restored(
    history: Sequence[Told], names: Names, found: Found, *, scope: ModelScope, sealing: Sealing, dialect: str
) -> Restored:
    """`dialect`: in which the program told it."""
    return _Restoring(names, found, scope, sealing, dialect).of(history)


class _Restoring:
    def __init__(self, names: Names, found: Found, scope: ModelScope, sealing: Sealing, dialect: str) -> None:
        self._names, self._found, self._scope, self._sealing = names, found, scope, sealing
        self._told_in, self._alike = dialect, dialect == scope.dialect
        self._made = Restored()
        self._messages: list[_Message] = []
        # Where the call of each id stands that the program knows, and how its model called it.
        self._calls: dict[str, tuple[_Message, str, int]] = {}

    def of(self, history: Sequence[Told]) -> Restored:
        opening = self._made.opening = _opening(history)
        self._made.instructions = "\n\n".join(
            said.text for said in history[:opening] if isinstance(said, Said)
        )
        for place, each in enumerate(history[opening:], opening):
            match each:
                case Said():
                    items = [_said(each)]
                    self._messages.append(_Message("user", items))
                case ToldAnswer():
                    items = self._answer(each)
                case ToldResult():
                    items = self._result(each)
            self._made.made[place] = items
        self._answering()
        self._made.log = [each.logged() for each in self._messages]
        return self._made

    def _answering(self) -> _Message:
        """The answer that is being told."""
        if not self._messages or self._messages[-1].role != "assistant":
            self._messages.append(_Message("assistant"))
        return self._messages[-1]

    def _answer(self, answer: ToldAnswer) -> list[Item]:
        at = len(self._made.kept)
        kept = self._found.of(self._names.secrets[at], self._names.digests[at])
        if kept and not _is_same(answer, kept):
            kept = None
        self._made.kept.append(kept)
        message = self._answering()
        number = message.next_round()
        if kept:
            items = [replace(item, round=number) for item in self._in_scope(kept)]
            thoughts = (item for item in items if item.kind is Kind.REASONING)
            self._made.secrets.update((id(item), kept.secret) for item in thoughts)
            message.repaired[number] = (
                f"{kept.scope.provider}:{kept.scope.model}",
                [Repair(how) for how in kept.repaired],
            )
            self._made.restored += self._left_out(answer, kept)
        else:
            self._made.missed += 1
            items = list(self._as_told(answer, number))
        message.add(items)
        self._note_calls(answer, kept, message, number)
        return items

    def _left_out(self, answer: ToldAnswer, kept: KeptAnswer) -> int:
        """How many of its thoughts the program does not tell. A chat completion tells all of them in one; what was cut goes to nobody."""
        whole = sum(not thought.cut for thought in kept.thoughts)
        sent = sum(isinstance(part, ToldThought) for part in answer.parts)
        return 0 if sent and self._told_in == CHAT else max(0, whole - sent)

    def _in_scope(self, kept: KeptAnswer) -> Sequence[Item]:
        """What another place made than the one that is asked keeps its words alone, though both are called alike."""
        if kept.scope.destination == self._scope.destination or kept.scope.provider != self._scope.provider:
            return kept.items
        return [replace(item, wire=None, model="") for item in kept.items]

    def _note_calls(
        self, answer: ToldAnswer, kept: KeptAnswer | None, message: _Message, number: int
    ) -> None:
        calls = [part for part in answer.parts if isinstance(part, ToldCall)]
        real = [item.call_id for item in kept.items if item.kind is Kind.TOOL_CALL] if kept else []
        for place, call in enumerate(calls):
            self._calls[call.id] = (message, real[place] if kept else call.id, number)

    def _as_told(self, answer: ToldAnswer, number: int) -> Iterator[Item]:
        for place, part in enumerate(answer.parts):
            key = f"part-{number}-{place}"
            match part:
                case ToldThought():
                    yield self._thought(part, key, number)
                case ToldWords():
                    yield self._words(part, key, number)
                case ToldCall():
                    yield self._call(part, key, number)
                case ToldOther() if self._alike and not place_of(part.id):
                    item = Item(key=key, kind=Kind.ASSISTANT_MESSAGE, round=number)
                    yield self._as_scope(item, part.wire)
                case ToldOther():
                    pass

    def _thought(self, thought: ToldThought, key: str, number: int) -> Item:
        """One that is not known here goes to whoever is asked as the program has it, if both speak of thoughts alike."""
        item = Item(key=key, kind=Kind.REASONING, text=clean(thought.text), round=number)
        wire = self._opened(thought)
        return self._as_scope(item, wire) if wire else item

    def _words(self, words: ToldWords, key: str, number: int) -> Item:
        item = Item(key=key, kind=Kind.ASSISTANT_MESSAGE, text=clean(words.text), round=number)
        if not self._alike or not isinstance(words.wire, dict):
            return item
        return self._as_scope(item, {name: value for name, value in words.wire.items() if name != "id"})

    def _call(self, call: ToldCall, key: str, number: int) -> Item:
        item = Item(
            key=key,
            kind=Kind.TOOL_CALL,
            text=call.arguments,
            name=clean(call.name),
            call_id=call.id,
            round=number,
        )
        return self._as_scope(item, call.wire) if self._alike and isinstance(call.wire, dict) else item

    def _as_scope(self, item: Item, wire: Mapping[str, Any]) -> Item:
        scope = self._scope
        return replace(
            item, wire=dict(wire), provider=scope.provider, dialect=scope.dialect, model=scope.model
        )

    def _opened(self, thought: ToldThought) -> dict[str, Any] | None:
        """Its wire as its provider sealed it."""
        if not self._alike or not isinstance(thought.wire, dict):
            return None
        if not thought.seal:
            return thought.wire
        real = self._sealing.opened(thought.seal) if place_in(thought.seal) else thought.seal
        if not real:
            return None
        bare_of_id = {name: value for name, value in thought.wire.items() if name != "id"}
        return {name: real if value == thought.seal else value for name, value in bare_of_id.items()}

    def _result(self, result: ToldResult) -> list[Item]:
        if result.call_id not in self._calls:
            raise invalid(ORPHAN.format(result.call_id[:100]))
        message, call_id, number = self._calls[result.call_id]
        items = [_result_item(result, call_id, number, len(message.items))]
        message.add(items)
        return items


@dataclass(slots=True)
class _Message:
    role: str
    items: list[Item] = field(default_factory=list)
    repaired: dict[int, tuple[str, Sequence[Repair]]] = field(default_factory=dict)
    rounds: int = 0

    def next_round(self) -> int:
        self.rounds += 1
        return self.rounds - 1

    def add(self, items: Any) -> None:
        self.items.extend(items)

    def logged(self) -> Logged:
        return Logged(self.role, self.items, self.repaired)


def _opening(history: Sequence[Told]) -> int:
    """How many operator's words stand before all others."""
    for place, each in enumerate(history):
        if not isinstance(each, Said) or each.role is SaidBy.USER:
            return place
    return len(history)


def _said(said: Said) -> Item:
    words = clean(words_of(said.parts))
    return Item(key="part-0", kind=Kind.USER_MESSAGE, text=words, wire=told(said.role, said.parts))


def _result_item(result: ToldResult, call_id: str, number: int, place: int) -> Item:
    return Item(
        key=f"result-{place}",
        kind=Kind.TOOL_RESULT,
        text=clean(result.text),
        wire=told("user", result.parts),
        call_id=call_id,
        outcome=Outcome.FAILED if result.failed else Outcome.DONE,
        round=number,
    )


def _is_same(answer: ToldAnswer, kept: KeptAnswer) -> bool:
    """Whether the program still tells what the model said; thoughts may be missing."""
    texts, calls = spoken(answer)
    real = [item for item in kept.items if item.kind is Kind.TOOL_CALL]
    words = [item.text for item in kept.items if item.kind is Kind.ASSISTANT_MESSAGE]
    if "".join(map(bare, texts)) != "".join(map(bare, words)) or len(calls) != len(real):
        return False
    return all(
        name == item.name
        and (arguments == item.text or same_arguments(arguments) == same_arguments(item.text))
        for (name, arguments), item in zip(calls, real, strict=True)
    )
