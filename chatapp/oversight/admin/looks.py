"""Who looked at whose conversation."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, register
from django.urls import path
from django.views.decorators.http import require_safe

from ...pages.staff.rights import ReadOnly
from ...pages.staff.site import site
from ..models import Look
from ..views.looks import looks


@register(Look, site=site)
class LookAdmin(ReadOnly, ModelAdmin):
    def get_urls(self) -> list[Any]:
        """The list is all there is of it: a page of one look would name the conversation by its title."""
        seen = self.admin_site.admin_view(require_safe(looks))
        return [path("", seen, name="chatapp_look_changelist")]
