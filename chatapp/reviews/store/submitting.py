"""The owner's side of a review: what is submitted, fixed as it is at that moment; taken back; and asked for by administrators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q, QuerySet
from django.utils import timezone

from ...core.items import clean
from ...core.recorded import Recorded
from ...core.tree import Tree
from ...sharing.store import facts_for_reviewers
from ...store import deleting
from ...store.changes import tell_person
from ...store.database.long_writes import ONE_AT_A_TIME, UNSEEN, giving_way, is_long, living, long_write
from ...store.database.worded import Worded
from ...store.models import LIVE, UNFINISHED, Conversation, Message, Role
from ...store.places import load_tree
from ...store.tree import Refused
from ..models import LabelSet, Scope, Submission, Submitted, Wish
from .rating import has_room, seats_taken
from .reviewers import reviewers

MOST_MESSAGES = 20_000
# Of one conversation that nobody has judged yet.
MOST_OPEN = 20
BATCH = 500
GONE = "That message is not there any more."
WITHDRAWN = "You withdrew what this form submitted. Reload the page to submit again."
CHANGED = "The conversation changed while it was submitted. Nothing was submitted; try again in a moment."
NOT_FINISHED = "What this form began to submit was not finished. Reload the page to submit again."
STILL_WRITTEN = "This answer is still being written. Submit it when it has ended."
_COLUMNS = ("role", "status", "model", "next_seq", "metadata")


def submit(
    message: Message,
    *,
    by: User,
    scope: Scope = Scope.BRANCH,
    question: str = "",
    may_leave: bool = False,
    label_set: LabelSet | None = None,
    key: UUID | None = None,
) -> Submission:
    """The branch down to this message, or the whole tree without what is still being written. What is asked, continued or renamed
    later is not in it. `key` names the form, so that sending it twice submits once."""
    pk = key or uuid4()
    said = {"question": clean(question), "may_leave": may_leave, "label_set": label_set}
    making = partial(_making, message, by=by, scope=scope, pk=pk, said=said)
    if not is_long(message.conversation_id):
        with transaction.atomic():
            _held_conversation(message.conversation_id, by)
            if before := _made_before(message.conversation_id, pk):
                return before
            made, rows = making()
            made.save(force_insert=True)
            _fix(made, by, rows)
            return _made_visible(made, by)
    if before := _made_before(message.conversation_id, pk):
        return before
    with long_write(by, made=pk) as write:
        if before := _made_before(message.conversation_id, pk):
            return before
        made, rows = making()
        with write.piece():
            made.save(force_insert=True)
        write.each(rows, lambda some: _fix(made, by, some))
        with write.piece():
            return _made_visible(made, by)


def _made_before(conversation: UUID, pk: UUID) -> Submission | None:
    before = Submission.objects.filter(pk=pk, conversation=conversation).first()
    if before and before.withdrawn_at == UNSEEN:
        raise Refused(ONE_AT_A_TIME if living().filter(made=pk).exists() else NOT_FINISHED)
    if before and before.withdrawn_at:
        raise Refused(WITHDRAWN)
    return before


def _making(
    message: Message, *, by: User, scope: Scope, pk: UUID, said: Mapping[str, Any]
) -> tuple[Submission, list[_Row]]:
    """What is to be stored, hidden for now."""
    here = message.conversation_id
    rows = _load_rows(here, by)
    if message.pk not in rows:
        raise Refused(GONE)
    if rows[message.pk].status in LIVE:
        raise Refused(STILL_WRITTEN)
    if Submission.objects.filter(conversation=here, decided_at=None, withdrawn_at=None).count() >= MOST_OPEN:
        raise Refused(
            f"{MOST_OPEN} submissions of this conversation wait already. Withdraw one of them first."
        )
    tree = load_tree(here)
    chosen = _choose(tree, rows, message.pk, scope)
    if len(chosen) > MOST_MESSAGES:
        raise Refused(f"A submission holds at most {MOST_MESSAGES:,} messages. Submit this branch alone.")
    made = Submission(
        pk=pk,
        conversation_id=here,
        leaf=message,
        scope=scope,
        withdrawn_at=UNSEEN,
        **said,
        **_sums_to_keep(chosen, tree),
    )
    return made, chosen


def _fix(made: Submission, by: User, rows: Sequence[_Row]) -> None:
    """As they were read: whoever went on meanwhile is asked to submit again."""
    if _held_conversation(made.conversation_id, by) is None:
        raise Refused(GONE)
    now = Message.objects.filter(pk__in=[row.pk for row in rows], deletion=None)
    if dict(now.values_list("pk", "next_seq")) != {row.pk: row.next_seq for row in rows}:
        raise Refused(CHANGED)
    Submitted.objects.bulk_create((_fixed(made, row) for row in rows), batch_size=BATCH)


def _made_visible(made: Submission, by: User) -> Submission:
    if _held_conversation(made.conversation_id, by) is None:
        raise Refused(GONE)
    made.withdrawn_at, made.created_at = None, timezone.now()
    made.save(update_fields=["withdrawn_at", "created_at"])
    waiting = Wish.objects.filter(conversation=made.conversation_id, answered_at=None)
    waiting.update(answered_at=timezone.now())
    tell_reviewers(by.pk)
    return made


@transaction.atomic
def withdraw(submission: Submission) -> bool:
    """Gone at once from every page that reads it. False where it was gone already."""
    rows = Submission.objects.filter(pk=submission.pk, withdrawn_at=None)
    if not rows.update(withdrawn_at=timezone.now(), news_for_reviewer=False):
        return False
    if submission.label_set_id:
        submission.seats.update(news=False)
    tell_reviewers(submission.conversation.owner_id)
    return True


@transaction.atomic
def ask_to_submit(conversation: Conversation, *, by: User, words: str = "") -> Wish:
    """Nothing is read and nothing is submitted by it. Asking again while it waits changes its words."""
    Conversation.objects.select_for_update(no_key=True).get(pk=conversation.pk)
    changes = {"by": by, "words": clean(words), "created_at": timezone.now()}
    wish, _ = Wish.objects.update_or_create(conversation=conversation, answered_at=None, defaults=changes)
    tell_person(conversation.owner_id, "reviews")
    return wish


@transaction.atomic
def decline(wish: Wish) -> None:
    Wish.objects.filter(pk=wish.pk, answered_at=None).update(answered_at=timezone.now())
    tell_person(wish.conversation.owner_id, "reviews")


# Most conversations were never submitted, and nobody asked for that.
_ANYTHING = Worded(
    lambda conversation: Conversation.objects.filter(
        Exists(Submission.objects.filter(conversation=OuterRef("pk")))
        | Exists(Wish.objects.filter(conversation=OuterRef("pk"))),
        pk=conversation,
    ).values("pk"),
    UUID,
)


def may_have_reviews(conversation: UUID) -> bool:
    return bool(_ANYTHING.columns(conversation))


def wishes_of(owner: User, conversation: UUID | None = None) -> QuerySet[Wish]:
    """Those that wait for an answer: of one conversation, or all. Where nothing was said there is nothing to submit."""
    said = Message.objects.filter(conversation=OuterRef("conversation"), deletion=None)
    rows = Wish.objects.filter(conversation__owner=owner, conversation__deleted_at=None, answered_at=None)
    found = rows.filter(Exists(said)).select_related("conversation__head", "by").order_by("-created_at")
    found = found.defer("conversation__tools", "conversation__head__metadata")
    return found.filter(conversation=conversation) if conversation else found


def submissions_of(owner: User, conversation: UUID | None = None) -> QuerySet[Submission]:
    """Not those that were taken back, the newest first. What was deleted is not there."""
    rows = there().filter(conversation__owner=owner).order_by("-created_at", "-pk")
    return rows.filter(conversation=conversation) if conversation else rows


def there() -> QuerySet[Submission]:
    """Submissions of which something can be read, each with whether somebody holds it who still reviews."""
    left = Submitted.objects.filter(submission=OuterRef("pk"), message__deletion=None)
    rows = Submission.objects.select_related("conversation__owner", "reviewer", "label_set")
    rows = rows.defer("conversation__tools", "conversation__instructions")
    holders = reviewers().order_by().filter(pk=OuterRef("reviewer"))
    known = rows.annotate(seats_taken=seats_taken()).annotate(  # type: ignore[no-redef]
        is_held=ExpressionWrapper(
            Q(Exists(holders), label_set=None) | Q(~has_room(), label_set__isnull=False), BooleanField()
        )
    )
    owned = known.filter(conversation__deleted_at=None, conversation__owner__is_active=True)
    return owned.filter(Exists(left), withdrawn_at=None)


def tell_reviewers(owner: int) -> None:
    for pk in {owner, *reviewers().values_list("pk", flat=True)}:
        tell_person(pk, "reviews")


@dataclass(frozen=True, slots=True)
class _Row:
    pk: UUID
    role: str
    status: str
    model: str
    next_seq: int
    metadata: Any


def _held_conversation(conversation: UUID, owner: User) -> UUID | None:
    """Nobody asks, deletes or continues in it meanwhile."""
    held = Conversation.objects.select_for_update(no_key=True).filter(owner=owner, deleted_at=None)
    return held.filter(pk=conversation).values_list("pk", flat=True).first()


def _load_rows(conversation: UUID, owner: User) -> dict[UUID, _Row]:
    theirs = {"conversation__owner": owner, "conversation__deleted_at": None}
    there = Message.objects.filter(conversation=conversation, deletion=None, **theirs)
    rows = there.values_list("pk", *_COLUMNS)
    return {row[0]: _Row(*row) for row in rows.iterator()}


def _choose(tree: Tree[UUID], rows: dict[UUID, _Row], leaf: UUID, scope: Scope) -> list[_Row]:
    if scope == Scope.BRANCH:
        return [rows[pk] for pk in tree.path_to(leaf)]
    ended: dict[UUID | None, None] = {None: None}
    for pk in tree.below(None):
        if rows[pk].status not in LIVE and tree.parents[pk] in ended:
            ended[pk] = None
    return [rows[pk] for pk in ended if pk]


def _sums_to_keep(chosen: Sequence[_Row], tree: Tree[UUID]) -> dict[str, Any]:
    above = {tree.parents[row.pk] for row in chosen}
    answers = [row for row in chosen if row.role == Role.ASSISTANT]
    taken = [ms for row in answers for ms in Recorded(row.metadata).thoughts.values()]
    models = list(dict.fromkeys(row.model for row in answers if row.model))
    return {
        "branches": sum(row.pk not in above for row in chosen),
        "thought_ms": sum(taken) if taken else None,
        "by_models": models,
    }


def _fixed(submission: Submission, row: _Row) -> Submitted:
    """A finished message does not change any more; one that may go on is remembered as it stands."""
    kept = {"submission": submission, "message_id": row.pk, "items": row.next_seq}
    if row.status in UNFINISHED:
        return Submitted(**kept, status=row.status, facts=facts_for_reviewers(row.metadata))
    return Submitted(**kept)


def forget_begun(made: Collection[UUID]) -> None:
    """Submissions whose writing ended before they were whole, a little at a time."""
    for begun in Submission.objects.filter(withdrawn_at=UNSEEN).exclude(pk__in=made):
        while some := list(begun.messages.values_list("pk", flat=True)[:BATCH]):
            with giving_way():
                begun.messages.filter(pk__in=some).delete()
        begun.delete()


deleting.ALSO.append(forget_begun)
