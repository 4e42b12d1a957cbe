"""What was sent for an answer, in sentences: what each request held, and what became of the earlier thoughts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..core.history import Dropped, Repair
from ..core.items import Item, Kind, clean
from ..core.plural import many, one_or_more
from ..core.recorded import Recorded, Round
from ..core.signs.visible import visible

# For one thought, and for several.
_WHY = {
    Dropped.MODEL_CHANGED: ("another model had made it", "another model had made them"),
    Dropped.CUT: ("it was cut off", "they were cut off"),
    Dropped.STALE: ("the provider no longer accepts it", "the provider no longer accepts them"),
    Dropped.FORBIDDEN: ("the model takes none of its kind back", "the model takes none of their kind back"),
    Dropped.CAPPED: ("only the newest answers send theirs", "only the newest answers send theirs"),
}
_WITHHELD = {
    "prefix_binding_mismatch": "what stands before it has changed",
    "prefix_mismatch": "what stands before it has changed",
    "model_binding_mismatch": "it belongs to another model",
    "model_mismatch": "it belongs to another model",
    "organization_binding_mismatch": "it belongs to another account",
    "organization_mismatch": "it belongs to another account",
    "end_user_mismatch": "it belongs to another person",
    "turn_boundary": "it belongs to an earlier turn",
}
_REPAIRED = {
    Repair.BOUND: "The provider did not accept all earlier thoughts, so it was asked once more with leave to drop them.",
    Repair.UNBOUND: "The provider takes no leave to drop thoughts, so it was asked once more without it.",
    Repair.STALE: "The provider did not accept the earlier thoughts, so it was asked once more without them.",
    Repair.FORBIDDEN: "The provider does not take thoughts back, so it was asked once more without them.",
    Repair.REQUIRED: "The provider wants the earlier thoughts, so it was asked once more with them.",
    Repair.NO_SUMMARY: "The provider gives no summaries of thoughts here, so it was asked once more without them.",
}
_OLDEST = "The oldest turns were left out."
_GOES_ON = "The text that had been cut went as plain text, with the request to go on where it ends."


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request: in sentences, and line by line what it was made of."""

    words: str
    shape: str = ""


def sent_of(
    recorded: Recorded, items: Sequence[Item], *, model: str, label: str, shortened: bool
) -> tuple[SentRequest, ...]:
    """`label`: what people call this model; `shortened`: older turns were left out."""
    cut = [item.round for item in items if item.kind is Kind.ASSISTANT_MESSAGE and item.cut]
    requests = []
    for facts in recorded.rounds:
        name = label if facts.model in (model, "") else facts.model
        goes_on = 0 < recorded.goes_on_at == facts.number and facts.number - 1 in cut
        words = " ".join(_sentences(facts, name, shortened=shortened, goes_on=goes_on))
        requests.append(SentRequest(words, visible(clean("\n".join(facts.shape)))))
    return tuple(request for request in requests if request.words or request.shape)


def _sentences(facts: Round, name: str, *, shortened: bool, goes_on: bool) -> Iterator[str]:
    if held := _held(facts):
        yield f"{held}."
    if facts.left_out:
        yield f"The oldest {many(facts.left_out, 'message')} {_was(facts.left_out)} left out."
    elif shortened:
        yield _OLDEST
    yield from _thoughts(facts, name)
    yield from _put_back(facts)
    yield from (_set_aside(number, reason) for reason, number in facts.withheld.items() if number)
    if goes_on:
        yield _GOES_ON
    yield from (_REPAIRED[Repair(how)] for how in facts.repaired if how in list(Repair))
    if facts.skipped:
        yield f"{many(facts.skipped, 'frame')} of the answer could not be read and {_was(facts.skipped)} skipped."
    if (tokens := facts.usage.get("output")) is not None:
        yield f"{many(tokens, 'token')} came back."


def _held(facts: Round) -> str:
    said = [] if facts.messages is None else [many(facts.messages, "message")]
    if (tokens := facts.usage.get("input")) is not None:
        said.append(many(tokens, "token"))
        if cached := facts.usage.get("cached"):
            said.append(f"{cached:,} of them from the cache")
    return ", ".join(said)


def _thoughts(facts: Round, name: str) -> Iterator[str]:
    left = [_left_out(number, reason) for reason, number in facts.dropped.items() if number]
    if facts.replayed:
        went = f"{many(facts.replayed, 'thought')} went back to {name} word for word"
        yield "; ".join([went, *left]) + "."
    elif left:
        yield f"No thought went back to {name}: {'; '.join(left)}."
    elif facts.replayed == 0:
        yield "There were no earlier thoughts to send back."


def _put_back(facts: Round) -> Iterator[str]:
    """Of what a program left out of its history."""
    if number := facts.restored:
        yield f"{many(number, 'thought')} {_was(number)} put back that the program had left out."
    if number := facts.missed:
        yield f"{many(number, 'thought')} that the program had left out {_was(number)} not found any more."


def _set_aside(number: int, reason: str) -> str:
    """Each of them for itself, so that one and several are told alike."""
    why = _WITHHELD.get(reason, reason)
    return f"The provider did not show the model {number:,} of them: {why}."


def _left_out(number: int, reason: str) -> str:
    one, several = _WHY[Dropped(reason)] if reason in list(Dropped) else (reason, reason)
    return f"{number:,} {_was(number)} left out because {one_or_more(number, one, several)}"


def _was(number: int) -> str:
    return one_or_more(number, "was", "were")
