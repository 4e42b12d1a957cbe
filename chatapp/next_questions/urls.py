"""What is done to a question that waits, by the answer that it waits for."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("m/<uuid:pk>/next/edit/", views.edit, name="edit_next"),
    path("m/<uuid:pk>/next/save/", views.save, name="save_next"),
    path("m/<uuid:pk>/next/leave/", views.leave, name="leave_next"),
    path("m/<uuid:pk>/next/remove/", views.remove, name="remove_next"),
]
