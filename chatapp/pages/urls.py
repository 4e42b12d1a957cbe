"""What belongs to no room: the question for a password."""

from __future__ import annotations

from django.urls import path

from .staff import again

urlpatterns = [
    path("accounts/again/", again.GivePassword.as_view(), name="password_again"),
]
