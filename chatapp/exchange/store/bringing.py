"""Writes conversations that a file tells of: small ones in one go, long ones in pieces between which everybody else gets in. Nobody sees
one before it is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from ...core.items import clean
from ...core.titles import TITLE_CAP, one_line
from ...store import Refused
from ...store.changes import tell_owner
from ...store.database.long_writes import UNSEEN, Pieces, giving_way, long_write
from ...store.database.worded import Inserted
from ...store.models import PROGRAM_CAP, Conversation, Message, Place, Role, TitledBy
from ...store.rows import AT_ONCE, insert_items, item_row
from ..formats.growing_tree import GrowingTree
from ..formats.shape import ToldConversation, ToldMessage
from ..models import Import, ImportedConversation
from .at_work import LongJob

# Messages, and letters in them, that are written in one go.
FEW, LIGHT = 60, 200_000
# Of a long one.
PIECE_OF_MESSAGES, PIECE_OF_LETTERS = 40, 500_000
_CONVERSATIONS, _MESSAGES = Inserted(Conversation), Inserted(Message)
Tools = Callable[[list[Any]], list[Any]]


def was_imported(owner: int) -> Exists:
    """As a column of a conversation."""
    return Exists(ImportedConversation.objects.filter(conversation=OuterRef("pk"), owner=owner))


def load_imported(conversation: UUID) -> ImportedConversation | None:
    """From where it was brought, and when."""
    rows = ImportedConversation.objects.select_related("brought", "file").defer("file__report")
    return rows.filter(conversation=conversation).first()


@dataclass(slots=True, kw_only=True)
class Work(LongJob[Import]):
    """`tools`: gives those of a conversation's tools that this server has, as it has them."""

    tools: Tools


