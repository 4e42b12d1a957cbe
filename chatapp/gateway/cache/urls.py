"""The cache of thoughts, for scripts and for staff."""

from __future__ import annotations

from django.urls import path

from . import views
from .api import reasoning_cache

urlpatterns = [
    path("api/cache/reasoning", reasoning_cache, name="reasoning_cache_api"),
    path("insight/cache/", views.reasoning_cache, name="reasoning_cache"),
    path("insight/cache/clear/", views.clear_cache, name="clear_cache"),
    path("insight/cache/words/<slug:secret>/", views.kept_words, name="kept_words"),
]
