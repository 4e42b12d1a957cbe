"""Links to a branch: made, listed, opened, and taken back. Each is pinned to a leaf; what comes later is not behind it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from ..branches.store.copying import BATCH, Parts, forget_in_decisions
from ..branches.store.forking import FORK_OF, Extent, Forked, Manner, fork
from ..core.items import Kind
from ..core.recorded import BY_PROGRAM, BY_PROGRAM_BEFORE
from ..core.titles import first_words
from ..store.changes import tell
from ..store.models import LIVE, Conversation, Item, Message, TitledBy
from ..store.places import load_tree
from ..store.tree import Refused
from .models import Share

MOST_LINKS = 100
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
NOT_OPEN = "This link does not open anything any more."
# What an answer's record says to others: neither what was sent for it, nor what its provider said when it failed.
_FACTS = (
    *("reasoning_durations_ms", "timings_ms", "elapsed_ms", "rounds", "goes_on_at"),
    *(BY_PROGRAM, BY_PROGRAM_BEFORE),
)
_ROUND = ("round", "model", "usage", "first_event_ms", "repaired")
_REQUEST = (*_ROUND, "messages", "left_out", "replayed", "dropped", "withheld", "skipped", "shape")
_ENDED = ("reason",)


@dataclass(frozen=True, slots=True)
class Shared:
    """What a link opens. The owner's own words around it, their instructions and their other branches are not in it.
    `title`: empty where nobody chose one."""

    share: Share
    leaf: UUID
    conversation: UUID
    title: str
    owner: int
    owner_name: str


@transaction.atomic
def share(
    leaf: Message,
    *,
    by: User,
    with_thoughts: bool = True,
    with_tools: bool = True,
    expires_at: datetime | None = None,
    key: UUID | None = None,
) -> Share:
    """Reading does not allow sharing: only the owner makes links. `key` names the form, so that sending it twice makes one."""
    held = Conversation.objects.select_for_update(no_key=True).filter(owner=by, deleted_at=None)
    here = held.filter(pk=leaf.conversation_id).values_list("pk", flat=True).first()
    row = Message.objects.filter(pk=leaf.pk, conversation=here, deletion=None).only("status").first()
    if row is None:
        raise Refused("That message is not there any more.")
    before = Share.objects.filter(pk=key, by=by, leaf=row).first() if key else None
    if before:
        return before
    if row.status in LIVE:
        raise Refused("This answer is still being written. Share it when it has ended.")
    if _shares_of(by).filter(leaf__conversation=here).count() >= MOST_LINKS:
        raise Refused(f"This conversation has {MOST_LINKS} links already. Revoke some of them first.")
    if expires_at is not None and expires_at <= timezone.now():
        raise Refused("Choose a moment that is still to come.")
    return Share.objects.create(
        pk=key or uuid4(),
        token=secrets.token_urlsafe(32),
        leaf=row,
        by=by,
        with_thoughts=with_thoughts,
        with_tools=with_tools,
        expires_at=expires_at,
    )


def load_shares(owner: User, conversation: UUID | None = None) -> list[Share]:
    """Links that were not revoked, the newest first: of one conversation, or all. What was deleted has none."""
    rows = _shares_of(owner)
    if conversation is not None:
        rows = rows.filter(leaf__conversation=conversation)
    return list(rows.order_by("-created_at", "-pk"))


def load_share(owner: User, pk: UUID) -> Share | None:
    """One of those."""
    return _shares_of(owner).filter(pk=pk).first()


@transaction.atomic
def revoke(token: str, *, by: User) -> bool:
    """Gone at once, also from pages that are open. False where there is no such link of theirs."""
    if not _is_token(token):
        return False
    mine = Share.objects.filter(token=token, leaf__conversation__owner=by, revoked_at=None)
    pk = mine.values_list("pk", flat=True).first()
    if pk is None or not Share.objects.filter(pk=pk, revoked_at=None).update(revoked_at=timezone.now()):
        return False
    tell(pk, "share closed")
    return True


def open_share(token: str, *, counts: bool = False) -> Shared | None:
    """None for whatever reason it does not open. `counts`: it is somebody's first look, not a reload of the page."""
    row = _openable(token).first()
    if row is None:
        return None
    if counts:
        Share.objects.filter(pk=row.pk).update(opened=F("opened") + 1)
    return _shared(row)


