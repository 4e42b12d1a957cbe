"""The page of all models."""

from __future__ import annotations

from django.urls import path

from .views import models

urlpatterns = [
    path("models/", models, name="models"),
]
