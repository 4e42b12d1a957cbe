"""Keeps what is to be asked next, and makes a turn of it once, whoever tries and however often."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from ..core.items import ITEM_CAP
from ..store import AskedFor, Refused, SentAlready, Started, start_turn
from ..store.changes import tell_owner
from ..store.models import ENDED, LIVE, Message, Role, Status
from ..store.places import load_tree
from .models import NextQuestion

BETWEEN = "\n\n"
SENT = "That question has been sent meanwhile. Look at its answer; what you wrote now is still here."
NOTHING_WAITS = "No question waits here any more."
EMPTY = "Write a question first."
TOO_LONG = "The question is too long: at most 4 MiB."


@dataclass(frozen=True, slots=True)
class Due:
    """What can be asked now, with whom it is to be asked of."""

    id: UUID
    model: str
    effort: str


def edition(words: str) -> str:
    """Names these words."""
    return blake2b(words.encode(), digest_size=8).hexdigest()


def waiting() -> QuerySet[NextQuestion]:
    return NextQuestion.objects.filter(asked_as=None)


def waits_in(user: User | int) -> Exists:
    """As a column of a conversation: whether something of theirs waits in it."""
    return Exists(waiting().filter(person=user, after__conversation=OuterRef("pk")))


def waits_for_it(user: User) -> Exists:
    """As a column of an answer."""
    return Exists(waiting().filter(person=user, after=OuterRef("pk")))


def load_next(person: User, answer: UUID) -> NextQuestion | None:
    return waiting().select_related("after").filter(person=person, after=answer).first()


@transaction.atomic
def keep(
    person: User,
    conversation: UUID,
    answer: UUID,
    text: str,
    *,
    model: str,
    effort: str,
    key: UUID,
    instead: str = "",
) -> NextQuestion | None:
    """Adds to what waits for this answer already, or takes its place. None where the answer is not being written any more; the same form
    adds once."""
    before = next((row for row in _questions_after(person, answer) if str(key) in row.keys), None)
    if before:
        return before
    # It may have been sent while this was typed: this comes after its answer then.
    row = _held_live(conversation, answer) or _held_live(conversation, _asked_after(person, answer))
    if row is None:
        return None
    kept = _first_held(_questions_after(person, row.pk).filter(asked_as=None)) or NextQuestion(
        person=person, after=row
    )
    # Asked once more, now that the same form waits for this one.
    if str(key) in kept.keys:
        return kept
    kept.text = _bounded(_with(kept.text, text, instead))
    kept.model, kept.effort, kept.why_not = model, effort, ""
    kept.keys = [*kept.keys, str(key)]
    kept.save()
    _tell(row.conversation_id)
    return kept


def begin_edit(person: User, answer: Message) -> None:
    _change(person, answer, is_edited=True)


def leave_edit(person: User, answer: Message) -> None:
    """It is as it was before."""
    _change(person, answer, is_edited=False)


def save_edit(person: User, answer: Message, text: str) -> None:
    _change(person, answer, text=_bounded(text), is_edited=False, why_not="")


@transaction.atomic
def remove(person: User, answer: Message) -> None:
    row = _first_held(_questions_after(person, answer.pk).filter(asked_as=None))
    if row is None:
        raise Refused(_why_none(person, answer.pk))
    row.delete()
    _tell(answer.conversation_id)


@transaction.atomic
def move(person: User, *, before: UUID, to: UUID) -> None:
    """To another answer to the same question, which is made instead of one that ended without being whole."""
    row = _first_held(_questions_after(person, before).filter(asked_as=None, after__status__in=_UNFINISHED))
    if row:
        row.after_id = to
        row.save(update_fields=["after"])
        _tell(Message.objects.values_list("conversation_id", flat=True).get(pk=to))


def load_due() -> tuple[list[Due], set[UUID]]:
    """What can be asked now, and the answers that are still waited for."""
    rows = (
        waiting()
        .filter(after__deletion=None, after__conversation__deleted_at=None, person__is_active=True)
        .filter(Q(after__status__in=LIVE) | _may_be_sent() | _is_passed())
    )
    found = list(rows.values_list("id", "model", "effort", "after", "after__status"))
    due = [Due(pk, model, effort) for pk, model, effort, _, status in found if status not in LIVE]
    return due, {after for *_, after, status in found if status in LIVE}


@transaction.atomic
def ask_when_due(pk: UUID, asked: AskedFor) -> Started | None:
    """The turn that it becomes. None where it cannot be sent now, or somebody else has sent it."""
    row = _first_held(waiting().filter(pk=pk))
    if row is None or _goes_along(row):
        return None
    if not waiting().filter(_may_be_sent(), pk=pk).exists():
        return None
    return _start_turn_of(row, row.text, asked)


def note_why_not(pk: UUID, sentence: str) -> None:
    """It waits for a word of its person from now on."""
    with transaction.atomic():
        row = _first_held(waiting().filter(pk=pk))
        # Whoever tells it looks again: nothing is told twice.
        if row is not None and row.why_not != sentence:
            row.why_not = sentence
            row.save(update_fields=["why_not"])
            _tell(row.after.conversation_id)


@transaction.atomic
def ask_now(
    person: User,
    conversation: UUID,
    answer: UUID,
    more: str,
    *,
    key: UUID,
    asked: AskedFor,
    instead: str = "",
) -> Started:
    """What waits, with what was written since then or instead of it. SentAlready and Refused as `start_turn`."""
    row = _first_held(
        _questions_after(person, answer).filter(asked_as=None, after__conversation=conversation)
    )
    if row is None:
        raise _sent_already(person, answer, key) or Refused(_why_none(person, answer))
    row.keys = [*row.keys, str(key)]
    return _start_turn_of(row, _with(row.text, more, instead), asked)


def name_of_next(person: User, answer: UUID) -> UUID | None:
    """What the turn is called that is made of it, so that there is one."""
    return _questions_after(person, answer).filter(asked_as=None).values_list("pk", flat=True).first()


_UNFINISHED = tuple(status for status in ENDED if status != Status.COMPLETE)


def _questions_after(person: User, answer: UUID) -> QuerySet[NextQuestion]:
    return NextQuestion.objects.filter(person=person, after=answer)


def _may_be_sent() -> Q:
    return Q(after__status=Status.COMPLETE, is_edited=False, why_not="")


def _is_passed() -> Q:
    """Somebody asked something else below it."""
    below = Message.objects.filter(parent=OuterRef("after"), deletion=None)
    return Q(Exists(below), after__status__in=ENDED)


def _first_held(rows: QuerySet[NextQuestion]) -> NextQuestion | None:
    return rows.select_for_update(of=("self",), no_key=True).select_related("after", "person").first()


def _held_live(conversation: UUID, answer: UUID | None) -> Message | None:
    """The answer, which nobody ends before this transaction has ended; None where it is not being written."""
    if answer is None:
        return None
    rows = Message.objects.select_for_update(no_key=True).only("conversation")
    return rows.filter(pk=answer, conversation=conversation, status__in=LIVE, deletion=None).first()


def _asked_after(person: User, answer: UUID) -> UUID | None:
    rows = _questions_after(person, answer).exclude(asked_as=None).order_by("-created_at")
    return rows.values_list("asked_as", flat=True).first()


def _goes_along(row: NextQuestion) -> bool:
    """Where the branch went on without it, it waits for what is its last answer now."""
    leaf = load_tree(row.after.conversation_id).newest_leaf(row.after_id)
    if leaf is None or leaf == row.after_id:
        return False
    if Message.objects.filter(pk=leaf, role=Role.ASSISTANT).exists():
        there = _first_held(_questions_after(row.person, leaf).filter(asked_as=None))
        if there:
            there.text, there.keys = _one_below_the_other(row.text, there.text), [*row.keys, *there.keys]
            there.save()
            row.delete()
        else:
            row.after_id = leaf
            row.save(update_fields=["after"])
        _tell(row.after.conversation_id)
    return True


def _start_turn_of(row: NextQuestion, words: str, asked: AskedFor) -> Started:
    conversation = row.after.conversation_id
    # First, so that pages take away what waits before they are told that it was asked.
    _tell(conversation)
    started = start_turn(conversation, words, parent=row.after_id, author=row.person, asked=asked)
    row.asked_as_id, row.text, row.is_edited, row.why_not = started.answer, "", False, ""
    row.save()
    return started


def _sent_already(person: User, answer: UUID, key: UUID) -> SentAlready | None:
    for row in _questions_after(person, answer).exclude(asked_as=None).select_related("asked_as"):
        sent = row.asked_as
        if sent and sent.parent_id and str(key) in row.keys:
            return SentAlready(Started(sent.conversation_id, sent.parent_id, sent.pk))
    return None


def _why_none(person: User, answer: UUID) -> str:
    return SENT if _questions_after(person, answer).exists() else NOTHING_WAITS


@transaction.atomic
def _change(person: User, answer: Message, **fields: object) -> None:
    row = _first_held(_questions_after(person, answer.pk).filter(asked_as=None))
    if row is None:
        raise Refused(_why_none(person, answer.pk))
    for name, value in fields.items():
        setattr(row, name, value)
    row.save(update_fields=list(fields))
    _tell(answer.conversation_id)


def _with(waits: str, more: str, instead: str) -> str:
    """`instead`: the edition that was reworded. Where another page changed it meanwhile both are kept."""
    return more.strip() if more.strip() and instead == edition(waits) else _one_below_the_other(waits, more)


def _one_below_the_other(*texts: str) -> str:
    return BETWEEN.join(filter(None, (text.strip() for text in texts)))


def _bounded(text: str) -> str:
    if not text.strip():
        raise Refused(EMPTY)
    if len(text.encode()) > ITEM_CAP:
        raise Refused(TOO_LONG)
    return text.strip()


def _tell(conversation: UUID) -> None:
    """No list shows it, so its owner's other pages are not told."""
    tell_owner(None, conversation, "next question")
