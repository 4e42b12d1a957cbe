"""A fork: messages copied into a conversation of one's own, with where they came from. The source is only read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from ...core.titles import TITLE_CAP, one_line
from ...core.tree import Tree, repair
from ...store.changes import tell
from ...store.database.long_writes import ONE_AT_A_TIME, UNSEEN, is_long, living, long_write
from ...store.database.worded import Worded
from ...store.models import LIVE, Conversation, Message, Role, TitledBy
from ...store.tree import Refused
from ..models import Origin
from .copying import Copy, Parts, copy_messages, copy_settings, forget_arguments

MOST = 20_000
FORK_OF = "Fork of "
NOT_THERE = "That message is not there any more."
DELETED = "You deleted the fork that this form made. Reload the page to make another one."
WENT_ON = "The conversation changed while it was copied. Nothing was made; try again in a moment."
NOT_FINISHED = "The fork that this form began was not finished. Reload the page to make another one."
NOTHING_ENDED = "The answer is still being written. Fork it when it has ended."


class Extent(StrEnum):
    """How much is copied: the branch down to a message; with it whatever else is below its messages; or all there is."""

    BRANCH = "branch"
    WITH_SIDES = "with sides"
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class Forked:
    """`left_out`: answers that were still being written. `copies`: what became of each message, where it was made just now."""

    conversation: Conversation
    messages: int
    left_out: int
    copies: Mapping[UUID, UUID] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Manner:
    """How messages that are not one's own are taken. `hold` says in each transaction that they may still be; `dress` is given the
    messages that were just copied, each with its copy, and takes away what does not go along; `noted` goes into the origin."""

    hold: Callable[[], object] = lambda: None
    dress: Callable[[Mapping[UUID, UUID]], object] = lambda copies: None
    noted: Mapping[str, Any] = field(default_factory=dict)


def fork(
    source: Message,
    *,
    by: User,
    extent: Extent = Extent.BRANCH,
    title: str | None = None,
    called: str | None = None,
    submission: UUID | None = None,
    allowed: Container[UUID] | None = None,
    parts: Parts = Parts(),  # noqa: B008  (a value that cannot change)
    manner: Manner = Manner(),
) -> Forked:
    """`allowed`: for the fork no other messages exist. `parts`: what whoever forks may see of them. `called`: the title under
    which they know the source, where that is another one. `submission` names the form, so that sending it twice makes one fork."""
    pk = submission or uuid4()
    if before := _made_before(pk, by):
        return before
    plan = partial(
        _plan, source, by=by, pk=pk, extent=extent, called=called, allowed=allowed, parts=parts, manner=manner
    )
    if is_long(source.conversation_id):
        return _fork_in_pieces(plan, by, pk, title)
    with transaction.atomic():
        _conversation_there(source.conversation_id, hold=True)
        return _made_before(pk, by) or _fork_at_once(plan(), title)


def _fork_at_once(making: _Making, title: str | None) -> Forked:
    making.begin(title)
    making.copy(list(making.copies.values()))
    return making.end()


def _fork_in_pieces(plan: Callable[[], _Making], by: User, pk: UUID, title: str | None) -> Forked:
    """Others write between them."""
    with long_write(by, made=pk) as write:
        if before := _made_before(pk, by):
            return before
        making = plan()
        with write.piece():
            making.begin(title)
        write.each(list(making.copies.values()), making.copy)
        with write.piece():
            return making.end()


def _plan(
    source: Message,
    *,
    by: User,
    pk: UUID,
    extent: Extent,
    called: str | None,
    allowed: Container[UUID] | None,
    parts: Parts,
    manner: Manner,
) -> _Making:
    """What has changed before it is copied is noticed then."""
    origin = _conversation_there(source.conversation_id)
    chosen = _choose(_load_tree(origin, allowed), source, extent, _load_unfinished(origin))
    origin.title = origin.title if called is None else called
    return _Making(origin, source, by, pk, chosen, _copies(chosen, _load_starts(origin)), parts, manner)


@dataclass(frozen=True, slots=True)
class _Making:
    """A fork that nobody sees before it is whole."""

    origin: Conversation
    source: Message
    by: User
    pk: UUID
    chosen: _Chosen
    copies: Mapping[UUID, Copy]
    parts: Parts
    manner: Manner

    def begin(self, title: str | None) -> None:
        named = _title_of_fork(self.origin.title) if title is None else one_line(title)[:TITLE_CAP]
        # Its title is found: no model need look for another.
        titled_by = TitledBy.PERSON if named else ""
        Conversation.objects.create(
            pk=self.pk, owner=self.by, title=named, titled_by=titled_by, tools=[], deleted_at=UNSEEN
        )

    def copy(self, some: Sequence[Copy]) -> None:
        self._hold()
        as_they_were = Message.objects.filter(pk__in=[copy.old for copy in some], deletion=None)
        if as_they_were.exclude(status__in=LIVE).count() != len(some):
            raise Refused(WENT_ON)
        copy_messages(some, into=self.pk, by=self.by, parts=self.parts)
        if not self.parts.tools:
            forget_arguments([copy.new for copy in some])
        self.manner.dress({copy.old: copy.new for copy in some})

    def end(self) -> Forked:
        self._hold()
        copy_settings(self.origin, self.pk, parts=self.parts)
        self._note_origin()
        head = self.copies[self.chosen.head].new if self.chosen.head else None
        Conversation.objects.filter(pk=self.pk).update(
            head=head,
            next_order=len(self.copies),
            forked_from=self.source.pk,
            deleted_at=None,
            updated_at=timezone.now(),
        )
        tell(self.pk, "listed")
        made = Conversation.objects.defer("tools").get(pk=self.pk)
        became = {pk: copy.new for pk, copy in self.copies.items()}
        return Forked(made, len(self.copies), self.chosen.left_out, became)

    def _hold(self) -> None:
        self.manner.hold()
        _conversation_there(self.origin.pk, hold=True)

    def _note_origin(self) -> None:
        Origin.objects.create(
            conversation_id=self.pk,
            source=self.origin,
            message_id=self.source.pk,
            owner=self.origin.owner,
            owner_name=self.origin.owner.get_username(),
            title=self.origin.title,
            by=self.by,
            **self.manner.noted,
        )


@dataclass(frozen=True, slots=True)
class Origins:
    """Where a conversation came from, and its forks, the newest first, each with whoever made it. Forks that were deleted are left out."""

    own: Origin | None
    forks: list[Origin]


# Most conversations are no forks, and were never forked.
_ANY_ORIGIN = Worded(
    lambda conversation: Origin.objects.filter(Q(pk=conversation) | Q(source=conversation)).values("pk")[:1],
    UUID,
)


def load_origins(conversation: UUID, readable: Callable[[], QuerySet[Any]] | None = None) -> Origins:
    """With what is left of a source, and whose it is now. Whether it may be shown depends on who asks and on what was deleted.
    `readable`: the submissions that they may open; where the fork was made of one of these, it `opens_review`."""
    if not _ANY_ORIGIN.columns(conversation):
        return Origins(None, [])
    here = Q(pk=conversation) | Q(source=conversation, conversation__deleted_at=None)
    rows = Origin.objects.filter(here).select_related(
        "conversation__head", "source", "message", "owner", "by"
    )
    if readable is not None:
        opens = Exists(readable().filter(pk=OuterRef("submission")))
        rows = rows.annotate(opens_review=opens)  # type: ignore[no-redef]
    # A damaged row elsewhere must not hide where something came from.
    unread = ("conversation__tools", "conversation__head__metadata", "source__tools", "message__metadata")
    found = list(rows.defer(*unread).order_by("-made_at", "-pk"))
    own = next((row for row in found if row.pk == conversation), None)
    return Origins(own, [row for row in found if row.pk != conversation])


def _made_before(submission: UUID, by: User) -> Forked | None:
    before = Conversation.objects.defer("tools").filter(pk=submission, owner=by).first()
    if before and before.deleted_at == UNSEEN:
        raise Refused(ONE_AT_A_TIME if living().filter(made=submission).exists() else NOT_FINISHED)
    if before and before.deleted_at:
        raise Refused(DELETED)
    return Forked(before, before.next_order, 0) if before else None


def _conversation_there(conversation: UUID, *, hold: bool = False) -> Conversation:
    """`hold`: nobody asks, deletes or continues in it meanwhile."""
    rows = Conversation.objects.select_related("owner").defer("tools")
    held = rows.select_for_update(of=("self",), no_key=True) if hold else rows
    row = held.filter(pk=conversation, deleted_at=None).first()
    if row is None:
        raise Refused(NOT_THERE)
    return row


def _load_tree(conversation: Conversation, allowed: Container[UUID] | None) -> Tree[UUID]:
    rows = Message.objects.filter(conversation=conversation, deletion=None).order_by("order")
    pairs = rows.values_list("pk", "parent_id").iterator()
    return repair((pk, parent) for pk, parent in pairs if allowed is None or pk in allowed)


def _load_starts(conversation: Conversation) -> dict[UUID, UUID]:
    """Where older turns are left out: from which message on an answer's branch is sent."""
    rows = Message.objects.filter(conversation=conversation, deletion=None, sent_from__isnull=False)
    return dict(rows.values_list("pk", "sent_from_id"))


