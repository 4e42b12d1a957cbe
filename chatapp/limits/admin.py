"""Daily limits: for one person, or for each of a kind."""

from __future__ import annotations

from django.contrib.admin import display, register
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from ..core.signs.visible import visible
from ..pages.staff.bounded import BoundedAdmin
from ..pages.staff.rights import StaffOnly
from ..pages.staff.site import site
from . import store as limits
from .forms import LimitForm
from .models import DailyLimit


@register(DailyLimit, site=site)
class DailyLimitAdmin(StaffOnly, BoundedAdmin):
    form = LimitForm
    fields = ("who", "person", "turns", "tokens", "cost", "with_key_only")
    list_display = ("whose", "of_turns", "of_tokens", "of_cost", "when")
    list_display_links = ("whose",)
    # Any name: it makes the field of the search appear.
    search_fields = ("user__username",)
    ordering = ("user__username", "who")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DailyLimit]:
        return DailyLimit.objects.select_related("user")

    def save_model(self, request: HttpRequest, obj: DailyLimit, form: ModelForm, change: bool) -> None:
        limits.save_limit(obj)

    @display(description="Whose")
    def whose(self, row: DailyLimit) -> str:
        return visible(row.user.get_username()) if row.user else row.get_who_display()

    @display(description="Turns a day")
    def of_turns(self, row: DailyLimit) -> str:
        return _most(row.turns)

    @display(description="Tokens a day")
    def of_tokens(self, row: DailyLimit) -> str:
        return _most(row.tokens)

    @display(description="Cost a day")
    def of_cost(self, row: DailyLimit) -> str:
        return _most(None) if row.cost is None else f"$ {row.cost:,.2f}"

    @display(description="In force")
    def when(self, row: DailyLimit) -> str:
        return "while a provider’s key is set" if row.with_key_only else "always"


def _most(number: int | None) -> str:
    return "no limit" if number is None else f"{number:,}"