class Bringing:
    """Of one process, while it is at an import. Small conversations wait for each other."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._waiting, self._messages, self._letters = list[tuple[_Writing, list[ToldMessage]]](), 0, 0
        self._digests = set[str]()

    def __contains__(self, digest: str) -> bool:
        """Whether a conversation of that digest came, or waits."""
        return digest in self._digests

    def bring(
        self, found: ImportedConversation, told: ToldConversation, messages: Iterator[ToldMessage]
    ) -> None:
        self._digests.add(found.digest)
        writing = _Writing(found, self._work.row.owner, told)
        first = list(_up_to(messages, FEW, LIGHT))
        rest = next(messages, None)
        if rest is None:
            self._let_wait(writing, first)
        else:
            self.write()
            self._write_long(writing, chain(first, [rest], messages))

    def _let_wait(self, writing: _Writing, messages: list[ToldMessage]) -> None:
        letters = sum(map(_letters, messages))
        if self._messages + len(messages) > FEW or self._letters + letters > LIGHT:
            self.write()
        self._waiting.append((writing, messages))
        self._messages, self._letters = self._messages + len(messages), self._letters + letters

    def write(self) -> None:
        """Those that wait."""
        if not self._waiting:
            return
        writings = [writing for writing, _ in self._waiting]
        with giving_way():
            messages = [row for writing, some in self._waiting for row in writing.rows(some)]
            _CONVERSATIONS.write([writing.row(self._work.tools) for writing in writings])
            _insert(messages)
            for writing in writings:
                writing.end()
            self._came(*writings)
        self._waiting, self._messages, self._letters = [], 0, 0

    def _write_long(self, writing: _Writing, messages: Iterator[ToldMessage]) -> None:
        with ExitStack() as stack:
            write = self._claimed(stack, writing)
            with write.piece():
                self._work.hold()
                writing.begin()
            while some := list(_up_to(messages, PIECE_OF_MESSAGES, PIECE_OF_LETTERS)):
                with write.piece():
                    _insert(writing.rows(some))
            with write.piece():
                Conversation.objects.filter(pk=writing.pk).update(**writing.told_of_it(self._work.tools))
                writing.end()
                self._came(writing)

    def _claimed(self, stack: ExitStack, writing: _Writing) -> Pieces:
        """When nothing long of theirs is being written elsewhere."""
        while True:
            try:
                return stack.enter_context(long_write(self._work.row.owner, made=writing.pk))
            except Refused:
                self._work.wait()

    def _came(self, *written: _Writing) -> None:
        self._work.hold(messages=F("messages") + sum(writing.count for writing in written))


def _up_to(messages: Iterator[ToldMessage], most: int, letters: int) -> Iterator[ToldMessage]:
    for message in islice(messages, most):
        yield message
        letters -= _letters(message)
        if letters < 0:
            return


def _insert(rows: list[tuple[Message, ToldMessage]]) -> None:
    for first in range(0, len(rows), AT_ONCE):
        _MESSAGES.write([row for row, _ in rows[first : first + AT_ONCE]])
    insert_items([item_row(row.pk, n, item) for row, told in rows for n, item in enumerate(told.items)])


def _letters(message: ToldMessage) -> int:
    return sum(len(item.text) for item in message.items)


@dataclass(frozen=True, slots=True)
class _Row:
    pk: UUID
    at: datetime


class _Writing:
    def __init__(self, found: ImportedConversation, owner: User, told: ToldConversation) -> None:
        self.pk = uuid4()
        self.found, self._owner, self.told = found, owner, told
        self._tree, self._rows = GrowingTree(told), dict[str, _Row]()
        self._now = timezone.now()
        # By the ids of rows, when all are known: which of them stood before what they answer, and which way was taken.
        self._late, self._forks = dict[UUID, UUID](), dict[str, str]()

    @property
    def count(self) -> int:
        return len(self._rows)

    def begin(self) -> None:
        """Nobody sees it yet."""
        Conversation.objects.create(pk=self.pk, owner=self._owner, tools=[], deleted_at=UNSEEN)
        ImportedConversation.objects.filter(pk=self.found.pk).update(conversation=self.pk)

    def rows(self, some: list[ToldMessage]) -> list[tuple[Message, ToldMessage]]:
        return [self._row(message) for message in some if self._tree.add(message.id, message.parent)]

    def _row(self, told: ToldMessage) -> tuple[Message, ToldMessage]:
        parent = self._tree.known_parent(told.id)
        above = self._rows[parent] if parent else None
        # Nothing is later than now, and what has no moment of its own has that of what it follows.
        at = min(told.at or (above.at if above else self._began), self._now)
        row = self._rows[told.id] = _Row(uuid4(), at)
        known = self._rows.get(told.sent_from or "")
        return Message(
            id=row.pk,
            conversation_id=self.pk,
            parent_id=above.pk if above else None,
            order=len(self._rows) - 1,
            role=told.role,
            author=self._owner,
            model=clean(told.model)[:300],
            effort=clean(told.effort)[:16],
            status=told.status,
            next_seq=len(told.items),
            metadata=self._metadata(told),
            sent_from_id=known.pk if known and told.role == Role.ASSISTANT else None,
            created_at=at,
        ), told

    def _metadata(self, told: ToldMessage) -> dict[str, Any]:
        """Whoever brings it is its author; who wrote it stays as words."""
        others = told.author is not None and told.author != self._owner.get_username()
        return told.recorded | ({"author": clean(told.author or "")[:150]} if others else {})

    @property
    def _began(self) -> datetime:
        return self.told.moments.get("created_at") or self.told.moments.get("updated_at") or self._now

    def row(self, tools: Tools) -> Conversation:
        return Conversation(pk=self.pk, owner=self._owner, **self.told_of_it(tools))

    def told_of_it(self, tools: Tools) -> dict[str, Any]:
        """When all its messages are known."""
        told, title = self.told, one_line(self.told.title)[:TITLE_CAP]
        tree, late = self._tree.grown()
        head, rows = self._tree.head_in(tree), self._rows
        self._late = {rows[id].pk: rows[parent].pk for id, parent in late.items()}
        self._forks = {
            str(rows[parent].pk) if parent else "": str(rows[child].pk)
            for parent, child in told.forks.items()
            if (not parent or parent in rows) and tree.parents.get(child, "") == (parent or None)
        }
        by = told.titled_by if told.titled_by in TitledBy.values else TitledBy.PERSON if title else ""
        return {
            "head_id": rows[head].pk if head else None,
            "next_order": len(rows),
            "title": title,
            "titled_by": by,
            "instructions": clean(told.instructions),
            "tools": tools(told.tools),
            "program": clean(told.program)[:PROGRAM_CAP],
            "deleted_at": None,
            **self._moments(),
        }

    def end(self) -> None:
        """When all of it is written."""
        for pk, parent in self._late.items():
            Message.objects.filter(pk=pk).update(parent=parent)
        if self._forks:
            Place.objects.create(viewer=self._owner, conversation_id=self.pk, forks=self._forks)
        ImportedConversation.objects.filter(pk=self.found.pk).update(
            conversation=self.pk, messages=len(self._rows), came_from=self.told.came_from
        )
        tell_owner(self._owner.pk, self.pk, "listed")

    def _moments(self) -> Mapping[str, datetime | None]:
        told = self.told.moments
        last = max((row.at for row in self._rows.values()), default=self._now)
        known = {name: told.get(name) for name in ("pinned_at", "archived_at")}
        known |= {
            "created_at": told.get("created_at") or self._began,
            "updated_at": told.get("updated_at") or last,
        }
        return {name: at and min(at, self._now) for name, at in known.items()}
