"""The front page of administrators. Its sections ask for themselves again, and change where they say something else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.template.loader import render_to_string

from ...catalog.models import ModelProvider
from ...catalog.page.providers import provider_lines
from ...core.model_name import ModelName
from ...insight.store.days import load_days
from ...insight.store.sums import day_of
from ...operation.page.operation import OperationPage
from ...operation.views.operation import seen_now
from ...pages.commands import by_script, told
from ...pages.operations import put
from ...pages.signed_in import SignedIn
from ...pages.staff.framed import framed
from ...pages.staff.rights import may_read
from ...pages.words.days import zone_of
from ...turns.engine import engine
from .. import store
from ..page.today import TodayPage, TodaySeen

SECTIONS = ("head", "decide", "runs", "waits", "failed", "providers", "use", "people", "looks")
NEW = timedelta(days=7)


def today(request: SignedIn) -> HttpResponse:
    context = {"page": TodayPage(_seen(request))}
    if not by_script(request):
        return framed(request, "administration/today.html", "Today", context)
    drawn = (render_to_string(f"administration/_{name}.html", context, request) for name in SECTIONS)
    return told([put(html) for html in drawn])


def _seen(request: SignedIn) -> TodaySeen:
    operation = seen_now(zone_of(request))
    now, catalog = operation.now, engine().catalog
    day = day_of(now)
    began = datetime.combine(day, time(), UTC)
    rows = ModelProvider.objects.order_by("created_at", "pk")
    return TodaySeen(
        now=now,
        began=began,
        zone=zone_of(request),
        may_read=may_read(),
        operation=OperationPage(operation),
        live=operation.turns,
        at_work=store.load_at_work(),
        waiting=store.load_waiting(),
        ended=store.load_ended(began),
        failed=store.load_failed(began),
        hour=store.load_hour(now - timedelta(hours=1)),
        providers=provider_lines(catalog, async_to_sync(catalog.listings_soon)(), rows),
        models=by_model(operation.now),
        near=store.load_near_limits(day),
        people=store.load_new_people(now - NEW),
        looks=store.load_looks(began),
        unassigned=store.load_unassigned(),
        changed_tools=store.load_changed_tools(),
        label=catalog.label,
    )


def by_model(now: datetime) -> dict[str, Counter[str]]:
    """The counts of the day (UTC)."""
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for day in load_days(day_of(now)):
        sums[day.model].update(day.counts)
    return dict(sums)


def by_provider(models: Mapping[str, Counter[str]], name: str) -> dict[str, Counter[str]]:
    """Of this one alone."""
    theirs = (counts for model, counts in models.items() if ModelName.of(model).provider == name)
    return {name: sum(theirs, Counter())}