@dataclass(frozen=True, slots=True)
class _Unfinished:
    """Answers that are being written, and those of the messages above them that are questions."""

    answers: frozenset[UUID]
    questions: frozenset[UUID]


def _load_unfinished(conversation: Conversation) -> _Unfinished:
    live = Message.objects.filter(conversation=conversation, deletion=None, status__in=LIVE)
    asked = live.filter(parent__role=Role.USER)
    answers = live.values_list("pk", flat=True)
    return _Unfinished(frozenset(answers), frozenset(asked.values_list("parent_id", flat=True)))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """`parents`: the messages to copy, in their order, each with the one above it."""

    parents: dict[UUID, UUID | None]
    head: UUID | None
    left_out: int


def _choose(tree: Tree[UUID], source: Message, extent: Extent, unfinished: _Unfinished) -> _Chosen:
    if source.pk not in tree.parents:
        raise Refused(NOT_THERE)
    wanted = _wanted(tree, source.pk, extent)
    kept = _ended(tree, wanted, unfinished, source.pk)
    if len(kept) > MOST:
        raise Refused(
            f"A fork holds at most {MOST:,} messages, and these are {len(kept):,}. Choose less of them."
        )
    if not kept:
        raise Refused(NOTHING_ENDED)
    parents = {pk: parent for pk, parent in tree.parents.items() if pk in kept}
    nearest = next((pk for pk in reversed(tree.path_to(source.pk)) if pk in kept), None)
    head = repair(parents.items()).newest_leaf(nearest)
    return _Chosen(parents, head, sum(pk in unfinished.answers for pk in wanted))


