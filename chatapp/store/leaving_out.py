"""Where a branch that has become too long for its model can begin: whole turns only, and never less than the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from uuid import UUID

from ..core.recorded import Recorded, Round
from .branches import Branch, load_branch
from .models import Conversation, Message, Role

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what was answered to it on the branch; `tokens` is what it adds to everything before it."""

    question: UUID
    tokens: int


def find_start(
    leaf: UUID, window: int | None, share: float = 0.5, *, of: Conversation | None = None
) -> UUID | None:
    """The earliest question of the branch from which on everything fits into this share of the window. Something is left
    out in any case, since somebody asked for it: where all of it would fit, what stays is this share of it.
    None where there is no older turn to leave out. `of`: its conversation, where that is known."""
    try:
        branch = load_branch(leaf, of=of)
    except Message.DoesNotExist:
        return None
    turns = _turns_sent(branch)
    total = sum(turn.tokens for turn in turns)
    most = share * (window if window and total > share * window else total)
    start = _first_that_stays(turns, most)
    return start if start and start != branch.messages[0].id else None


def has_older(answer: Message) -> bool:
    """Whether the branch that ends here has a turn besides the last one that is sent still."""
    question = answer.parent
    return question is not None and question.parent_id is not None and answer.sent_from_id != question.pk


def _first_that_stays(turns: Sequence[Turn], most: float) -> UUID | None:
    """Of the turns that stay, the first."""
    start, stays = None, 0
    for turn in reversed(turns):
        stays += turn.tokens
        if start is not None and stays > most:
            break
        start = turn.question
    return start


def _turns_sent(branch: Branch) -> list[Turn]:
    """Those that are sent now, in order. What a turn adds is told by the request of the next one, else by its own answer,
    else by its letters."""
    sent = _sent_now(branch)
    begins = [n for n, row in enumerate(sent) if row.role == Role.USER]
    spans = [sent[first:after] for first, after in pairwise([*begins, len(sent)])]
    found = [_Measured.of(branch, span) for span in spans]
    nexts = [*found[1:], None]
    return [
        Turn(span[0].id, this.tokens(after)) for span, this, after in zip(spans, found, nexts, strict=True)
    ]


def _sent_now(branch: Branch) -> Sequence[Message]:
    """What of the branch is not left out already: the last answer on it knows."""
    answers = [row for row in branch.messages if row.role == Role.ASSISTANT]
    since = answers[-1].sent_from_id if answers else None
    places = [n for n, row in enumerate(branch.messages) if row.id == since]
    return branch.messages[places[0] :] if places else branch.messages


@dataclass(frozen=True, slots=True)
class _Measured:
    """A turn as its answer measured it: `before` it and after it (`fills`) the window held so many tokens, counted from
    the message `since`."""

    letters: int
    since: UUID | None = None
    before: int | None = None
    fills: int | None = None

    @classmethod
    def of(cls, branch: Branch, span: Sequence[Message]) -> _Measured:
        letters = sum(len(item.text) for row in span for item in branch.items.get(row.id, ()))
        answers = [row for row in span if row.role == Role.ASSISTANT]
        rounds = Recorded(answers[-1].metadata).rounds if answers else ()
        if not rounds:
            return cls(letters)
        asked = sum(len(item.text) for item in branch.items.get(span[0].id, ()))
        return cls(letters, answers[-1].sent_from_id, _before(rounds[0], asked), rounds[-1].fills)

    def tokens(self, after: _Measured | None) -> int:
        told = after is not None and after.before is not None and after.since == self.since
        end = after.before if after and told else self.fills
        if self.before is not None and end is not None and end > self.before:
            return end - self.before
        return self.letters // CHARACTERS_PER_TOKEN + 1


def _before(first: Round, asked: int) -> int | None:
    """What the first request held besides the question itself."""
    held = first.usage.get("input")
    return None if held is None else max(0, held - asked // CHARACTERS_PER_TOKEN)
