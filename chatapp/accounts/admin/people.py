"""People: what they are, what they use, and the few things that are changed for them here."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, display, register
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from ...core.named import number
from ...core.signs.visible import Leave, visible
from ...oversight.store import browsing
from ...pages.staff.bounded import BoundedAdmin, ChoiceFilter
from ...pages.staff.framed import around
from ...pages.staff.rights import StaffOnly, is_staff
from ...pages.staff.site import site
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ...reviews.store.reviewers import REVIEWERS
from ...store.models import Conversation
from ..forms.people import PersonForm
from ..page import load_person_page
from ..store import accounts, roles
from .letting_in import LetsIn

MOST_WORDS = 8


class RoleFilter(ChoiceFilter):
    title, parameter_name = "role", "role"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [("staff", "Administrators"), ("reviewer", "Reviewers"), ("inactive", "Deactivated")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        match self.value():
            case "staff":
                return queryset.filter(is_staff=True)
            case "reviewer":
                return queryset.filter(groups__name=REVIEWERS)
            case "inactive":
                return queryset.filter(is_active=False)
            case _:
                return queryset


@register(User, site=site)
class PersonAdmin(LetsIn, StaffOnly, BoundedAdmin):
    form = PersonForm
    list_display = ("name", "role", "active", "last_sign_in", "conversations")
    list_display_links = ("name",)
    list_filter = (RoleFilter,)
    # Any name: it makes the field of the search appear, and `get_search_results` does the searching.
    search_fields = ("username",)
    ordering = ("username",)
    readonly_fields = ("name", "last_sign_in", "conversations", "usage")
    fields = ("name", "last_sign_in", "conversations", "usage", "email", "is_active", "is_staff", "reviewer")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody locks themselves out, and who stands above all is changed by their like."""
        if obj is None:
            return is_staff(request)
        equal = bool(getattr(request.user, "is_superuser", False)) or not obj.is_superuser
        return is_staff(request) and obj.pk != request.user.pk and equal

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Who has conversations is deactivated, or leaves by themselves with all that is theirs."""
        if obj is None or not self.has_change_permission(request, obj):
            return False
        return not Conversation.objects.filter(owner=obj).exists()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        for word in visible(search_term, Leave.PROSE).split()[:MOST_WORDS]:
            queryset = queryset.filter(Q(username__icontains=word) | Q(email__icontains=word))
        return queryset, False

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        pks, zone = [row.pk for row in rows], zone_of(request)
        owned = Conversation.objects.filter(owner__in=pks, deleted_at=None).values_list("owner")
        counts = dict(owned.annotate(Count("pk")))
        reviewers = set(User.objects.filter(pk__in=pks, groups__name=REVIEWERS).values_list("pk", flat=True))
        for row in rows:
            row.owned, row.zone, row.reviews = counts.get(row.pk, 0), zone, row.pk in reviewers
        return rows

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> User | None:
        found: User | None = super().get_object(request, object_id, from_field)
        return self.with_figures(request, [found])[0] if found else None

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        pk = number(object_id)
        found = None if pk is None else User.objects.filter(pk=pk).first()
        return super().change_view(
            request, object_id, form_url, self._told(request, found) if found else None
        )

    def _told(self, request: HttpRequest, person: User) -> dict[str, Any]:
        """What their page shows beside the form."""
        return {
            "subtitle": visible(person.get_username()),
            "page": load_person_page(person, zone_of(request)),
            "usage": self.usage(person),
            "may_change": self.has_change_permission(request, person),
            **around("People"),
            **self.way_of(request, person),
        }

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        said = form.cleaned_data
        if "email" in form.changed_data:
            accounts.set_email(obj, said["email"])
        roles.set_roles(obj, active=said["is_active"], staff=said["is_staff"], reviewer=said["reviewer"])

    @display(description="Name")
    def name(self, row: User) -> str:
        return visible(row.get_username())

    @display(description="Role")
    def role(self, row: Any) -> str:
        said = ["administrator" if row.is_staff else "", "reviewer" if row.reviews else ""]
        return ", ".join(filter(None, said))

    @display(description="Active", boolean=True)
    def active(self, row: User) -> bool:
        return row.is_active

    @display(description="Last sign-in")
    def last_sign_in(self, row: Any) -> str:
        return day_and_time(row.last_login, row.zone) or "never"

    @display(description="Conversations")
    def conversations(self, row: Any) -> str:
        address = reverse("admin:chatapp_conversation_changelist")
        return format_html('<a href="{}?owner={}">{}</a>', address, row.pk, f"{row.owned:,}")

    @display(description="Usage")
    def usage(self, row: User) -> str:
        usage = browsing.load_usage(row)
        of = f"of the newest {browsing.NEWEST_ANSWERS:,}" if usage.more else f"in {usage.turns:,}"
        return f"{usage.input:,} tokens in and {usage.output:,} out, {of} answers"
