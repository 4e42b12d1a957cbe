"""Keys: made, found by their secret, listed, and taken back."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from threading import Lock
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
# Keys that are looked at in one statement.
TOGETHER = 32
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


def opening(now: datetime) -> QuerySet[ApiKey]:
    """Those that open something. Revoked, expired, of somebody deactivated or whose kind may have none: dead at once."""
    rows = ApiKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)
    return rows.filter(owner__is_active=True).alias(allowed=are_allowed("owner")).filter(allowed=True)


_FOUND = Worded(
    lambda digest, now: (
        opening(now)
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
    digest = digest_of(secret)
    found: ApiKey | None = _FOUND.first(digest, timezone.now())
    if found is not None:
        found.owner = _owner_of(vars(found), found.owner_id)
    _seen.note(digest, found)
    return found


class SeenKeys:
    """Of this process, by digest, those that were asked for last: what a key may is said when it is made, and stays so."""

    MOST = 1_000

    def __init__(self) -> None:
        self._rows: OrderedDict[str, ApiKey] = OrderedDict()
        self._lock = Lock()

    def note(self, digest: str, row: ApiKey | None) -> None:
        with self._lock:
            self._rows.pop(digest, None)
            if row is not None:
                self._rows[digest] = row
            if len(self._rows) > self.MOST:
                self._rows.popitem(last=False)

    def get(self, digest: str) -> ApiKey | None:
        return self._rows.get(digest)


_seen = SeenKeys()


def seen_key(secret: str) -> ApiKey | None:
    """One that was found before. Whether it opens anything still is to be asked before anything is done for it."""
    return _seen.get(digest_of(secret))


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
    now, asked, valid = timezone.now(), list(pks), set[UUID]()
    for first in range(0, len(asked), TOGETHER):
        some = asked[first : first + TOGETHER]
        found = _OPENING.columns(now, *some, *some[:1] * (TOGETHER - len(some)))
        valid |= {UUID(str(pk)) for (pk,) in found}
    return valid


_OPENING = Worded(
    lambda now, *pks: opening(now).filter(pk__in=pks).values_list("pk"),
    datetime,
    *(UUID for _ in range(TOGETHER)),
)


def manages(key: ApiKey) -> bool:
    """Whether it opens what administrators may do, now."""
    return key.is_management and key.owner.is_staff
