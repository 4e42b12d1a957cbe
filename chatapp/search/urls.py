"""Everything of one's own, looked through."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("search/", views.search, name="search"),
]
