"""How the process is: for supervisors, load balancers and Prometheus."""

from __future__ import annotations

from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from ...store.database.probing import probe
from .metrics import render_metrics


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The process answers. It asks nobody else."""
    return JsonResponse({"live": True})


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Requests can be served: the database answers, its tables are those of this code, and it can be written."""
    facts = {"database": False, "migrated": False, "writable": False}
    try:
        executor = MigrationExecutor(connection)
        facts["database"] = True
        facts["migrated"] = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        facts["writable"] = facts["migrated"] and probe()
    except Error:
        return JsonResponse({"ready": False, **facts}, status=503)
    fine = all(facts.values())
    return JsonResponse({"ready": fine, **facts}, status=200 if fine else 503)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse(render_metrics(), content_type="text/plain; version=0.0.4; charset=utf-8")