def _wanted(tree: Tree[UUID], source: UUID, extent: Extent) -> tuple[UUID, ...]:
    """Parents before children."""
    path = tree.path_to(source)
    match extent:
        case Extent.BRANCH:
            return path
        case Extent.WITH_SIDES:
            return (path[0], *tree.below(path[0]))
        case Extent.EVERYTHING:
            return tree.below(None)


def _ended(
    tree: Tree[UUID], wanted: Iterable[UUID], unfinished: _Unfinished, source: UUID
) -> Collection[UUID]:
    """Without answers that are being written, and without their questions where those would stand alone."""
    kept: set[UUID | None] = {None}
    for pk in wanted:
        if pk not in unfinished.answers and tree.parents[pk] in kept:
            kept.add(pk)
    answered = {tree.parents[pk] for pk in kept if pk}
    alone = unfinished.questions - answered - {source}
    return {pk for pk in kept if pk and pk not in alone}


def _copies(chosen: _Chosen, starts: dict[UUID, UUID]) -> dict[UUID, Copy]:
    # In their order, or indexes would be written all over: twice as slow.
    ids = sorted(uuid4() for _ in chosen.parents)
    new = dict(zip(chosen.parents, ids, strict=True))
    begins = {pk: new.get(start) for pk, start in starts.items()}
    return {
        pk: Copy(pk, new[pk], parent and new[parent], begins.get(pk), n)
        for n, (pk, parent) in enumerate(chosen.parents.items())
    }


def _title_of_fork(title: str) -> str:
    """The fork of a fork is called like one."""
    bare = title.removeprefix(FORK_OF)
    return f"{FORK_OF}{bare}"[:TITLE_CAP] if bare else ""
