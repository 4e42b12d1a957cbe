"""Writes the tree: conversations, questions and the empty answers below them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Case, Exists, F, OuterRef, Value, When
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from ..core.items import ITEM_CAP, Item, Kind, clean
from ..core.titles import first_words
from .changes import Begun, tell_owner
from .database.worded import Inserted, Worded
from .models import IS_LIVE, LIVE, Conversation, Message, Role, Status, TitledBy
from .models import Item as ItemRow
from .refusal import BeyondLimit
from .refusal import Refused as Refused
from .rows import Claim, insert_items, item_row
from .turns_at_once import RUNNING_OF_ITS_OWNER, hold_person, refuse_another, refuse_beside

QUEUED: dict[str, Any] = {"status": Status.QUEUED}
CLAIMED: dict[str, Any] = {"status": Status.RUNNING, "attempt": 1, "tries": 1}


@dataclass(frozen=True, slots=True)
class Started:
    """A question and the answer that is still to come. `row`: the conversation as it stands until the answer has ended, where it was
    loaded to be written to."""

    conversation: UUID
    question: UUID
    answer: UUID
    row: Conversation | None = field(default=None, compare=False, repr=False)

    @property
    def claim(self) -> Claim:
        """Of whoever was named as its runner."""
        return Claim(self.answer, CLAIMED["attempt"])


class SentAlready(Exception):
    """This form was sent before. `started` is what came of it, where it said the same."""

    def __init__(self, started: Started | None) -> None:
        super().__init__("This form was sent already, with other words.")
        self.started = started


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """How a question is to be answered. `submission` names the form, so that sending it twice makes one.
    `sent_from`: the message from which on the branch is sent, where older turns are left out. `claimed`: its runner begins
    at once, so that its first attempt is made with it; else it waits until somebody claims it."""

    model: str
    effort: str = ""
    runner: str = ""
    claimed: bool = False
    submission: UUID | None = None
    sent_from: UUID | None = None


def start_conversation(owner: User, *, tools: list[Any], instructions: str = "") -> Conversation:
    return Conversation.objects.create(owner=owner, tools=tools, instructions=clean(instructions))


def start_turn(
    conversation: UUID,
    text: str,
    *,
    parent: UUID | None,
    author: User | None,
    asked: AskedFor,
    may: Callable[[Conversation], None] | None = None,
) -> Started:
    """A question below `parent` and its queued answer; the head moves there. `may` gets the conversation's row when nobody else can
    change it, and raises what it likes where nothing is to be written."""
    how = asked, may
    return _once(asked, author, _worded(text), lambda: _start_turn(conversation, text, parent, author, *how))


def open_conversation(
    owner: User, text: str, *, tools: list[Any], asked: AskedFor, instructions: str = ""
) -> Started:
    """A conversation with its first question, or nothing at all."""

    def start() -> Started:
        conversation = start_conversation(owner, tools=tools, instructions=instructions)
        return _start_turn(conversation.id, text, None, owner, asked, None)

    return _once(asked, owner, _worded(text), start)


def start_answer(question: UUID, *, author: User | None, asked: AskedFor) -> Started:
    """Another answer to the same question, beside those it has."""

    def start() -> Started:
        rows = Message.objects.filter(pk=question, role=Role.USER, deletion=None)
        row = rows.first()
        answer_id = uuid4()
        here: Any = _HELD_FOR_AN_ANSWER.first(row.conversation_id, answer_id) if row else None
        # It is asked once more, now that nobody can delete it meanwhile.
        if row is None or here is None or not rows.exists():
            raise Refused("That question is not there any more.")
        refuse_to_write(here)
        _refuse_one_more(author, here)
        before = _ABOVE.first(row.parent_id, here.pk) if row.parent_id else None
        answer = _answer_to(row, here.next_order - 1, author, asked, before=before, pk=answer_id)
        _MESSAGES.write([answer])
        tell_owner(here.owner_id, here.pk, "turn queued", answer.id)
        return Started(here.pk, row.id, answer.id, here)

    return _once(asked, author, None, start)


def _once(asked: AskedFor, author: User | None, words: str | None, start: Callable[[], Started]) -> Started:
    """All of it or nothing, and never twice for one form."""
    try:
        with transaction.atomic():
            # Before the conversation.
            if author:
                hold_person(author)
            return start()
    except (IntegrityError, BeyondLimit) as error:
        row = _sent_before(asked, author)
        if asked.submission is None or (row is None and isinstance(error, BeyondLimit)):
            raise
    same = row and (words is None or _question_of(row) == words)
    raise SentAlready(_started(row) if row and same else None)


def _sent_before(asked: AskedFor, author: User | None) -> Message | None:
    before = Message.objects.filter(submission=asked.submission, author=author, role=Role.ASSISTANT)
    return before.exclude(submission=None).select_related("parent").first()


def _question_of(answer: Message) -> str | None:
    return ItemRow.objects.filter(message=answer.parent_id, seq=0).values_list("text", flat=True).first()


def _started(answer: Message) -> Started:
    assert answer.parent_id
    return Started(answer.conversation_id, answer.parent_id, answer.id)


def _worded(text: str) -> str:
    return clean(text).strip()


def _start_turn(
    conversation: UUID,
    text: str,
    parent: UUID | None,
    author: User | None,
    asked: AskedFor,
    may: Callable[[Conversation], None] | None,
) -> Started:
    words = _worded(text)
    if not words:
        raise Refused("Write a question first.")
    if len(words.encode()) > ITEM_CAP:
        raise Refused("The question is too long: at most 4 MiB.")
    pk, answer_pk = uuid4(), uuid4()
    here: Any = _HELD.first(conversation, answer_pk, timezone.now(), first_words(words))
    if here is None:
        raise Refused("That conversation is not there any more.")
    if may:
        may(here)
    refuse_to_write(here)
    _refuse_one_more(author, here)
    above: Any = _ABOVE.first(parent, conversation) if parent else None
    _refuse_to_follow(parent, above)
    question = Message(
        id=pk,
        conversation=here,
        parent_id=parent,
        order=here.next_order - 2,
        role=Role.USER,
        author=author,
        next_seq=1,
    )
    answer = _answer_to(question, here.next_order - 1, author, asked, before=above, pk=answer_pk)
    _MESSAGES.write([question, answer])
    said = Item(key="part-0", kind=Kind.USER_MESSAGE, text=words)
    insert_items([item_row(question.pk, 0, said)])
    answer.owner, answer.stands = here.owner_id, True
    written = Begun(question, said, answer, above, is_only_turn=not (above and above.has_others))
    is_alone = not (above.has_more if above else question.order)
    tell_owner(here.owner_id, conversation, "turn queued", answer.id, written if is_alone else None)
    return Started(conversation, question.id, answer.id, here)


def refuse_to_write(conversation: Conversation) -> None:
    """What a program drives nobody else writes into."""
    if conversation.program:
        raise Refused(f"{conversation.program} drives this run. Fork it to go on yourself.")


def _refuse_one_more(author: User | None, here: Any) -> None:
    """`here` says how many run for its owner, which was counted after they were held."""
    if author is not None and author.pk == here.owner_id:
        refuse_beside(here.running, author)
    else:
        refuse_another(author)


def _answer_to(
    question: Message, order: int, author: User | None, asked: AskedFor, *, before: Message | None, pk: UUID
) -> Message:
    """What was left out `before` is left out from then on."""
    return Message(
        id=pk,
        conversation=question.conversation,
        parent=question,
        order=order,
        role=Role.ASSISTANT,
        author=author,
        model=asked.model,
        effort=asked.effort,
        runner=asked.runner,
        **(CLAIMED if asked.claimed else QUEUED),
        submission=asked.submission,
        sent_from_id=asked.sent_from or (before.sent_from_id if before else None),
        touched_at=Now(),
    )


_MESSAGES = Inserted(Message)
# To the row nobody else adds before this transaction has ended.
_HELD = Worded(
    lambda pk, *_: Conversation.objects.filter(pk=pk, deleted_at=None),
    UUID,
    UUID,
    datetime,
    str,
    update=lambda _, head, now, words: {
        "head": head,
        "next_order": F("next_order") + 2,
        "updated_at": now,
        "title": Case(When(title="", then=Value(words)), default=F("title")),
        "titled_by": Case(When(title="", then=Value(TitledBy.WORDS)), default=F("titled_by")),
    },
    returning=f"*, {RUNNING_OF_ITS_OWNER} AS running",
)
_HELD_FOR_AN_ANSWER = Worded(
    lambda pk, _: Conversation.objects.filter(pk=pk, deleted_at=None),
    UUID,
    UUID,
    update=lambda _, head: {"head": head, "next_order": F("next_order") + 1},
    returning=f"*, {RUNNING_OF_ITS_OWNER} AS running",
)
# `has_more`: whether something follows it already; `has_others`: whether another answer of its conversation has not ended.
_ABOVE = Worded(
    lambda pk, conversation: (
        Message.objects.only("role", "status", "sent_from")
        .annotate(
            has_more=Exists(Message.objects.filter(parent=OuterRef("pk"), deletion=None)),
            # Not a bare column: SQLite would rather read the whole conversation than begin with the few live turns.
            has_others=Exists(
                Message.objects.filter(IS_LIVE)
                .alias(place=Coalesce("conversation_id", "conversation_id"))
                .filter(place=OuterRef("conversation_id"))
            ),
        )
        .filter(pk=pk, conversation=conversation, deletion=None)
    ),
    UUID,
    UUID,
)


def _refuse_to_follow(parent: UUID | None, row: Message | None) -> None:
    if parent is None:
        return
    if row is None:
        raise Refused("The message to answer to is not in this conversation.")
    if row.role != Role.ASSISTANT:
        raise Refused("A question can only follow an answer.")
    if row.status in LIVE:
        raise Refused("This answer is still being written. Stop it, or wait until it has ended.")
