"""Links of one's own, and what is behind one."""

from __future__ import annotations

from django.urls import path

from .views import links, shared

urlpatterns = [
    path("m/<uuid:pk>/share/", links.share, name="share"),
    path("shares/", links.shares, name="shares"),
    path("shares/<uuid:pk>/revoke/", links.revoke, name="revoke"),
    path("s/<token>/", shared.shared, name="shared"),
    path("s/<token>/open/", shared.still_open, name="still_open"),
    path("s/<token>/fork/", shared.fork, name="fork_shared"),
]
