"""Operation: the page for staff, and what supervisors and Prometheus ask."""

from __future__ import annotations

from django.urls import path

from .views.health import live, ready
from .views.metrics import metrics
from .views.operation import operation

urlpatterns = [
    path("insight/operation/", operation, name="operation"),
    path("health/live", live),
    path("health/ready", ready),
    path("metrics", metrics),
]
