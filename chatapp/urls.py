"""Every HTTP address."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from .web.views import accounts, health, home

urlpatterns = [
    path("", home.models, name="home"),
    path("accounts/login/", accounts.SignIn.as_view(), name="login"),
    path("accounts/signup/", accounts.sign_up, name="signup"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("health/live", health.live),
    path("health/ready", health.ready),
    path("metrics", health.metrics),
]
