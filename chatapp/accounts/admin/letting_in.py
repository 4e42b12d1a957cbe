"""How people come in: an account that somebody else makes for them, and a link with which they choose its password."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.views.decorators.http import require_POST

from ...core.named import identity
from ...core.signs.visible import visible
from ...gateway.store import keys
from ...pages.commands import View
from ...pages.visitors import site_of
from ...pages.words.days import zone_of
from ...pages.words.moments import day_and_time
from ..forms.people import NewPersonForm
from ..store import ways_in
from ..store.signing_out import sign_out_everywhere


class LetsIn(ModelAdmin):
    """Whoever may change a person may make a link for them."""

    def get_urls(self) -> list[Any]:
        def seen(view: View) -> View:
            return self.admin_site.admin_view(require_POST(view))

        own = [
            path("<int:pk>/link/", seen(self.make_link), name="make_way_in"),
            path("<int:pk>/link/end/", seen(self.end_link), name="end_way_in"),
            path("<int:pk>/sign-out/", seen(self.sign_out), name="sign_out"),
            path("<int:pk>/keys/revoke/", seen(self.revoke), name="revoke_keys"),
        ]
        return [*own, *super().get_urls()]

    def way_of(self, request: HttpRequest, person: User) -> dict[str, Any]:
        """What their page says of it."""
        way = ways_in.load(person)
        return {
            "may_let_in": person.is_active and self.has_change_permission(request, person),
            "way": way,
            "works_until": day_and_time(ways_in.works_until(way), zone_of(request)) if way else "",
            "chosen": person.has_usable_password(),
        }

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
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

    def sign_out(self, request: HttpRequest, pk: int) -> HttpResponse:
        person = self._to_let_in(request, pk)
        sign_out_everywhere(person)
        self.log_change(request, person, "Signed them out everywhere.")
        messages.success(request, f"{visible(person.get_username())} is signed in nowhere any more.")
        return redirect("admin:auth_user_change", pk)

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        """One of their keys; of another's nothing is known here."""
        person, key = self._to_let_in(request, pk), identity(request.POST.get("key", ""))
        if key is None or not keys.revoke_key(person, key):
            raise Http404
        self.log_change(request, person, "Revoked a key of theirs.")
        messages.success(request, "The key is revoked. What ran with it is cut off.")
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
            "works_until": day_and_time(ways_in.works_until(way), zone_of(request)) if way else "",
        }
        return render(request, "admin/auth/user/link.html", context)

    def _to_let_in(self, request: HttpRequest, pk: int) -> User:
        person = User.objects.filter(pk=pk, is_active=True).first()
        if person is None:
            raise Http404
        if not self.has_change_permission(request, person):
            raise PermissionDenied
        return person
