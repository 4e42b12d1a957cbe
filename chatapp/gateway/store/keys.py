"""Keys: made, found by their secret, listed, and taken back."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet, Sum
from django.utils import timezone

from ...insight.store.sums import day_of
from ...limits.store import UsedToday
from ...store.database.worded import Worded
from ...store.refusal import Refused
from ..models import ApiKey, KeyDay, KeyRequest
from .purging import erase_stored
from .who import are_allowed, may_have_keys

PREFIX = "tl_"
BITS = 256
BEGINS = 7
# 256 bits in base 64.
LENGTH = len(PREFIX) + 43
MOST_KEYS = 100
NOT_ALLOWED = "You may not have keys here. Ask whoever runs this server."
TOO_MANY_KEYS = f"You have {MOST_KEYS} keys already. Revoke some of them first."


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChoices:
    """What is said of a new key."""

    name: str
    expires_at: datetime | None = None
    is_recorded: bool = False
    is_management: bool = False
    keeps_responses: bool = False
    models: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    default_model: str = ""
    turns: int | None = None
    tokens: int | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class KeyInUse:
    """A key with what was used with it today, and how many requests are being answered now."""

    row: ApiKey
    used: UsedToday
    running: int


def digest_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


@transaction.atomic
def create_key(owner: User, choices: KeyChoices, pk: UUID | None = None) -> tuple[ApiKey, str]:
    """With its secret, which nobody can read from anything that is kept. `pk`: of the form, which makes one key only."""
    # Two forms at once must not both see room for one more.
    held = User.objects.select_for_update(no_key=True).filter(pk=owner.pk).get()
    if not may_have_keys(held):
        raise Refused(NOT_ALLOWED)
    if choices.is_management and not held.is_staff:
        raise Refused("Only administrators have keys that manage.")
    if pk and ApiKey.objects.filter(pk=pk).exists():
        raise Refused("This key was made already, and is not shown again. Revoke it and make another one.")
    if _usable(owner).count() >= MOST_KEYS:
        raise Refused(TOO_MANY_KEYS)
    secret = PREFIX + secrets.token_urlsafe(BITS // 8)
    row = ApiKey(owner=owner, digest=digest_of(secret), begins_with=secret[:BEGINS], **_fields(choices))
    row.pk = pk or row.pk
    row.save(force_insert=True)
    return row, secret


def _fields(choices: KeyChoices) -> dict[str, object]:
    return {name: getattr(choices, name) for name in KeyChoices.__dataclass_fields__}


def revoke_key(owner: User, pk: UUID) -> bool:
    """From now on it opens nothing, and what it had stored is erased. False where there is no such key of theirs."""
    revoked = bool(_usable(owner).filter(pk=pk).update(revoked_at=timezone.now()))
    if revoked:
        erase_stored([pk])
    return revoked


def revoke_any(pks: Collection[UUID]) -> int:
    """Whoever's they are: for administrators."""
    revoked = ApiKey.objects.filter(pk__in=pks, revoked_at=None).update(revoked_at=timezone.now())
    erase_stored(pks)
    return revoked


def load_key(owner: User, pk: UUID) -> ApiKey | None:
    """One that was not revoked."""
    return _usable(owner).filter(pk=pk).first()


def load_keys(owner: User, now: datetime | None = None) -> list[KeyInUse]:
    """Those that were not revoked, the newest first. What has expired is among them."""
    rows = list(_usable(owner).order_by("-created_at", "pk"))
    used = _used_on(day_of(now or timezone.now()), owner)
    running = list(KeyRequest.objects.filter(owner=owner).values_list("key", flat=True))
    return [KeyInUse(row, used.get(row.pk, UsedToday()), running.count(row.pk)) for row in rows]


def _used_on(day: date, owner: User) -> dict[UUID, UsedToday]:
    rows = KeyDay.objects.filter(day=day, key__owner=owner).order_by().values("key")
    sums = rows.annotate(turns_=Sum("turns"), tokens_=Sum(F("input") + F("output")), cost_=Sum("cost"))
    return {row["key"]: UsedToday(row["turns_"], row["tokens_"], row["cost_"]) for row in sums}


def load_revoked(owner: User, most: int = MOST_KEYS) -> list[ApiKey]:
    rows = ApiKey.objects.filter(owner=owner, revoked_at__isnull=False)
    return list(rows.order_by("-revoked_at", "pk")[:most])


def _usable(owner: User) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(owner=owner, revoked_at=None)


def _valid(now: datetime) -> QuerySet[ApiKey]:
    """Revoked, expired, of somebody deactivated or whose kind may have none: dead at once."""
    rows = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)
    return rows.filter(owner__is_active=True).alias(allowed=are_allowed("owner")).filter(allowed=True)


_FOUND = Worded(
    lambda digest, now: (
        _valid(now)
        .filter(digest=digest)
        .annotate(owner_name=F("owner__username"), owner_is_staff=F("owner__is_staff"))
    ),
    str,
    datetime,
)


def find_key(secret: str) -> ApiKey | None:
    """With its owner, of whom no more is read than who they are. None for whatever reason it opens nothing."""
    if not _is_secret(secret):
        return None
    found: ApiKey | None = _FOUND.first(digest_of(secret), timezone.now())
    if found is not None:
        found.owner = _owner_of(vars(found), found.owner_id)
    return found


def _owner_of(found: Mapping[str, object], pk: int) -> User:
    """Whatever else is asked of them is read when it is asked."""
    # In the order of the columns.
    known = {
        "id": pk,
        "username": found["owner_name"],
        "is_staff": bool(found["owner_is_staff"]),
        "is_active": True,
    }
    return User.from_db("default", list(known), list(known.values()))


def _is_secret(text: str) -> bool:
    return len(text) == LENGTH and text.startswith(PREFIX) and text.isascii()


def valid_keys(pks: Collection[UUID]) -> set[UUID]:
    """Which of these still open something: for what streams."""
    return set(_valid(timezone.now()).filter(pk__in=pks).values_list("pk", flat=True))


def manages(key: ApiKey) -> bool:
    """Whether it opens what administrators may do, now."""
    return key.is_management and key.owner.is_staff
