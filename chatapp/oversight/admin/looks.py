"""Who looked at whose conversation."""

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
from ..models import Look


@register(Look, site=site)
class LookAdmin(ReadOnly, BoundedAdmin):
    list_display = ("when", "who_looked", "what_for", "whose", "looked_at", "where_from")
    ordering = ("-at", "-pk")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Look]:
        rows = Look.objects.select_related("conversation__owner")
        return rows.defer("conversation__tools", "conversation__instructions", "conversation__title")

    def get_urls(self) -> list[Any]:
        """The list is all there is of it: a page of one look would name the conversation by its title."""
        seen = self.admin_site.admin_view(require_safe(self.changelist_view))
        return [path("", seen, name="chatapp_look_changelist")]

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        zone = zone_of(request)
        for row in rows:
            row.zone = zone
        return rows

    @display(description="When")
    def when(self, row: Any) -> str:
        return day_and_time(row.at, row.zone)

    @display(description="Who")
    def who_looked(self, row: Look) -> str:
        return visible(row.name)

    @display(description="What")
    def what_for(self, row: Look) -> str:
        return row.get_what_display()

    @display(description="Whose")
    def whose(self, row: Look) -> str:
        return visible(row.conversation.owner.get_username())

    @display(description="Conversation")
    def looked_at(self, row: Look) -> str:
        return str(row.conversation_id)

    @display(description="From")
    def where_from(self, row: Look) -> str:
        return visible(row.address)
