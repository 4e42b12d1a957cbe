"""Turns of recorded runs: where a history stands among what was recorded, and what is new of it, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest, Now
from django.utils import timezone

from ...core.attached import PARTS, role_of
from ...core.items import Item, KeyMaker, Kind, Outcome, clean
from ...core.recorded import BY_PROGRAM, TOLD_ROUNDS, LeftHow
from ...core.signs.added import added_to
from ...core.titles import first_words
from ...store import WAITS_FOR_PROGRAM, Claim, load_items, next_round, without_result
from ...store.changes import tell_owner
from ...store.database.worded import Inserted, Worded
from ...store.models import ENDED, IS_LIVE, PROGRAM_CAP, Conversation, Message, Role, Status, TitledBy
from ...store.rows import Measured, append, insert_items, item_row, keep, noted, tell_of, with_owner
from ...store.turns_at_once import hold_person
from ..models import ApiKey, RecordedPlace, RecordedRun
from ..recording.told import Part, Piece, Saying
from ..recording.waiting import waited

_CONVERSATIONS, _RUNS = Inserted(Conversation), Inserted(RecordedRun)
_MESSAGES, _PLACES = Inserted(Message), Inserted(RecordedPlace)
# So many pieces of a history are looked for together, its last ones first: a program that goes on stands near its end.
NEAR, FAR = 8, 128
NEVER_CAME = "The result never came: the program went on without it."
# Nobody takes over what a program asked: where its process dies, it has ended.
TAKEN_BY_NOBODY = 3
# So long a turn waits for what its program's calls give.
FORGOTTEN = timedelta(hours=24)
# Of what a program says of itself no more is kept than somebody reads.
MOST_WORDS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One request of a program, as it is recorded. `turns`: recorded answers whose ids it still has. `again`: what it calls itself when
    it comes once more."""

    key: ApiKey
    model: str
    effort: str
    runner: str
    pieces: Sequence[Piece]
    saying: Saying
    turns: tuple[str, ...] = ()
    again: str = ""


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """The turn that answers it, as its row stands, with what it has said before."""

    claim: Claim
    row: Message
    items: Sequence[Item]


@transaction.atomic
def record(request: RunRequest) -> BegunTurn:
    owner = request.key.owner
    hold_person(owner)
    return _Recording(request, owner).recorded()


@cache
def _found(most: int) -> Worded:
    return Worded(
        lambda owner, *names: (
            RecordedPlace.objects.filter(owner=owner, name__in=names)
            .filter(message__deletion=None, message__conversation__deleted_at=None)
            .order_by("message__order", "pk")
            .values_list("name", "message", "round")
        ),
        int,
        *(str for _ in range(most)),
    )


def _places(owner: int, names: Sequence[str]) -> dict[str, tuple[UUID, int]]:
    """By name; of several the newest message."""
    most = NEAR if len(names) <= NEAR else FAR
    found = _found(most).columns(owner, *names, *[""] * (most - len(names)))
    return {name: (UUID(str(message)), number) for name, message, number in found}


_MESSAGE = Worded(lambda pk: Message.objects.filter(pk=pk), UUID)
_CONVERSATION = Worded(lambda pk: Conversation.objects.filter(pk=pk), UUID)
_LAST_BELOW = Worded(
    lambda parent: Message.objects.filter(parent=parent, deletion=None).order_by("-order")[:1], UUID
)
_WAITING = Worded(
    lambda conversation: Message.objects.filter(IS_LIVE, conversation=conversation, status=Status.WAITING),
    UUID,
)
_NEXT_ORDER = Worded(
    lambda conversation: (
        Conversation.objects.select_for_update().filter(pk=conversation).values_list("next_order")
    ),
    UUID,
)
_KEPT = Worded(
    lambda conversation, *_: Conversation.objects.filter(pk=conversation),
    UUID,
    UUID,
    datetime,
    int,
    update=lambda _, head, now, order: {
        "head": head,
        "updated_at": now,
        "next_order": Greatest(F("next_order"), order),
    },
    returning="id",
)


