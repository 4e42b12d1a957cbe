"""What somebody sees who takes everything along: what will be in it, how far it is, and what was made before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.text import slugify

from ...core.plural import many
from ...pages.words.amounts import in_bytes
from ...pages.words.days import near
from ...pages.words.moments import Moment
from ..models import Archive
from ..store.archives import KEPT, what_is_there
from .how_far import HowFar


@dataclass(frozen=True, slots=True)
class ArchiveMaking:
    pk: UUID
    how_far: HowFar


@dataclass(frozen=True, slots=True)
class ArchiveMade:
    """`until`: when it is deleted."""

    pk: UUID
    name: str
    size: str
    at: Moment
    at_in_words: str
    until: Moment
    until_in_words: str
    failed: bool


@dataclass(frozen=True, slots=True)
class ArchivePage:
    making: ArchiveMaking | None
    contents: Sequence[tuple[str, int]]
    made: Sequence[ArchiveMade]


def name_of(row: Archive) -> str:
    return f"thoughtline-{slugify(row.owner.get_username()) or 'data'}-{row.made_at or row.created_at:%Y-%m-%d}.zip"


def archive_page(user: User, zone: tzinfo) -> ArchivePage:
    rows = list(Archive.objects.select_related("owner").filter(owner=user).order_by("-created_at"))
    making = next((row for row in rows if row.state == Archive.State.MAKING), None)
    made = [_made(row, zone) for row in rows if row.state != Archive.State.MAKING]
    return ArchivePage(_making(making) if making else None, what_is_there(user), made)


def making_of(user: User) -> ArchiveMaking | None:
    row = Archive.objects.filter(owner=user, state=Archive.State.MAKING).first()
    return _making(row) if row else None


def _making(row: Archive) -> ArchiveMaking:
    words = f"{row.done:,} of {many(row.messages, 'message')} · conversation {row.conversations_done:,} of {row.conversations:,}"
    if row.done:
        passed = (timezone.now() - row.created_at).total_seconds()
        words += f" · about {round(passed * (row.messages - row.done) / row.done)} s left"
    far = HowFar("Preparing your zip", words, min(row.done, row.messages), row.messages)
    return ArchiveMaking(row.pk, far)


def _made(row: Archive, zone: tzinfo) -> ArchiveMade:
    at, until = (row.made_at or row.created_at).astimezone(zone), (row.created_at + KEPT).astimezone(zone)
    today = timezone.now().astimezone(zone).date()
    return ArchiveMade(
        pk=row.pk,
        name=name_of(row),
        size=in_bytes(row.size),
        at=Moment(at),
        at_in_words=near(at, today),
        until=Moment(until),
        until_in_words=near(until, today),
        failed=row.state == Archive.State.FAILED,
    )
