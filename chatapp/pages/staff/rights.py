"""Who may do what on these pages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def is_staff(request: HttpRequest) -> bool:
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))


def may_read() -> bool:
    """Whether administrators may read conversations of others: their titles are words of these too."""
    return bool(settings.ADMIN_CAN_READ_CHATS)


class StaffOnly:
    """Whoever is staff may do what the page offers; what it does not offer, nobody may."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_staff(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_staff(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_staff(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_staff(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_staff(request)


class ReadOnly(StaffOnly):
    """Looked at, and nothing else."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