class _Recording:
    def __init__(self, request: RunRequest, owner: User) -> None:
        self._request, self._owner, self._key = request, owner, request.key
        self._conversation: Conversation | None = None
        self._order: int | None = None

    def recorded(self) -> BegunTurn:
        pieces = list(self._request.pieces)
        known, row, number = self._deepest(pieces)
        for piece in pieces[known:]:
            row, number = self._next(row, number, piece)
        answer = self._begun(row, number, is_new=known < len(pieces))
        self._keep_conversation(answer)
        # Only now: whoever is told reads what stands.
        tell_owner(self._owner.pk, answer.conversation_id, "turn queued", answer.pk)
        items = load_items(answer.pk) if answer.next_seq else []
        return BegunTurn(Claim(answer.pk, answer.attempt), answer, items)

    # Where it stands

    def _deepest(self, pieces: Sequence[Piece]) -> tuple[int, Message | None, int]:
        """How many pieces are recorded already, the message in which the last of them stands, and with which round."""
        names = [piece.name for piece in pieces]
        last = len(names)
        while last:
            first = max(0, last - (NEAR if last == len(names) else FAR))
            found = _places(self._owner.pk, names[first:last])
            for known in range(last, first, -1):
                if place := found.get(names[known - 1]):
                    row = _MESSAGE.first(place[0])
                    row.conversation = self._conversation = _CONVERSATION.first(row.conversation_id)
                    return known, row, place[1]
            last = first
        self._conversation = self._of_its_turns()
        return 0, None, -1

    def _of_its_turns(self) -> Conversation | None:
        """Where all that stands before was changed, the answers still tell which run it is."""
        if not self._request.turns:
            return None
        rows = Message.objects.filter(pk__in=self._request.turns, deletion=None)
        mine = rows.filter(conversation__owner=self._owner, conversation__deleted_at=None)
        found = mine.select_related("conversation").order_by("-order").first()
        return found.conversation if found else None

    # What is new of it

    def _next(self, row: Message | None, number: int, piece: Piece) -> tuple[Message, int]:
        match piece.part:
            case Part.QUESTION:
                return self._asked(self._ended(row, number), piece), -1
            case Part.ANSWER:
                return self._told(row, number, piece)
            case Part.RESULTS:
                return self._given(row, number, piece)

    def _asked(self, above: Message | None, piece: Piece) -> Message:
        if self._conversation is None:
            self._conversation = self._opened(piece)
        keys = KeyMaker()
        items = [replace(_storable(item), key=keys.take(), round=0) for item in piece.items]
        question = self._message(above, Role.USER, metadata=self._saying(above), next_seq=len(items))
        insert_items([item_row(question.pk, n, item) for n, item in enumerate(items)])
        self._note(piece.name, question, -1)
        return question

    def _opened(self, piece: Piece) -> Conversation:
        title = first_words(_title_words(piece.items)) or f"A run of {self._key.name}"
        instructions = "\n\n".join(text for _, text in self._request.saying.words)[:MOST_WORDS]
        made = Conversation(
            owner=self._owner,
            title=title,
            titled_by=TitledBy.MODEL,
            tools=[],
            instructions=clean(instructions),
            program=self._key.name[:PROGRAM_CAP],
        )
        _CONVERSATIONS.write([made])
        _RUNS.write([RecordedRun(conversation=made, key=self._key)])
        self._order = 0
        return made

    def _saying(self, above: Message | None) -> dict[str, Any]:
        """The program's words and tools, where they are not those of the question before."""
        said: dict[str, Any] = {"words": [list(each) for each in self._request.saying.words]}
        said |= {"tools": list(self._request.saying.tools)}
        if above is None:
            return {"program": said}
        before = Message.objects.filter(conversation=self._conversation, role=Role.USER)
        told = [row.metadata.get("program") for row in before.order_by("-order")[:20]]
        known = next((each for each in told if each), None)
        return {} if known == said else {"program": said}

    def _told(self, row: Message | None, number: int, piece: Piece) -> tuple[Message, int]:
        """What a model said elsewhere, or before it was recorded."""
        if row is None or row.role == Role.USER:
            answer = self._answer(row or self._asked(None, piece_without_words(piece)))
            answer_items: list[Item] = []
        else:
            answer = self._as_far_as(row, number)
            answer_items = load_items(answer.pk)
        keys, here = KeyMaker(item.key for item in answer_items), next_round(answer_items)
        items = [replace(_storable(item), key=keys.take(), round=here) for item in piece.items]
        self._append(answer, items)
        self._bring_durations(answer, piece, items)
        self._note(piece.name, answer, here)
        return answer, here

    def _bring_durations(self, answer: Message, piece: Piece, items: Sequence[Item]) -> None:
        """What was thought here before keeps its time."""
        sources = Message.objects.filter(pk__in=self._request.turns, conversation__owner=self._owner)
        durations = {
            item.text: source.reasoning_ms(item.key)
            for source in sources
            for item in load_items(source.pk)
            if item.kind is Kind.REASONING
        }
        thoughts = [item for item in items if item.kind is Kind.REASONING]
        found = {item.key: ms for item in thoughts if (ms := durations.get(item.text)) is not None}
        told = {TOLD_ROUNDS: items[0].round + 1} if items else {}
        answer.metadata = noted(answer.metadata, Measured(durations=found), **told)
        keep(answer)

    def _given(self, row: Message | None, number: int, piece: Piece) -> tuple[Message, int]:
        assert row is not None and row.role == Role.ASSISTANT
        items = load_items(row.pk)
        waits = row.status == Status.WAITING
        # What was made a moment ago of what the program told is still to be given its results.
        is_open = (waits or row.attempt == 0) and next_round(items) == number + 1
        if not (is_open and _open_of(items, number)):
            if _is_open_end(row, items, number, piece):
                return row, number
            row = self._as_far_as(row, number, always=True)
            items = load_items(row.pk)
        self._append(row, _results(items, number, piece), seconds=_since(row) if waits else 0.0)
        self._note(piece.name, row, number)
        return row, number

    def _ended(self, row: Message | None, number: int) -> Message | None:
        """An answer below which can be asked: not beyond this round, and not waiting for results any more."""
        if row is None or row.role == Role.USER:
            return row
        row = self._as_far_as(row, number)
        if row.status not in ENDED:
            give_up_waiting(row, LeftHow.WENT_ON)
        return row

    def _as_far_as(self, row: Message, number: int, *, always: bool = False) -> Message:
        """The answer up to this round; a copy beside it where it went on in another way."""
        items = load_items(row.pk)
        if not always and next_round(items) == number + 1 and row.status != Status.RUNNING:
            return row
        answer = self._answer(row.parent)
        kept = [item for item in items if item.round <= number]
        if always:
            kept = [item for item in kept if not (item.round == number and item.kind is Kind.TOOL_RESULT)]
        self._append(answer, kept)
        metadata = _metadata_of(row, {item.key for item in kept}, number)
        Message.objects.filter(pk=answer.pk).update(metadata=metadata)
        answer.metadata = metadata
        places = RecordedPlace.objects.filter(message=row, round__lte=number)
        RecordedPlace.objects.bulk_create(
            [
                RecordedPlace(owner=self._owner, name=place.name, message=answer, round=place.round)
                for place in places
            ]
        )
        return answer

    # Rows

    def _message(self, above: Message | None, role: str, **more: Any) -> Message:
        assert self._conversation
        made = Message(
            pk=uuid4(),
            conversation=self._conversation,
            parent=above,
            order=self._next_order(),
            role=role,
            author=self._owner if role == Role.USER else None,
            **more,
        )
        _MESSAGES.write([made])
        return made

    def _next_order(self) -> int:
        """Nobody else adds to the run before this transaction has ended."""
        assert self._conversation
        if self._order is None:
            ((self._order,),) = _NEXT_ORDER.columns(self._conversation.pk)
        self._order += 1
        return self._order - 1

    def _keep_conversation(self, answer: Message) -> None:
        _KEPT.columns(answer.conversation_id, answer.pk, timezone.now(), self._order or 0)

    def _answer(self, question: Message | None, **more: Any) -> Message:
        told = {"model": self._request.model, "effort": self._request.effort, "touched_at": timezone.now()}
        return self._message(question, Role.ASSISTANT, **{**told, "metadata": {BY_PROGRAM: True}, **more})

    def _append(self, row: Message, items: Sequence[Item], *, seconds: float = 0.0) -> None:
        row.refresh_from_db(fields=["next_seq", "metadata"])
        elapsed = row.metadata.get("elapsed_ms", 0)
        until = elapsed + round(seconds * 1000)
        results = [item.key for item in items if item.kind is Kind.TOOL_RESULT] if seconds else []
        timings = {key: {"start": elapsed, "end": until} for key in results}
        append(row, items, Measured(timings=timings, elapsed=until))
        keep(row)

    def _note(self, name: str, row: Message, number: int) -> None:
        note_place(self._owner.pk, name, row.pk, number)

    # The turn

    def _begun(self, row: Message | None, number: int, *, is_new: bool) -> Message:
        assert row is not None
        if row.role == Role.USER:
            answer = None if is_new else self._failed(row)
        else:
            answer = row if is_new or self._is_failed(row, number) else self._as_far_as(row, number)
        if answer is None:
            answer = self._answer(row, attempt=1, **self._at_work({}))
        else:
            answer.refresh_from_db(fields=["metadata", "next_seq", "attempt"])
            answer.attempt += 1
            changes = self._at_work(answer.metadata) | {
                "attempt": answer.attempt,
                "model": self._request.model,
                "effort": self._request.effort,
            }
            Message.objects.filter(pk=answer.pk).update(**changes, touched_at=Now())
            answer.metadata = changes["metadata"]
        if row.parent_id is not None or not is_new:
            self._end_others(answer)
        return answer

    def _at_work(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in metadata.items() if name not in ("ended", *WAITS_FOR_PROGRAM)}
        again = {"again": self._request.again} if self._request.again else {}
        return {
            "status": Status.RUNNING,
            "tries": TAKEN_BY_NOBODY,
            "runner": self._request.runner,
            "metadata": kept | {BY_PROGRAM: True} | again,
        }

    def _end_others(self, answer: Message) -> None:
        """The program asks elsewhere now: what other answers wait for will never come."""
        assert self._conversation
        for row in _WAITING.rows(self._conversation.pk):
            if row.pk != answer.pk:
                give_up_waiting(row, LeftHow.DEPARTED)

    def _failed(self, question: Message) -> Message | None:
        """An answer that ended before a word: the program asks for it again."""
        last = _LAST_BELOW.first(question.pk)
        return last if last is not None and self._is_failed(last, -1) else None

    def _is_failed(self, row: Message, number: int) -> bool:
        """Whether it ended without a word behind this round."""
        again = self._request.again
        if row.status not in ENDED or row.status == Status.COMPLETE:
            return False
        is_again = bool(again and row.metadata.get("again") == again)
        return is_again or next_round(load_items(row.pk)) == number + 1


