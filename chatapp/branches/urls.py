"""Branches: chosen, drawn, compared, taken along."""

from __future__ import annotations

from django.urls import path

from .views import compare, fork, map, picker

urlpatterns = [
    path("m/<uuid:pk>/go/", picker.go, name="go"),
    path("c/<uuid:pk>/map/", map.show, name="map"),
    path("compare/", compare.compare, name="compare"),
    path("m/<uuid:pk>/fork/", fork.fork, name="fork"),
]
