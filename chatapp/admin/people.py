"""People: what they are, what they use, and the few things that are changed for them here."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.admin import ModelAdmin, display
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.encoding import force_bytes
from django.utils.html import format_html
from django.utils.http import urlsafe_base64_encode
from django.views.decorators.http import require_POST

from ..models import Conversation
from ..store import accounts, browsing, roles, ways_in
from ..web.days import zone_of
from ..web.visitors import site_of
from .bounded import BoundedAdmin, Choice
from .people_forms import NewPersonForm, PersonForm
from .rights import StaffOnly, is_staff
from .words import moment, visible

MOST_WORDS = 8


class RoleFilter(Choice):
    title, parameter_name = "role", "role"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin) -> list[tuple[Any, str]]:
        return [("staff", "Administrators"), ("reviewer", "Reviewers"), ("inactive", "Deactivated")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        match self.value():
            case "staff":
                return queryset.filter(is_staff=True)
            case "reviewer":
                return queryset.filter(groups__name=roles.REVIEWERS)
            case "inactive":
                return queryset.filter(is_active=False)
            case _:
                return queryset


class PersonAdmin(StaffOnly, BoundedAdmin):
    form = PersonForm
    list_display = ("name", "role", "active", "last_sign_in", "conversations")
    list_display_links = ("name",)
    list_filter = (RoleFilter,)
    # Any name: it makes the field of the search appear, and `get_search_results` does the searching.
    search_fields = ("username",)
    ordering = ("username",)
    readonly_fields = ("name", "last_sign_in", "conversations", "usage")
    fields = ("name", "last_sign_in", "conversations", "usage", "email", "is_active", "is_staff", "reviewer")

    def get_urls(self) -> list[Any]:
        def seen(view: Any) -> Any:
            return self.admin_site.admin_view(require_POST(view))

        own = [
            path("<int:pk>/link/", seen(self.make_link), name="make_way_in"),
            path("<int:pk>/link/end/", seen(self.end_link), name="end_way_in"),
        ]
        return [*own, *super().get_urls()]

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
        for word in visible(search_term).split()[:MOST_WORDS]:
            queryset = queryset.filter(Q(username__icontains=word) | Q(email__icontains=word))
        return queryset, False

    def with_figures(self, request: HttpRequest, rows: list[Any]) -> list[Any]:
        pks, zone = [row.pk for row in rows], zone_of(request)
        owned = Conversation.objects.filter(owner__in=pks, deleted_at=None).values_list("owner")
        counts = dict(owned.annotate(Count("pk")))
        reviewers = set(
            User.objects.filter(pk__in=pks, groups__name=roles.REVIEWERS).values_list("pk", flat=True)
        )
        for row in rows:
            row.owned, row.zone, row.reviews = counts.get(row.pk, 0), zone, row.pk in reviewers
        return rows

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        found: Any = super().get_object(request, object_id, from_field)
        return self.with_figures(request, [found])[0] if found else None

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        found = User.objects.filter(pk=object_id).first() if object_id.isdecimal() else None
        way = ways_in.load(found) if found else None
        more = {
            "subtitle": visible(found.get_username()) if found else None,
            "may_let_in": bool(found and found.is_active and self.has_change_permission(request, found)),
            "way": way,
            "works_until": moment(ways_in.works_until(way), zone_of(request)) if way else "",
            "chosen": bool(found and found.has_usable_password()),
        }
        return super().change_view(request, object_id, form_url, more)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """Somebody is let in: they get an account now, and choose its password with a link."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = NewPersonForm(request.POST or None)
        person = form.let_in() if form.is_valid() else None
        if person:
            self.log_addition(request, person, "Let in.")
            return self._made(request, person)
        context = self.admin_site.each_context(request) | {"title": "Let somebody in", "form": form}
        return render(request, "admin/auth/user/add.html", context, status=400 if form.errors else 200)

    def make_link(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._made(request, self._to_let_in(request, pk))

    def end_link(self, request: HttpRequest, pk: int) -> HttpResponse:
        person = self._to_let_in(request, pk)
        ways_in.end(person)
        self.log_change(request, person, "Ended the link for a password.")
        messages.success(request, "The link works no more.")
        return redirect("admin:auth_user_change", pk)

    def _made(self, request: HttpRequest, person: User) -> HttpResponse:
        """The page that shows the link, and the only one that ever does."""
        token = ways_in.make(person, by=cast(User, request.user))
        self.log_change(request, person, "Made a link for a password.")
        uid = urlsafe_base64_encode(force_bytes(person.pk))
        way = ways_in.load(person)
        context = self.admin_site.each_context(request) | {
            "title": f"A link for {visible(person.get_username())}",
            "person": person,
            "name": visible(person.get_username()),
            "link": f"{site_of(request)}{reverse('use_link', args=[uid, token])}",
            "works_until": moment(ways_in.works_until(way), zone_of(request)) if way else "",
        }
        return render(request, "admin/auth/user/link.html", context)

    def _to_let_in(self, request: HttpRequest, pk: int) -> User:
        person = User.objects.filter(pk=pk, is_active=True).first()
        if person is None:
            raise Http404
        if not self.has_change_permission(request, person):
            raise PermissionDenied
        return person

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
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
        return moment(row.last_login, row.zone) or "never"

    @display(description="Conversations")
    def conversations(self, row: Any) -> str:
        address = reverse("admin:chatapp_conversation_changelist")
        return format_html('<a href="{}?owner={}">{}</a>', address, row.pk, f"{row.owned:,}")

    @display(description="Usage")
    def usage(self, row: User) -> str:
        usage = browsing.load_usage(row)
        of = f"of the newest {browsing.NEWEST_ANSWERS:,}" if usage.more else f"in {usage.turns:,}"
        return f"{usage.input:,} tokens in and {usage.output:,} out, {of} answers"
