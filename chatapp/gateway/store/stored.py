"""Responses that programs may go on from by their ids, and show: each with the items of its request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from ...core import verbatim
from ..models import StoredResponse
from .expiry import expiry

# One conversation by ids; whoever goes further sends its history.
LONGEST_WAY = 500
_LENGTH = Length("input") + Length("response")
# How many signs of each owner this process has written, since somebody last looked after those who have too much.
written: Counter[int] = Counter()


class TooMuchStored(Exception):
    """More than can be gone on from. Whoever wants it sends its history."""


def store_response(
    secret: str, *, owner: int, key: UUID, previous: str, input: list[object], response: object
) -> None:
    length = len(verbatim.dumps(input)) + len(verbatim.dumps(response))
    StoredResponse.objects.create(
        secret=secret,
        owner_id=owner,
        key_id=key,
        previous=previous,
        input=input,
        response=response,
        length=length,
        expires_at=expiry(),
    )
    written[owner] += length


def load_response(owner: int, secret: str) -> StoredResponse | None:
    return _theirs(owner).filter(pk=secret).first()


def load_responses(owner: int, secrets: Collection[str], longest: int) -> list[StoredResponse]:
    """TooMuchStored where they hold more signs than `longest` together."""
    rows = _theirs(owner).filter(pk__in=secrets)
    if secrets and sum(rows.values_list(_LENGTH, flat=True)) > longest:
        raise TooMuchStored
    return list(rows) if secrets else []


def load_way(owner: int, secret: str, longest: int) -> list[StoredResponse]:
    """It and all that it goes on from, the first of them first. Empty where any of them is gone; TooMuchStored where they are more than
    anybody goes on from, or hold more signs than `longest` together."""
    way, length = list[str](), 0
    while secret:
        found = _theirs(owner).filter(pk=secret).values_list("previous", _LENGTH).first()
        if found is None:
            return []
        way.append(secret)
        secret, length = found[0], length + found[1]
        if len(way) > LONGEST_WAY or length > longest:
            raise TooMuchStored
    rows = {row.pk: row for row in _theirs(owner).filter(pk__in=way)}
    return [rows[each] for each in reversed(way)] if len(rows) == len(way) else []


def delete_response(owner: int, secret: str) -> bool:
    return bool(_theirs(owner).filter(pk=secret).delete()[0])


def _theirs(owner: int) -> QuerySet[StoredResponse]:
    """What a revoked key asked for is gone with it, also while its rows are still being erased."""
    return StoredResponse.objects.filter(owner=owner, key__revoked_at=None, expires_at__gt=timezone.now())
