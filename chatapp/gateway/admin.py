"""Who may have keys, and which there are: looked at, and revoked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import action, display, register
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import path
from django.utils import timezone

from ..core.plural import many
from ..core.signs.visible import visible
from ..pages.staff.bounded import BoundedAdmin, ChoiceFilter
from ..pages.staff.rights import ReadOnly, StaffOnly
from ..pages.staff.site import site
from ..pages.words.days import zone_of
from ..pages.words.moments import day_and_time
from .forms import KeyRuleForm
from .models import ApiKey, KeyRule
from .store import keys, who


@register(KeyRule, site=site)
class KeyRuleAdmin(StaffOnly, BoundedAdmin):
    form = KeyRuleForm
    fields = ("who", "person", "may_have_keys")
    list_display = ("whose", "may")
    list_display_links = ("whose",)
    ordering = ("user__username", "who")

    def get_queryset(self, request: HttpRequest) -> QuerySet[KeyRule]:
        return KeyRule.objects.select_related("user")

    def save_model(self, request: HttpRequest, obj: KeyRule, form: ModelForm, change: bool) -> None:
        who.save_rule(obj)

    @display(description="Whose")
    def whose(self, row: KeyRule) -> str:
        return visible(row.user.get_username()) if row.user else row.get_who_display()

    @display(description="May have keys", boolean=True)
    def may(self, row: KeyRule) -> bool:
        return row.may_have_keys


class KeyStateFilter(ChoiceFilter):
    title, parameter_name = "state", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        return [("open", "Not revoked"), ("revoked", "Revoked"), ("management", "With management")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        match self.value():
            case "open":
                return queryset.filter(revoked_at=None)
            case "revoked":
                return queryset.filter(revoked_at__isnull=False)
            case "management":
                return queryset.filter(is_management=True, revoked_at=None)
            case _:
                return queryset


@register(ApiKey, site=site)
class ApiKeyAdmin(ReadOnly, BoundedAdmin):
    """What a key opens stands nowhere, and its digest is nobody's business."""

    list_display = ("name_of", "whose", "begins", "made", "last_used", "ends", "revoked")
    list_filter = (KeyStateFilter,)
    # Any name: it makes the field of the search appear.
    search_fields = ("owner__username",)
    ordering = ("-created_at", "pk")
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiKey]:
        return ApiKey.objects.select_related("owner").defer("digest")

    def get_urls(self) -> list[Any]:
        """The list is all there is of them."""
        seen = self.admin_site.admin_view(self.changelist_view)
        return [path("", seen, name="chatapp_apikey_changelist")]

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        zone = zone_of(request)
        for row in rows:
            row.zone = zone
        return rows

    @action(description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        count = keys.revoke_any(list(queryset.values_list("pk", flat=True)))
        messages.success(request, f"{many(count, 'key')} revoked. What ran with them is cut off.")

    @display(description="Name")
    def name_of(self, row: ApiKey) -> str:
        kinds = {"recorded": row.is_recorded, "management": row.is_management}
        said = ", ".join(kind for kind, is_so in kinds.items() if is_so)
        return f"{visible(row.name)} ({said})" if said else visible(row.name)

    @display(description="Whose")
    def whose(self, row: ApiKey) -> str:
        return visible(row.owner.get_username())

    @display(description="Begins with")
    def begins(self, row: ApiKey) -> str:
        return f"{row.begins_with}…"

    @display(description="Made")
    def made(self, row: Any) -> str:
        return day_and_time(row.created_at, row.zone)

    @display(description="Last use")
    def last_used(self, row: Any) -> str:
        return day_and_time(row.last_used_at, row.zone) or "never"

    @display(description="Expires")
    def ends(self, row: Any) -> str:
        is_over = row.expires_at is not None and row.expires_at <= timezone.now()
        return "expired" if is_over else day_and_time(row.expires_at, row.zone) or "never"

    @display(description="Revoked")
    def revoked(self, row: Any) -> str:
        return day_and_time(row.revoked_at, row.zone)
