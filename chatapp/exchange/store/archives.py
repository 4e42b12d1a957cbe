"""Everything that a person has here, as one zip: made in pieces that are rows, so that whoever serves can hand it out; kept for a day."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import RawIOBase
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from ...branches.store.forking import Extent
from ...core import verbatim
from ...core.items import Kind
from ...oversight.models import Look
from ...pages.preferences import load_preference
from ...reviews.models import Note, Rating, Seat, Submission
from ...sharing.models import Share
from ...store import Refused, deleting
from ...store.database.long_writes import giving_way
from ...store.models import Conversation, Item, Message
from ...store.turns_at_once import hold_person
from ..formats.ours import SCHEMA
from ..models import Archive, ArchivePiece
from ..out.as_json import as_json
from ..out.chosen import Chosen, choose
from .at_work import LongJob, nobody_at_it

KEPT = timedelta(hours=24)
MOST_A_DAY = 12
PIECE = 4 * 1024 * 1024
ONE_AT_A_TIME = "Your zip is being made already."
ENOUGH = f"{MOST_A_DAY} of them were made today. Take one of those, or come back tomorrow."
ABOUT = """What you have here, as it was on {day}.

conversations.json  every conversation with every branch, thought and time; its form is described by schema.json.
                    Import takes this zip back.
settings.json       what you chose, and your instructions
shares.json         links that you made (the links themselves are not here)
reviews.json        reviews that you gave and received
looks.json          when administrators looked at your conversations

