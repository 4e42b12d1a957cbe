"""What belongs to no room: the question for a password, and what operation asks."""

from __future__ import annotations

from django.urls import path

from .health import views as health
from .staff import again

urlpatterns = [
    path("accounts/again/", again.GivePassword.as_view(), name="again"),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", health.metrics),
]
