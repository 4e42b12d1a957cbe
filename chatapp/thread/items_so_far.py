"""The items of a message as a page shows them, finished or not: from rows, and from the draft of a running turn."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..core.attached import Attached, attached_of, is_told, role_of
from ..core.decision import Decided, read_decision
from ..core.items import FROM_MODEL, Item, Kind, clean
from ..core.recorded import Gap, Recorded
from ..store import Seen, asks_of, is_with_program
from ..store.models import LIVE, Message
from .item_words import cut_in_words

# Why a call that is written has no result yet: a person is asked, it will run, or the program that asked has it.
ASKS, NEXT, HANDED = "asks", "next", "handed"


@dataclass(frozen=True, slots=True)
class WholeText:
    """A text that was cut and went on: what it `said` at the end of each of its pieces, and which of them this is. `key`: of the
    first; `times`: when it was cut and went on, in words, each time; `grows`: the last is still being written."""

    key: str
    said: tuple[str, ...]
    place: int
    times: tuple[str, ...] = ()
    grows: bool = False

    @property
    def is_last(self) -> bool:
        return self.place + 1 == len(self.said)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSoFar:
    """An item as it is shown, finished or not. `ms`: how long it took; `elapsed`: how long it has been open; `waits`: what a
    call without a result waits for; `withheld`: why its words are not shown; `shortened`: they are not all of them; `whole`: the
    text of which it is a piece, where there are several; `gap`: how long nothing followed what was cut; `role`: in which a program said
    it, where that is no user's; `attached`: what stood beside it, in words; `by_program`: a call that the program made which asked, or a
    question that it told, with what it added."""

    key: str
    kind: Kind
    text: str = ""
    name: str = ""
    call_id: str = ""
    outcome: str = ""
    open: bool = False
    cut: str = ""
    ms: int | None = None
    elapsed: float = 0.0
    result: ItemSoFar | None = None
    waits: str = ""
    decided: Decided | None = None
    withheld: str = ""
    shortened: bool = False
    whole: WholeText | None = None
    gap: Gap | None = None
    role: str = ""
    attached: tuple[str, ...] = ()
    by_program: bool = False


def items_so_far(row: Message, items: Iterable[Item], seen: Seen | None = None) -> list[ItemSoFar]:
    """Stored items in their order, then what the draft has beyond them; each result inside its call."""
    stored = list(items)
    keys = {item.key for item in stored}
    recorded = Recorded(row.metadata)
    # What something followed in its round had come to its own end.
    last = {item.round: n for n, item in enumerate(stored) if item.kind in FROM_MODEL}
    flat = [
        _from_item(row, item, recorded, was_last=last.get(item.round, n) <= n)
        for n, item in enumerate(stored)
    ]
    if seen:
        pieces = seen.draft.pieces.values()
        flat += [item_from_draft(seen, piece.key) for piece in pieces if piece.key not in keys]
    return _nested(flat)


def _from_item(row: Message, item: Item, recorded: Recorded, *, was_last: bool) -> ItemSoFar:
    cut = cut_in_words(row) if item.cut and was_last else ""
    return ItemSoFar(
        key=item.key,
        kind=item.kind,
        text=item.text,
        name=item.name,
        call_id=item.call_id,
        outcome=item.outcome,
        cut=cut,
        ms=_took(item, recorded),
        waits=_waits(row, item.key),
        decided=read_decision(item),
        gap=recorded.gap_after(item.round) if cut else None,
        role=_role(item),
        attached=tuple(each.in_a_few_words for each in _attached(item)),
        by_program=_is_by_program(item, recorded),
    )


def _is_by_program(item: Item, recorded: Recorded) -> bool:
    if item.kind is Kind.USER_MESSAGE:
        return is_told(item.wire)
    return item.kind is Kind.TOOL_CALL and recorded.is_called_by_program(item.round)


def _role(item: Item) -> str:
    role = role_of(item.wire) if item.kind is Kind.USER_MESSAGE else "user"
    return "" if role == "user" else role


def _attached(item: Item) -> tuple[Attached, ...]:
    return attached_of(item.wire) if item.kind in (Kind.USER_MESSAGE, Kind.TOOL_RESULT) else ()


def _took(item: Item, recorded: Recorded) -> int | None:
    if item.kind is Kind.REASONING:
        return recorded.thoughts.get(item.key)
    span = recorded.stretches.get(item.key)
    return span.ms if span else None


def _waits(row: Message, key: str) -> str:
    if row.status not in LIVE:
        return ""
    if is_with_program(row):
        return HANDED
    return ASKS if key in asks_of(row) else NEXT


def item_from_draft(seen: Seen, key: str) -> ItemSoFar:
    draft = seen.draft
    piece, span = draft.pieces[key], draft.clock.spans.get(key)
    return ItemSoFar(
        key=key,
        kind=piece.kind,
        text=clean(piece.done.text) if piece.done else piece.said(),
        name=clean(piece.name),
        call_id=clean(piece.call_id),
        outcome=piece.done.outcome if piece.done else "",
        open=piece.done is None,
        ms=span.ms(seen.at) if span else None,
        elapsed=seen.at - span.start if span else 0.0,
        waits=NEXT,
    )


def _nested(flat: Sequence[ItemSoFar]) -> list[ItemSoFar]:
    """A result stands inside the first call of its id that has none yet."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    made: list[ItemSoFar] = []
    for piece in flat:
        if piece.kind is Kind.TOOL_CALL:
            waiting[piece.call_id].append(len(made))
        elif piece.kind is Kind.TOOL_RESULT and waiting[piece.call_id]:
            place = waiting[piece.call_id].popleft()
            made[place] = replace(made[place], result=piece)
            continue
        made.append(piece)
    return made
