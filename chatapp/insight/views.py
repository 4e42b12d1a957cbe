"""Figures, for staff: a page of them, and each of its tables as a file."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from ..pages.access import only_staff
from ..pages.csv import sheet
from ..pages.signed_in import SignedIn
from ..pages.staff.again import behind_password
from ..reviews.page.agreement import agreement_in
from ..reviews.store.rating import sets_with_ratings
from ..turns.engine import engine
from .page.insight import MOST_KEYS, MOST_PEOPLE, ChosenDays, Insight, chosen
from .page.sheets import TABLES
from .store.days import UsedByPerson, load_by_key, load_days, load_people, load_reviews
from .store.sums import day_of


@require_safe
@login_required
@behind_password
def insight(request: SignedIn) -> HttpResponse:
    only_staff(request.user)
    asked = chosen(request, day_of(timezone.now()))
    people = load_people(asked.since, asked.until, model=asked.model, most=MOST_PEOPLE + 1)
    agreement = [agreement_in(row) for row in sets_with_ratings()]
    return render(request, "insight/insight.html", {"page": _insight(asked, people), "agreement": agreement})


@require_safe
@login_required
@behind_password
def insight_sheet(request: SignedIn, what: str) -> HttpResponse:
    only_staff(request.user)
    if what not in TABLES:
        raise Http404
    asked = chosen(request, day_of(timezone.now()))
    page, table = _insight(asked), TABLES[what]
    name = f"thoughtline-{what}-{asked.since}-{asked.until}"
    return sheet(name, table.head, table.rows(page))


def _insight(asked: ChosenDays, people: Sequence[UsedByPerson] = ()) -> Insight:
    reviewed = load_reviews(asked.since, asked.until, model=asked.model)
    days = load_days(asked.since, asked.until)
    keys = load_by_key(asked.since, asked.until, model=asked.model, most=MOST_KEYS)
    return Insight(asked, days, people, reviewed, keys, label=engine().catalog.label)
