"""Label sets: written, changed while nobody asks for them, and put away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from ...core.items import clean
from ...store.tree import Refused
from ..models import Label, LabelSet

MOST_LABELS = 8
MOST_SETS = 200
IN_USE = "Somebody submitted something for these labels. Copy them, and change the copy."
NOTHING_ASKED = "Write at least one label."
TOO_MANY = f"There are {MOST_SETS} label sets already."


def every_set() -> QuerySet[LabelSet]:
    """Those at hand first, each with how many submissions ask for it (`asked`)."""
    asked = Count("submissions", filter=Q(submissions__withdrawn_at=None))
    return (
        LabelSet.objects.annotate(asked=asked)
        .prefetch_related("labels")
        .order_by("put_away_at", "name", "pk")
    )


def sets_at_hand() -> list[tuple[LabelSet, int]]:
    """Each with how many labels it has."""
    rows = LabelSet.objects.filter(put_away_at=None).annotate(number=Count("labels"))
    return [(row, row.number) for row in rows.order_by("name", "pk")]


def is_in_use(label_set: LabelSet) -> bool:
    return label_set.submissions.exists()


@transaction.atomic
def create_label_set(*, by: User, name: str, raters: int, labels: Sequence[Mapping[str, Any]]) -> LabelSet:
    if LabelSet.objects.count() >= MOST_SETS:
        raise Refused(TOO_MANY)
    made = LabelSet.objects.create(name=clean(name), raters=raters, by=by)
    _write(made, labels)
    return made


@transaction.atomic
def change_label_set(
    label_set: LabelSet, *, name: str, raters: int, labels: Sequence[Mapping[str, Any]]
) -> None:
    row = LabelSet.objects.select_for_update(no_key=False).get(pk=label_set.pk)
    if is_in_use(row):
        raise Refused(IN_USE)
    row.name, row.raters = clean(name), raters
    row.save(update_fields=["name", "raters"])
    row.labels.all().delete()
    _write(row, labels)


def put_away(label_set: LabelSet, *, away: bool) -> None:
    """Nobody submits anything for it any more; what was submitted goes on."""
    LabelSet.objects.filter(pk=label_set.pk).update(put_away_at=timezone.now() if away else None)


def _write(label_set: LabelSet, labels: Sequence[Mapping[str, Any]]) -> None:
    if not labels:
        raise Refused(NOTHING_ASKED)
    Label.objects.bulk_create(
        Label(label_set=label_set, place=place, **label) for place, label in enumerate(labels[:MOST_LABELS])
    )
