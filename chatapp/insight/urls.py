"""Figures, as a page and as sheets."""

from __future__ import annotations

from django.urls import path

from .views import insight, insight_sheet

urlpatterns = [
    path("insight/", insight, name="insight"),
    path("insight/<slug:what>.csv", insight_sheet, name="insight_sheet"),
]