@transaction.atomic
def end_forgotten(now: datetime) -> int:
    """Turns whose program has not come back for so long. How many there were."""
    old = Message.objects.filter(IS_LIVE, status=Status.WAITING, touched_at__lt=now - FORGOTTEN)
    rows = [row for row in old.order_by("pk") if row.metadata.get("waits_for")]
    for row in rows:
        give_up_waiting(row, LeftHow.FORGOTTEN)
    return len(rows)


def give_up_waiting(row: Message, how: LeftHow) -> None:
    """What it waits for never came."""
    items = load_items(row.pk)
    row.refresh_from_db(fields=["next_seq", "metadata"])
    missing = [_never_came(call) for call in without_result(items)]
    append(row, _with_keys(missing, items), Measured(elapsed=row.metadata.get("elapsed_ms", 0)))
    row.metadata = {**row.metadata, "ended": {"reason": how}}
    keep(row)
    _set(row, Status.STOPPED)
    tell_of(with_owner(Message.objects.all()).get(pk=row.pk), "turn ended")


def note_place(owner: int, name: str, message: UUID, number: int) -> None:
    _PLACES.write([RecordedPlace(owner_id=owner, name=name, message_id=message, round=number)])


def piece_without_words(piece: Piece) -> Piece:
    """For an answer that nobody asked for."""
    item = Item(key="part-0", kind=Kind.USER_MESSAGE, text="(nothing was asked)")
    return Piece(Part.QUESTION, (item,), f"{piece.name}-before")


