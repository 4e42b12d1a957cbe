"""What the list beside every page says of reviews."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery, Value

from .reviewers import reviewers
from .reviewing import has_work, queue_of
from .submitting import submissions_of, wishes_of

# Stands for whoever is asked about; no row has this number.
ANYBODY = User(pk=-1)


@dataclass(frozen=True, slots=True)
class Marks:
    """`waiting`: to be read; `news`: of one's own."""

    reviews: bool
    waiting: int
    submits: bool
    news: int


def load_marks(person: User) -> Marks:
    sql, params = _question()
    with connection.cursor() as cursor:
        cursor.execute(sql, [person.pk if value == ANYBODY.pk else value for value in params])
        reviews, submits, waiting, *news = cursor.fetchone() or (False, False, 0, 0)
    fresh = sum(filter(None, news))
    return Marks(bool(reviews or person.is_staff), waiting or 0, bool(submits or fresh), fresh)


@cache
def _question() -> tuple[str, tuple[Any, ...]]:
    """It is asked for every page, and to write it in SQL takes ten times as long as to answer it: so that is done once."""
    own = submissions_of(ANYBODY)
    columns = {
        "reviews": Exists(reviewers().filter(pk=OuterRef("pk"))),
        "submits": Exists(own),
        "waiting": _number_of(queue_of(ANYBODY).filter(has_work(ANYBODY))),
        "news": _number_of(own.filter(news_for_owner=True)),
        "wishes": _number_of(wishes_of(ANYBODY)),
    }
    rows = User.objects.filter(pk=ANYBODY.pk).annotate(**columns)
    return rows.values_list(*columns).query.sql_with_params()


def _number_of(rows: QuerySet[Any]) -> Subquery:
    """As a column of another row; None where there are none."""
    every = rows.order_by().annotate(every=Value(1)).values("every")
    return Subquery(every.annotate(number=Count("pk")).values("number"))
