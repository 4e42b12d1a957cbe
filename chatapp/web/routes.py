"""Every socket address."""

from __future__ import annotations

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from django.urls import path

from .consumers import Listening

sockets = AuthMiddlewareStack(
    URLRouter([path("ws/", Listening.as_asgi()), path("ws/c/<uuid:pk>/", Listening.as_asgi())])
)
