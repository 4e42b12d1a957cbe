"""Erases kept thoughts and stored responses in small pieces: what has expired, what is too much of one owner, what was theirs who leave,
and what a revoked key had stored."""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import Error
from django.db.models import Count, QuerySet
from django.utils import timezone

from ...store import deleting
from ...store.database import long_writes
from ..models import KeptCleared, KeptResponse, StoredResponse
from . import kept, stored

# Of one owner, the oldest go first.
MOST_OF_ONE = 20_000
# Of the responses that one owner goes on from by their ids: so many signs, and so many.
MOST_STORED, MOST_RESPONSES = 256 * 2**20, 20_000
# An owner of whom so many were written is looked after, or so many signs.
TRIMMED_EACH, TRIMMED_EACH_SIGNS = 100, 16 * 2**20
# Whoever waits for it waits no longer.
SECONDS = 2.0
# What was cleared is told to other processes for so long.
TOLD = timedelta(days=1)


def purge_kept(_: Collection[UUID]) -> None:
    now = timezone.now()
    erase(KeptResponse.objects.filter(expires_at__lte=now).order_by("expires_at"))
    erase(StoredResponse.objects.filter(expires_at__lte=now).order_by("expires_at"))
    erase(StoredResponse.objects.filter(key__revoked_at__isnull=False))
    for owner in _with_too_many():
        trim(owner)
    for owner in StoredResponse.objects.order_by().values_list("owner", flat=True).distinct():
        trim_stored(owner)
    KeptCleared.objects.filter(at__lt=now - TOLD, is_done=True).delete()


deleting.ALSO.append(purge_kept)


def _with_too_many() -> list[int]:
    owners = KeptResponse.objects.order_by().values("owner").annotate(kept=Count("pk"))
    return list(owners.filter(kept__gt=MOST_OF_ONE).values_list("owner", flat=True))


def trim_grown() -> None:
    """Those of whom this process has written some since."""
    for owner in [owner for owner, number in list(kept.written.items()) if number >= TRIMMED_EACH]:
        trim(owner)
        del kept.written[owner]
    for owner in [owner for owner, signs in list(stored.written.items()) if signs >= TRIMMED_EACH_SIGNS]:
        trim_stored(owner)
        del stored.written[owner]


def trim_stored(owner: int) -> int:
    """Leaves the newest. Each counts as some kilobytes at least: very many rows are a burden too."""
    rows = StoredResponse.objects.filter(owner=owner)
    least, held = MOST_STORED // MOST_RESPONSES, 0
    for length, moment in rows.order_by("-created_at").values_list("length", "created_at").iterator():
        held += max(length, least)
        if held > MOST_STORED:
            return erase(rows.filter(created_at__lte=moment).order_by("created_at"))
    return 0


def trim(owner: int) -> int:
    """Leaves the newest."""
    rows = KeptResponse.objects.filter(owner=owner)
    moments = rows.order_by("-created_at").values_list("created_at", flat=True)
    newest_gone = moments[MOST_OF_ONE : MOST_OF_ONE + 1].first()
    return erase(rows.filter(created_at__lte=newest_gone).order_by("created_at")) if newest_gone else 0


def erase_stored(keys: Collection[UUID]) -> None:
    """What revoked keys had stored; what is left after some seconds goes with the next purge, and nobody finds it until then."""
    with suppress(Error):
        erase(StoredResponse.objects.filter(key__in=keys), until=time.monotonic() + SECONDS)


def erase_person(person: User, until: float) -> None:
    KeptCleared.objects.create(owner=person.pk, is_done=True)
    kept.memory.forget(owner=person.pk)
    erase(KeptResponse.objects.filter(owner=person), until=until)
    erase(StoredResponse.objects.filter(owner=person), until=until)


deleting.OF_PEOPLE.append(erase_person)


def erase(rows: QuerySet[Any, Any], *, until: float = inf) -> int:
    erased, size = 0, long_writes.FIRST
    while time.monotonic() < until and (pks := list(rows.values_list("pk", flat=True)[:size])):
        with long_writes.giving_way() as piece:
            rows.model.objects.filter(pk__in=pks).delete()
        erased += len(pks)
        size = piece.next_size(size)
    return erased
