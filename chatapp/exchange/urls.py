"""Conversations that go out and come in."""

from __future__ import annotations

from django.urls import path

from .views import exporting

urlpatterns = [
    path("c/<uuid:pk>/export/", exporting.export, name="export"),
    path("thoughtline-1.schema.json", exporting.schema, name="export_schema"),
]
