"""What a page of messages asks for by itself."""

from __future__ import annotations

from django.urls import path

from .views import copy, picture

urlpatterns = [
    path("m/<uuid:pk>/copy/", copy, name="copy"),
    path("picture/", picture, name="picture"),
]
