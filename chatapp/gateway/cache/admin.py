"""Who was shown words of kept thoughts, and whose."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import display, register
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import path
from django.views.decorators.http import require_safe

from ...core.signs.visible import visible
from ...pages.staff.bounded import BoundedAdmin
from ...pages.staff.rights import ReadOnly
from ...pages.staff.site import site
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ..models import KeptLook


@register(KeptLook, site=site)
class KeptLookAdmin(ReadOnly, BoundedAdmin):
    list_display = ("when", "who_looked", "how_many", "whose", "where_from")
    ordering = ("-at", "-pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[KeptLook]:
        return KeptLook.objects.select_related("owner")

    def get_urls(self) -> list[Any]:
        """The list is all there is of it."""
        seen = self.admin_site.admin_view(require_safe(self.changelist_view))
        return [path("", seen, name="chatapp_keptlook_changelist")]

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        zone = zone_of(request)
        for row in rows:
            row.zone = zone
        return rows

    @display(description="When")
    def when(self, row: Any) -> str:
        return day_and_time(row.at, row.zone)

    @display(description="Who")
    def who_looked(self, row: KeptLook) -> str:
        return visible(row.name)

    @display(description="Responses")
    def how_many(self, row: KeptLook) -> str:
        return f"{row.responses:,}"

    @display(description="Whose")
    def whose(self, row: KeptLook) -> str:
        return visible(row.owner.get_username())

    @display(description="From")
    def where_from(self, row: KeptLook) -> str:
        return visible(row.address)
