"""What models said, kept to go back: rows behind the memory. Nothing here may make a request fail."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from django.db import Error, transaction
from django.db.models import Q
from django.utils import timezone

from ...core import verbatim
from ...core.items import Item
from ...store.database.worded import Inserted
from ..models import KeptResponse
from ..replay.kept import AROUND, KeptAnswer, Memory, ModelScope, items_in
from .expiry import expiry, keeps_any

log = logging.getLogger(__name__)

memory = Memory()
# How many rows of each owner this process has written, since somebody last looked after those who have too many.
written: Counter[int] = Counter()


@dataclass(slots=True)
class KeptNames:
    """By which of an owner's answers is asked."""

    secrets: set[str]
    digests: set[str]

    def __bool__(self) -> bool:
        return bool(self.secrets or self.digests)


def remembered(owner: int, names: KeptNames) -> tuple[list[KeptAnswer], KeptNames]:
    """What this process knows of an owner's by any of these names, and the names of which it knows nothing."""
    found = list(memory.find(owner, names.secrets, names.digests, timezone.now().timestamp()))
    known = {name for kept in found for name in (kept.secret, kept.digest)}
    return found, KeptNames(names.secrets - known, names.digests - known)


def find(owner: int, names: KeptNames) -> list[KeptAnswer]:
    """The same among the rows."""
    try:
        return _loaded(owner, names.secrets, names.digests)
    except Error as error:
        log.warning("kept thoughts were not looked for: %s", type(error).__name__)
        return []


def _loaded(owner: int, secrets: Collection[str], digests: Collection[str]) -> list[KeptAnswer]:
    named = Q(secret__in=secrets) | Q(digest__in=digests)
    rows = KeptResponse.objects.filter(named, owner=owner, expires_at__gt=timezone.now())
    with transaction.atomic():
        found = [_kept_of(row) for row in rows.order_by("created_at")]
    for kept in found:
        memory.keep(kept)
    return found


def remember(kept: KeptAnswer) -> None:
    if keeps_any():
        memory.keep(kept)


_INSERT = Inserted(KeptResponse)


def keep(kept: Sequence[tuple[KeptAnswer, UUID]]) -> None:
    """Each with the key that it was told to."""
    if not keeps_any():
        return
    _INSERT.write([_row_of(one, key) for one, key in kept])
    written.update(one.owner for one, _ in kept)


def _row_of(kept: KeptAnswer, key: UUID) -> KeptResponse:
    thoughts = kept.thoughts
    return KeptResponse(
        secret=kept.secret,
        owner_id=kept.owner,
        key_id=key,
        provider=kept.scope.provider,
        destination=kept.scope.destination,
        dialect=kept.scope.dialect,
        model=kept.scope.model,
        digest=kept.digest,
        name=kept.name,
        saved=kept.saved(),
        thoughts=len(thoughts),
        characters=sum(len(item.text) for item in thoughts),
        size=kept.size,
        turn_id=kept.turn or None,
        expires_at=datetime.fromtimestamp(kept.expires, UTC),
    )


def kept_now(
    *,
    secret: str,
    owner: int,
    scope: ModelScope,
    digest: str,
    items: Collection[Item],
    keys: dict[str, int],
    repaired: Collection[str] = (),
    name: str = "",
    turn: str = "",
) -> KeptAnswer:
    size = AROUND + sum(len(item.text) + len(verbatim.dumps(item.wire)) for item in items)
    return KeptAnswer(
        secret=secret,
        owner=owner,
        scope=scope,
        digest=digest,
        items=tuple(items),
        keys=keys,
        expires=expiry().timestamp(),
        repaired=tuple(repaired),
        name=name,
        turn=turn,
        size=size,
    )


def _kept_of(row: KeptResponse) -> KeptAnswer:
    return KeptAnswer(
        secret=row.secret,
        owner=row.owner_id,
        scope=ModelScope(
            provider=row.provider, destination=row.destination, dialect=row.dialect, model=row.model
        ),
        digest=row.digest,
        items=items_in(row.saved),
        keys=row.saved["keys"],
        expires=row.expires_at.timestamp(),
        repaired=tuple(row.saved.get("repaired", ())),
        name=row.name,
        turn=str(row.turn_id or ""),
        size=row.size,
    )
