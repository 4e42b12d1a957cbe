"""Responses that programs may go on from by their ids, and show: each with the items of its request."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from ..models import StoredResponse
from .expiry import expiry

# One conversation by ids; whoever goes further sends its history.
LONGEST_WAY = 500


def store_response(
    secret: str, *, owner: int, key: UUID, previous: str, input: list[object], response: object
) -> None:
    StoredResponse.objects.create(
        secret=secret,
        owner_id=owner,
        key_id=key,
        previous=previous,
        input=input,
        response=response,
        expires_at=expiry(),
    )


def load_response(owner: int, secret: str) -> StoredResponse | None:
    return _theirs(owner).filter(pk=secret).first()


def load_responses(owner: int, secrets: Collection[str]) -> list[StoredResponse]:
    return list(_theirs(owner).filter(pk__in=secrets)) if secrets else []


def load_way(owner: int, secret: str) -> list[StoredResponse]:
    """It and all that it goes on from, the first of them first. Empty where any of them is gone."""
    way: list[StoredResponse] = []
    while secret and len(way) < LONGEST_WAY:
        row = load_response(owner, secret)
        if row is None:
            return []
        way.append(row)
        secret = row.previous
    return way[::-1]


def delete_response(owner: int, secret: str) -> bool:
    return bool(_theirs(owner).filter(pk=secret).delete()[0])


def _theirs(owner: int) -> QuerySet[StoredResponse]:
    """What a revoked key asked for is gone with it, also while its rows are still being erased."""
    return StoredResponse.objects.filter(owner=owner, key__revoked_at=None, expires_at__gt=timezone.now())
