"""How this process is, for supervisors and balancers: as facts, which a process that serves no pages tells too, and as pages."""

from __future__ import annotations

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from ...processes.itself import ITSELF
from ...store.database.probing import probe
from ..part.noticed import NOTICED

Facts = dict[str, bool]


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The process answers. It asks nobody else."""
    return JsonResponse({"live": True})


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    facts = readiness()
    return JsonResponse(facts, status=200 if facts["ready"] else 503)


def readiness() -> Facts:
    """Requests can be served, or turns run: the database answers, its tables are those of this code, and it can be written. Beside
    others also whether Redis answers, without which pages pause; and that nobody has told this process to end."""
    facts = _database()
    fine = all(facts.values())
    if settings.REDIS_URL:
        fine = fine and not ITSELF.is_ending
        facts |= {"redis": NOTICED.redis_away_since is None, "ending": ITSELF.is_ending}
    if ITSELF.fetches:
        facts |= {"fetches": ITSELF.fetches()}
        fine = fine and facts["fetches"]
    return {"ready": fine, **facts}


def _database() -> Facts:
    facts = {"database": False, "migrated": False, "writable": False}
    try:
        executor = MigrationExecutor(connection)
        facts["database"] = True
        facts["migrated"] = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        facts["writable"] = facts["migrated"] and probe()
    except Error:
        # What is known by then is told.
        pass
    return facts