def _storable(item: Item) -> Item:
    """Without the bytes of what stood beside the words."""
    wire = item.wire
    if isinstance(wire, dict) and isinstance(wire.get(PARTS), list):
        rows = [row if isinstance(row, str) else row | {"data": ""} for row in wire[PARTS]]
        return replace(item, wire=wire | {PARTS: rows})
    return item


def _title_words(items: Iterable[Item]) -> str:
    """Programs put what they know of a machine before what somebody asks, and words of their own behind it."""
    texts = [item.text for item in items if role_of(item.wire) == Role.USER]
    words = (added_to(text).words.strip() for text in texts)
    asked = [text for text in words if text and not text.startswith(("<", "#"))]
    return next(iter([*asked[::-1], *texts]), "")


def _open_of(items: Sequence[Item], number: int) -> list[Item]:
    return [call for call in without_result(items) if call.round == number]


def _is_open_end(row: Message, items: Sequence[Item], number: int, piece: Piece) -> bool:
    """Whether these results stand already, and what came after them was not a word."""
    if next_round(items) != number + 1 or row.status not in ENDED or row.status == Status.COMPLETE:
        return False
    have = [
        (item.call_id, item.text) for item in items if item.kind is Kind.TOOL_RESULT and item.round == number
    ]
    return have == [(item.call_id, item.text) for item in piece.items]


