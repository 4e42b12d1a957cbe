"""Folds the log of one branch into what may be sent to a model again. Every replay guard is here and nowhere else."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from .attached import Part, parts_of, role_of
from .contracts import Contract, ReplayScope
from .contracts import Repair as Repair
from .items import FROM_MODEL, Item, Kind, Outcome
from .model_name import ModelName

GO_ON = "Your answer was cut off there. Go on exactly where it ends, without repeating any of it."
NO_RESULT = "The call was interrupted; its outcome is unknown."
# A call that named no tool goes back with a name, or it would be refused, or made once more.
NAMELESS = "unknown"
SEALS = ("encrypted_content", "signature", "data")
# How the dialect of an item begins whose wire came from a file and is for reading alone: nobody is asked in such a one.
FOR_SHOW = "imported:"


class Dropped(StrEnum):
    """Why a thought did not go back."""

    MODEL_CHANGED = "model changed"
    CUT = "cut turn"
    STALE = "stale"
    FORBIDDEN = "forbidden"
    CAPPED = "capped"


@dataclass(frozen=True, slots=True)
class Logged:
    """A message of the branch: its items in order, and the repairs that its rounds needed, by model."""

    role: str
    items: Sequence[Item]
    repaired: Mapping[int, tuple[str, Sequence[Repair]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """Who is asked."""

    provider: str
    dialect: str
    model: str
    contract: Contract
    thinking: bool = True


@dataclass(frozen=True, slots=True)
class Question:
    """`before`: what was asked before it and never answered with a word. Templates of many models refuse two users in a row. A program's
    may be told in another `role`, and have `parts` beside words: then they say it all."""

    text: str
    before: tuple[str, ...] = ()
    role: str = "user"
    parts: tuple[Part, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.before, self.text)

    @property
    def whole(self) -> str:
        return "\n\n".join(self.texts)

    @property
    def is_plain(self) -> bool:
        return self.role == "user" and not self.parts


@dataclass(frozen=True, slots=True)
class SendableItem:
    """An item that may be sent: as its provider wrote it, or only what it says; with its id, or without."""

    item: Item
    verbatim: bool
    with_id: bool = False
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    call_id: str
    name: str
    text: str
    outcome: str = Outcome.DONE
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """What the model said in one round, and what its calls gave."""

    parts: tuple[SendableItem, ...]
    results: tuple[Result, ...] = ()


Step = Question | Response


@dataclass(frozen=True, slots=True)
class History:
    steps: tuple[Step, ...]
    replayed: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)


def learned(branch: Sequence[Logged], model: str) -> frozenset[Repair]:
    """What earlier refusals on this branch taught about this model ("provider:model")."""
    return frozenset(
        how for message in branch for said, hows in message.repaired.values() if said == model for how in hows
    )


def fold(branch: Sequence[Logged], to: Target, *, cap: int | None = None) -> History:
    """The last message is the one being answered. `cap`: at most so many earlier answers send their thoughts."""
    return _Fold(branch, to, cap).history()


class _Fold:
    def __init__(self, branch: Sequence[Logged], to: Target, cap: int | None) -> None:
        self.branch, self.to = branch, to
        self.stale_before = _stale_before(branch, str(ModelName(to.provider, to.model)))
        self.capped_before = _capped_before(branch, cap)
        self.dropped: Counter[str] = Counter()
        self.replayed = 0
        self.calls = 0
        self.ids: set[str] = set()

    def history(self) -> History:
        steps = (step for at, message in enumerate(self.branch) for step in self._message(at, message))
        # Before the numbers, which are known when all steps are.
        joined = tuple(_questions_joined(steps))
        return History(joined, self.replayed, dict(self.dropped))

    def _message(self, at: int, message: Logged) -> Iterator[Step]:
        if message.role == "user":
            asked = (item for item in message.items if item.kind is Kind.USER_MESSAGE)
            yield from (
                _question(item) for item in asked if not _is_for_show(item) or role_of(item.wire) == "user"
            )
            return
        called = any(item.kind is Kind.TOOL_CALL and not item.cut for item in message.items)
        cut_off = False
        for items in _rounds(message.items):
            response = self._round(at, items, called)
            if response is None:
                continue
            if cut_off:
                yield Question(GO_ON)
            yield response
            cut_off = response.parts[-1].item.cut
        if cut_off and at + 1 == len(self.branch):
            yield Question(GO_ON)

    def _round(self, at: int, items: Sequence[Item], called: bool) -> Response | None:
        said = [item for item in items if item.kind in FROM_MODEL]
        results = _results_by_call(items)
        parts: list[SendableItem] = []
        answers: list[Result] = []
        # A chat completion is one message, in which the place of a thought means nothing.
        groups = [said] if said and self.to.contract.dialect == "chat" else _groups(said)
        for group in groups:
            parts += self._group(at, group, called)
        if _repeats_a_call_id(parts):
            calls_anew = (part.verbatim and part.item.kind is not Kind.TOOL_CALL for part in parts)
            parts = [
                replace(part, verbatim=as_it_is, with_id=False)
                for part, as_it_is in zip(parts, calls_anew, strict=True)
            ]
        for n, part in enumerate(parts):
            if part.item.kind is Kind.TOOL_CALL:
                self.calls += 1
                call_id = part.item.call_id if part.verbatim else f"call{self.calls:05d}"
                named = parts[n] = replace(part, item=_with_a_name(part.item), call_id=call_id)
                answers.append(_result_of(named.item, call_id, results))
        return Response(tuple(parts), tuple(answers)) if parts else None

    def _group(self, at: int, group: Sequence[Item], called: bool) -> list[SendableItem]:
        """A thought and what followed it. Ids go or stay for the whole group, and a call stays as it was made only with
        the thought that made it: some providers tie the two together."""
        followed = any(item.kind is not Kind.REASONING and self._sendable(item) for item in group)
        thoughts = [item for item in group if item.kind is Kind.REASONING]
        reasons = {item.key: self._reason(at, item, called) if followed else Dropped.CUT for item in thoughts}
        dropped = [reason for reason in reasons.values() if reason]
        self.dropped.update(dropped)
        self.replayed += len(reasons) - len(dropped)
        kept = [item for item in group if not reasons.get(item.key) and self._sendable(item)]
        stale = (at, group[0].round) < self.stale_before
        # A signed call carries its thought itself.
        loose = stale if self.to.contract.signed else bool(dropped)
        parts = [
            SendableItem(item, self._verbatim(item) and not (loose and item.kind is Kind.TOOL_CALL))
            for item in kept
        ]
        with_ids = not dropped and self._new_ids(parts)
        return [replace(part, with_id=with_ids and part.verbatim) for part in parts]

    def _reason(self, at: int, thought: Item, called: bool) -> Dropped | None:
        """Why this thought must not go back, or None."""
        if thought.cut:
            return Dropped.CUT
        if not self._same_model(thought):
            return Dropped.MODEL_CHANGED
        if thought.wire is None:
            return Dropped.CUT
        if (at, thought.round) < self.stale_before:
            return Dropped.STALE
        if not self._wanted(thought, called):
            return Dropped.FORBIDDEN
        return Dropped.CAPPED if at < self.capped_before else None

    def _wanted(self, thought: Item, called: bool) -> bool:
        contract = self.to.contract
        if not self._verbatim(thought) or not self.to.thinking:
            return False
        if contract.sealed and not any(thought.wire.get(seal) for seal in SEALS):
            return False
        # What came as words of the answer may always go back as such.
        return self._takes(called) or is_in_content(thought)

    def _takes(self, called: bool) -> bool:
        match self.to.contract.scope:
            case ReplayScope.ALL:
                return True
            case ReplayScope.TOOL_TURNS:
                return called
            case ReplayScope.NONE:
                return False

    def _same_model(self, item: Item) -> bool:
        return (item.provider, item.dialect, item.model) == (self.to.provider, self.to.dialect, self.to.model)

    def _sendable(self, item: Item) -> bool:
        if item.kind is Kind.ASSISTANT_MESSAGE:
            return bool(item.text.strip()) or (self._verbatim(item) and self._takes_blank(item))
        return not item.cut

    def _takes_blank(self, item: Item) -> bool:
        """What is no text needs no words."""
        return self.to.contract.blank_text or item.wire.get("type", "text") not in ("text", "message")

    def _verbatim(self, item: Item) -> bool:
        if item.cut or not isinstance(item.wire, dict):
            return False
        if item.kind is Kind.ASSISTANT_MESSAGE:
            return (item.provider, item.dialect) == (self.to.provider, self.to.dialect)
        return self._same_model(item) and (item.kind is not Kind.TOOL_CALL or bool(item.name))

    def _new_ids(self, parts: Sequence[SendableItem]) -> bool:
        """True when every item of the group has an id of this very model, and none was sent before."""
        ids = [_given_id(part.item) for part in parts if part.verbatim and self._same_model(part.item)]
        known = {given for given in ids if given}
        if len(known) < len(parts) or self.ids & known:
            return False
        self.ids |= known
        return True


def is_in_content(thought: Item) -> bool:
    """Whether a chat completion brought it inside its text: between tags, or as a part of it."""
    return thought.dialect == "chat" and bool(thought.wire.get("content"))


def _question(item: Item) -> Question:
    if item.wire is None or _is_for_show(item):
        return Question(item.text)
    return Question(item.text, role=role_of(item.wire), parts=parts_of(item.wire))


def _is_for_show(item: Item) -> bool:
    return item.dialect.startswith(FOR_SHOW)


def _questions_joined(steps: Iterable[Step]) -> Iterator[Step]:
    """Questions that nothing stands between are one."""
    last: Step | None = None
    for step in steps:
        if isinstance(last, Question) and isinstance(step, Question) and last.is_plain and step.is_plain:
            last = Question(step.text, before=(*last.texts, *step.before))
            continue
        if last is not None:
            yield last
        last = step
    if last is not None:
        yield last


def _with_a_name(call: Item) -> Item:
    return call if call.name else replace(call, name=NAMELESS)


def _given_id(item: Item) -> str:
    given = item.wire.get("id")
    return given if isinstance(given, str) else ""


def _stale_before(branch: Sequence[Logged], model: str) -> tuple[int, int]:
    """The place (message, round) of the newest round that was refused for its thoughts: none before it go back."""
    places = [
        (at, number)
        for at, message in enumerate(branch)
        for number, (said, hows) in message.repaired.items()
        if said == model and Repair.STALE in hows
    ]
    return max(places, default=(-1, -1))


def _capped_before(branch: Sequence[Logged], cap: int | None) -> int:
    answers = [at for at, message in enumerate(branch[:-1]) if message.role == "assistant"]
    if cap is None or len(answers) <= cap:
        return -1
    return answers[len(answers) - cap] if cap else len(branch) - 1


def _rounds(items: Sequence[Item]) -> list[list[Item]]:
    rounds: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        rounds[item.round].append(item)
    return list(rounds.values())


def _groups(said: Sequence[Item]) -> list[list[Item]]:
    """Each group opens with its thoughts, if it has any."""
    groups: list[list[Item]] = []
    before: Kind | None = None
    for item in said:
        if before is None or (item.kind is Kind.REASONING and before is not Kind.REASONING):
            groups.append([])
        groups[-1].append(item)
        before = item.kind
    return groups


def _repeats_a_call_id(parts: Sequence[SendableItem]) -> bool:
    """Two calls of one response with one id: providers refuse that in what goes back, even where it came from them."""
    ids = [part.item.call_id for part in parts if part.item.kind is Kind.TOOL_CALL]
    return len(set(ids)) < len(ids)


def _results_by_call(items: Sequence[Item]) -> dict[str, deque[Item]]:
    results: dict[str, deque[Item]] = defaultdict(deque)
    for item in items:
        if item.kind is Kind.TOOL_RESULT:
            results[item.call_id].append(item)
    return results


def _result_of(call: Item, call_id: str, results: Mapping[str, deque[Item]]) -> Result:
    """Every call goes with a result, or the provider refuses the whole request."""
    found = results.get(call.call_id)
    if not found:
        return Result(call_id, call.name, NO_RESULT, Outcome.UNKNOWN)
    result = found.popleft()
    outcome = result.outcome or Outcome.DONE
    parts = () if _is_for_show(result) else parts_of(result.wire)
    return Result(call_id, call.name, result.text, outcome, parts)
