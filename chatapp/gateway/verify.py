"""Proves that keys can be read, and that what runs with one is its owner's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import F

from ..store.verify import ALSO, SOME
from .models import ApiKey, KeyRequest

DIGEST = 64


def key_breaches() -> Iterator[str]:
    for row in ApiKey.objects.order_by("created_at", "pk").iterator(SOME):
        yield from (f"Key {row.pk}: {breach}." for breach in _breaches(row))
    strange = KeyRequest.objects.exclude(owner=F("key__owner")).values_list("pk", flat=True)
    yield from (f"Request {pk}: it is not of its key's owner." for pk in strange)


def _breaches(row: ApiKey) -> Iterator[str]:
    if len(row.digest) != DIGEST or set(row.digest) - set("0123456789abcdef"):
        yield "what is kept of it is no digest"
    if not _are_words(row.models):
        yield "the models that it may ask cannot be read"
    if not isinstance(row.names, dict) or not _are_words([*row.names, *row.names.values()]):
        yield "its own names for models cannot be read"


def _are_words(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


ALSO.append(key_breaches)
