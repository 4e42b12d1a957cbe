"""The page of operation, for staff. Its sections ask for themselves again, and change where they say something else."""

from __future__ import annotations

import platform
import time
from collections import Counter, defaultdict
from datetime import datetime, timedelta, tzinfo

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from ...core.model_name import ModelName
from ...core.signs.visible import visible
from ...insight.store.days import load_days
from ...insight.store.sums import day_of
from ...pages.access import only_staff
from ...pages.commands import by_script, told
from ...pages.operations import put
from ...pages.signed_in import SignedIn
from ...pages.staff import password_given
from ...pages.staff.again import behind_password
from ...pages.words.days import zone_of
from ...processes.itself import ITSELF, Task
from ...store.database.pool import ask_database, count_connections
from ...turns.engine import engine
from ..page.operation import MOST_RUNNING, OperationPage, OperationSeen
from ..part.figures import figures_now
from ..store.fingerprints import code_version
from ..store.presence import There, load_present
from ..store.taken_over import load_taken_over
from ..store.upkeep import load_upkeep
from ..store.waiting import count_live, load_running

SECTIONS = ("verdict", "head", "cards", "waits", "runs", "works", "serves", "taken", "sums")


@require_safe
@login_required
def operation(request: SignedIn) -> HttpResponseBase:
    only_staff(request.user)
    if by_script(request) and not password_given.holds(request):
        # The page asks for it, and comes back.
        return HttpResponseClientRefresh()
    return _operation(request)


@behind_password
def _operation(request: SignedIn) -> HttpResponse:
    context = {"page": OperationPage(seen_now(zone_of(request)))}
    if not by_script(request):
        return render(request, "operation/operation.html", context)
    return told([put(render_to_string(f"operation/_{name}.html", context)) for name in SECTIONS])


def seen_now(zone: tzinfo) -> OperationSeen:
    """What is read for this page, and for whoever tells of it elsewhere."""
    asked = ask_database()
    catalog = engine().catalog
    return OperationSeen(
        now=asked.now,
        zone=zone,
        database=connection.display_name,
        database_ms=asked.ms,
        connections=count_connections(),
        there=load_present(asked.now) if settings.REDIS_URL else [_this_one(asked.now)],
        turns=count_live(asked.now),
        running=load_running(asked.now, MOST_RUNNING),
        taken=load_taken_over(asked.now),
        upkeep=load_upkeep(),
        today=_by_provider(asked.now),
        label=catalog.label,
        provider_label=provider_label,
    )


def _this_one(now: datetime) -> There:
    """The only process there is says nothing in rows."""
    return There(
        runner=engine().runner.name,
        task=Task.EVERYTHING,
        name="this process",
        machine=platform.node(),
        code=code_version(),
        began=now - timedelta(seconds=time.monotonic() - ITSELF.began),
        said=now,
        silent_since=None,
        fingerprints={},
        figures=figures_now(),
    )


def _by_provider(now: datetime) -> dict[str, Counter[str]]:
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for day in load_days(day_of(now)):
        sums[ModelName.of(day.model).provider] += day.counts
    return dict(sums)


def provider_label(name: str) -> str:
    try:
        return visible(engine().catalog.provider(name).endpoint.label or name)
    except KeyError:
        return visible(name)