Not here: your password, your keys, and secrets of tool servers.
"""
State = Archive.State


@transaction.atomic
def begin(owner: User) -> Archive:
    hold_person(owner)
    if Archive.objects.filter(owner=owner, state=State.MAKING).exists():
        raise Refused(ONE_AT_A_TIME)
    if Archive.objects.filter(owner=owner, created_at__gt=timezone.now() - KEPT).count() >= MOST_A_DAY:
        raise Refused(ENOUGH)
    mine = _conversations(owner)
    messages = Message.objects.filter(conversation__in=mine, deletion=None).count()
    return Archive.objects.create(owner=owner, messages=messages, conversations=mine.count())


@transaction.atomic
def remove(archive: Archive) -> None:
    """Whoever is at it notices."""
    ArchivePiece.objects.filter(archive=archive).delete()
    Archive.objects.filter(pk=archive.pk).delete()


def what_is_there(owner: User) -> list[tuple[str, int]]:
    """What would be in it, in words."""
    mine = _conversations(owner)
    messages = Message.objects.filter(conversation__in=mine, deletion=None)
    leaves = messages.exclude(pk__in=messages.filter(parent__isnull=False).values("parent"))
    thoughts = Item.objects.filter(message__in=messages, kind=Kind.REASONING)
    return [
        ("Conversations", mine.count()),
        ("Messages", messages.count()),
        ("Branches", leaves.count()),
        ("Thoughts with their times", thoughts.count()),
        ("Links you made", _shares(owner).count()),
        ("Reviews given and received", _given(owner).count() + _received(owner).count()),
        ("Times an administrator looked", _looks(owner).count()),
        ("Settings and instructions", 1),
    ]


def pieces_of(archive: UUID) -> Iterator[bytes]:
    """One at a time; whoever sends it takes them one by one."""
    rows = ArchivePiece.objects.filter(archive=archive).order_by("number")
    number = 0
    while (piece := rows.filter(number=number).values_list("data", flat=True).first()) is not None:
        yield bytes(piece)
        number += 1


# What processes do


def take(runner: str) -> Archive | None:
    free = nobody_at_it()
    for row in Archive.objects.filter(free, state=State.MAKING).order_by("created_at"):
        if Archive.objects.filter(free, pk=row.pk, state=State.MAKING).update(
            runner=runner, touched_at=Now()
        ):
            return Archive.objects.select_related("owner").get(pk=row.pk)
    return None


@transaction.atomic
def give_up(work: LongJob[Archive]) -> None:
    if work.mine.update(state=State.FAILED, made_at=timezone.now()):
        ArchivePiece.objects.filter(archive=work.row).delete()


def make(work: LongJob[Archive]) -> None:
    """From its beginning: what somebody made who died at it is made again."""
    ArchivePiece.objects.filter(archive=work.row).delete()
    _Making(work).make()


class _Pieces(RawIOBase):
    """Takes what is written, and stores it as rows."""

    def __init__(self, work: LongJob[Archive]) -> None:
        self._work, self._waits, self._number, self.size = work, bytearray(), 0, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._waits += data
        if len(self._waits) >= PIECE:
            self.store()
        return len(data)

    def store(self) -> None:
        with giving_way():
            self._work.hold()
            ArchivePiece.objects.create(archive=self._work.row, number=self._number, data=bytes(self._waits))
        self._number, self.size = self._number + 1, self.size + len(self._waits)
        self._waits = bytearray()


class _Making:
    def __init__(self, work: LongJob[Archive]) -> None:
        self._work, self._owner = work, work.row.owner
        self._done = self._conversations = 0

    def make(self) -> None:
        out = _Pieces(self._work)
        now = timezone.now()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            made = {"at": now.astimezone(UTC).isoformat(), "extent": Extent.EVERYTHING}
            with packed.open("conversations.json", "w", force_zip64=True) as file:
                for piece in as_json(self._chosen(), made):
                    file.write(piece)
                    self._done += b'{"id":' in piece[:8]
                    self._work.go_on(**self._progress)
            packed.writestr("schema.json", verbatim.encode(SCHEMA))
            packed.writestr("settings.json", verbatim.encode(_settings(self._owner)))
            packed.writestr("shares.json", verbatim.encode(list(map(_share, _shares(self._owner)))))
            packed.writestr("reviews.json", verbatim.encode(_reviews(self._owner)))
            packed.writestr("looks.json", verbatim.encode(list(map(_look, _looks(self._owner)))))
            packed.writestr("README.txt", ABOUT.format(day=f"{now:%d %B %Y}"))
        out.store()
        self._work.mine.update(state=State.READY, made_at=now, runner="", size=out.size, **self._progress)

    @property
    def _progress(self) -> dict[str, int]:
        return {"done": self._done, "conversations_done": self._conversations}

    def _chosen(self) -> Iterator[Chosen]:
        for pk in list(_conversations(self._owner).order_by("created_at", "pk").values_list("pk", flat=True)):
            row = _conversations(self._owner).select_related("imported").filter(pk=pk).first()
            if row and (chosen := choose(row, self._owner, Extent.EVERYTHING)):
                yield chosen
                self._conversations += 1


# What is in it


def _conversations(owner: User) -> QuerySet[Conversation]:
    return Conversation.objects.filter(owner=owner, deleted_at=None)


def _shares(owner: User) -> QuerySet[Share]:
    rows = Share.objects.filter(leaf__conversation__owner=owner).order_by("created_at")
    return rows.select_related("leaf__conversation").defer("leaf__metadata", "leaf__conversation__tools")


def _given(owner: User) -> QuerySet[Submission]:
    rated = Seat.objects.filter(reviewer=owner).values("submission")
    mine = Submission.objects.filter(Q(reviewer=owner) | Q(pk__in=rated), withdrawn_at=None)
    return mine.order_by("created_at")


def _received(owner: User) -> QuerySet[Submission]:
    rows = Submission.objects.filter(conversation__owner=owner).order_by("created_at")
    return rows.select_related("conversation", "reviewer").defer("conversation__tools")


def _looks(owner: User) -> QuerySet[Look]:
    rows = Look.objects.filter(conversation__owner=owner).order_by("at")
    return rows.select_related("conversation").defer("conversation__tools")


def _settings(owner: User) -> dict[str, Any]:
    chosen = load_preference(owner)
    names = ("theme", "default_model", "instructions", "enter_sends", "thoughts_open")
    told = {"username": owner.get_username(), "email": owner.email, "joined": _moment(owner.date_joined)}
    return told | {name: getattr(chosen, name) for name in names}


def _share(row: Share) -> dict[str, Any]:
    moments = {name: _moment(getattr(row, name)) for name in ("created_at", "expires_at", "revoked_at")}
    told = {"conversation": row.leaf.conversation.title, "opened": row.opened}
    return told | {"with_thoughts": row.with_thoughts, "with_tools": row.with_tools} | moments


def _reviews(owner: User) -> dict[str, Any]:
    """Of what others submitted only what one said of it oneself."""
    return {
        "given": [
            _review(row) | {"notes": _notes(row, author=owner)} | _ratings(row, seat__reviewer=owner)
            for row in _given(owner)
        ],
        "received": [
            _review(row)
            | {
                "conversation": row.conversation.title,
                "question": row.question,
                "reviewer": row.reviewer.get_username() if row.reviewer else "",
                "notes": [] if row.is_blind else _notes(row),
            }
            | ({} if row.is_blind else _ratings(row, seat__handed_in_at__isnull=False))
            for row in _received(owner)
        ],
    }


def _review(row: Submission) -> dict[str, Any]:
    moments = {name: _moment(getattr(row, name)) for name in ("created_at", "decided_at", "withdrawn_at")}
    return {"verdict": row.verdict, "reason": row.reason} | moments


def _ratings(row: Submission, **which: Any) -> dict[str, Any]:
    """Where labels were asked for."""
    if row.label_set_id is None:
        return {}
    said = Rating.objects.filter(seat__submission=row, **which).order_by(
        "message__order", "label__place", "pk"
    )
    names = ("label__words", "message", "item_key", "value")
    return {
        "ratings": [
            {"label": words, "message": str(message), "item": key, "value": value}
            for words, message, key, value in said.values_list(*names)
        ]
    }


def _notes(row: Submission, **which: Any) -> list[dict[str, Any]]:
    notes = Note.objects.filter(submission=row, **which).select_related("author").order_by("created_at")
    return [
        {
            "author": each.author.get_username() if each.author else "",
            "text": each.text,
            "at": _moment(each.created_at),
        }
        for each in notes
    ]


def _look(row: Look) -> dict[str, Any]:
    return {"who": row.name, "what": row.what, "conversation": row.conversation.title, "at": _moment(row.at)}


def _moment(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment else None


def forget_old(made: object) -> None:
    """They are there for a day."""
    for row in Archive.objects.filter(created_at__lt=timezone.now() - KEPT):
        remove(row)


def forget_archives_of(person: User, until: float) -> None:
    for row in Archive.objects.filter(owner=person):
        if time.monotonic() < until:
            remove(row)


deleting.ALSO.append(forget_old)
deleting.OF_PEOPLE.append(forget_archives_of)
