"""What a page of messages asks for by itself."""

from __future__ import annotations

from django.urls import path

from .views import markdown

urlpatterns = [
    path("m/<uuid:pk>/copy/", markdown, name="copy"),
]
