"""Keys of one's own. What programs ask with them is answered beside these pages."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("settings/keys/", views.keys, name="keys"),
    path("settings/keys/<uuid:pk>/used/", views.used, name="key_used"),
    path("settings/keys/<uuid:pk>/revoke/", views.revoke, name="revoke_key"),
]