def _shared(row: Share) -> Shared:
    conversation = row.leaf.conversation
    return Shared(
        share=row,
        leaf=row.leaf_id,
        conversation=conversation.pk,
        title=chosen_title(conversation),
        owner=conversation.owner_id,
        owner_name=conversation.owner.get_username(),
    )


def shared_messages(share: Share) -> list[UUID]:
    """From the root to the leaf, and nothing beside or below it."""
    return list(load_tree(share.leaf.conversation_id).path_to(share.leaf_id))


def load_title(shared: Shared, first: UUID) -> str:
    """`first`: the message with which the branch begins."""
    if shared.title:
        return shared.title
    words = Item.objects.filter(message=first, kind=Kind.USER_MESSAGE).order_by("seq")
    return first_words(words.values_list("text", flat=True).first() or "")


def facts_for_others(metadata: object) -> dict[str, Any]:
    """What of an answer's record goes with it where its branch is shared."""
    return _allowed_facts(metadata, _ROUND)


def facts_for_reviewers(metadata: object) -> dict[str, Any]:
    """They read besides what was sent for it: in numbers, and none of its words."""
    return _allowed_facts(metadata, _REQUEST)


def _allowed_facts(metadata: object, of_round: tuple[str, ...]) -> dict[str, Any]:
    facts = _only(metadata, _FACTS)
    if isinstance(facts.get("rounds"), list):
        facts["rounds"] = [_only(facts_of_round, of_round) for facts_of_round in facts["rounds"]]
    ended = metadata.get("ended") if isinstance(metadata, dict) else None
    return facts | ({"ended": _only(ended, _ENDED)} if ended else {})


def fork_shared(token: str, *, by: User, until: UUID | None = None, submission: UUID | None = None) -> Forked:
    """Into a conversation of one's own what the link shows, down to its leaf or to a message before it, and no more."""
    row = _openable(token).first()
    if row is None:
        raise Refused(NOT_OPEN)
    shown = shared_messages(row)
    if until is not None and until not in shown:
        raise Refused("That message is not there any more.")

    def hold() -> None:
        if not _openable(token).select_for_update(of=("self",), no_key=True).values("pk").first():
            raise Refused(NOT_OPEN)

    def dress(copies: Mapping[UUID, UUID]) -> None:
        keep_facts(copies.values(), facts_for_others)
        forget_deciders(copies.values())

    return fork(
        Message.objects.defer("metadata").get(pk=until or row.leaf_id),
        by=by,
        extent=Extent.BRANCH,
        parts=Parts(thoughts=row.with_thoughts, tools=row.with_tools, instructions=False),
        called=load_title(_shared(row), shown[0]),
        submission=submission,
        manner=Manner(hold, dress),
    )


def keep_facts(copies: Collection[UUID], kept: Callable[[object], dict[str, Any]]) -> None:
    """Of the records of messages that were just copied, these alone."""
    changed = []
    for row in Message.objects.filter(pk__in=copies).only("metadata").iterator():
        facts = kept(row.metadata)
        if facts != row.metadata:
            row.metadata = facts
            changed.append(row)
    Message.objects.bulk_update(changed, ["metadata"], batch_size=BATCH)


def forget_deciders(copies: Collection[UUID]) -> None:
    forget_in_decisions(copies, "by", "name")


def _only(facts: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: facts[name] for name in names if name in facts} if isinstance(facts, dict) else {}


def chosen_title(conversation: Conversation) -> str:
    """One that was found tells of what was said first, maybe on another branch, and a fork is called like its source."""
    chosen = conversation.titled_by == TitledBy.PERSON and not conversation.title.startswith(FORK_OF)
    return conversation.title if chosen else ""


def _openable(token: str) -> QuerySet[Share]:
    if not _is_token(token):
        return Share.objects.none()
    in_time = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    owned = Q(leaf__conversation__owner__is_active=True, by__is_active=True)
    return _shares_there().filter(in_time, owned, token=token, revoked_at=None)


def _shares_of(owner: User) -> QuerySet[Share]:
    return _shares_there().filter(leaf__conversation__owner=owner, revoked_at=None)


def _shares_there() -> QuerySet[Share]:
    rows = Share.objects.select_related("leaf__conversation__owner")
    unread = rows.defer("leaf__metadata", "leaf__conversation__tools", "leaf__conversation__instructions")
    return unread.filter(leaf__deletion=None, leaf__conversation__deleted_at=None)


def _is_token(token: str) -> bool:
    """Not every text can be asked of a database."""
    return _TOKEN.fullmatch(token) is not None