def _results(items: Sequence[Item], number: int, piece: Piece) -> list[Item]:
    """In the order of the program; what it leaves out never came."""
    made: list[Item] = []
    open_calls = _open_of(items, number)
    for result in piece.items:
        call = next((call for call in open_calls if call.call_id == result.call_id), None)
        if call is not None:
            open_calls.remove(call)
            made.append(replace(_storable(result), round=number, name=call.name))
    made += [_never_came(call) for call in open_calls]
    return _with_keys(made, items)


def _never_came(call: Item) -> Item:
    return Item(
        key="",
        kind=Kind.TOOL_RESULT,
        text=NEVER_CAME,
        round=call.round,
        call_id=call.call_id,
        name=call.name,
        outcome=Outcome.UNKNOWN,
    )


def _with_keys(made: Sequence[Item], items: Sequence[Item]) -> list[Item]:
    keys = KeyMaker(item.key for item in items)
    return [replace(item, key=keys.take()) for item in made]


def _since(row: Message) -> float:
    """Seconds since the program was told to make its calls."""
    if (seconds := waited(row.pk)) is not None:
        return seconds
    return max(0.0, (timezone.now() - row.touched_at).total_seconds()) if row.touched_at else 0.0


def _set(row: Message, status: Status) -> None:
    Message.objects.filter(pk=row.pk).update(status=status, runner="", attempt=F("attempt") + 1)
    row.status = status


def _metadata_of(row: Message, keys: set[str], number: int) -> dict[str, Any]:
    """What was measured of these items and rounds."""
    metadata = row.metadata
    ends = [span["end"] for key, span in metadata.get("timings_ms", {}).items() if key in keys]
    rounds = [facts for facts in metadata.get("rounds", []) if facts.get("round", 0) <= number]
    return {
        "reasoning_durations_ms": {
            key: ms for key, ms in metadata.get("reasoning_durations_ms", {}).items() if key in keys
        },
        "timings_ms": {key: span for key, span in metadata.get("timings_ms", {}).items() if key in keys},
        "rounds": rounds,
        "elapsed_ms": max(ends, default=0),
        "copied": len(rounds),
        BY_PROGRAM: True,
    }
