"""The site: one signs in at our own door, and whoever is no staff finds nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.views import LogoutView, redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.csrf import csrf_protect

from .again import behind_password


class Site(AdminSite):
    site_header = site_title = "Thoughtline"
    index_title = "Administration"
    # Its lists are wide, and the way back is above them.
    enable_nav_sidebar = False

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self._pages: list[tuple[str, Callable[..., HttpResponseBase], str]] = []

    def add(self, route: str, view: Callable[..., HttpResponseBase], name: str) -> None:
        """A page that is of no table: a room adds it where it registers its tables."""
        self._pages.append((route, view, name))

    def get_urls(self) -> list[Any]:
        """Django's index is one page among others."""
        _, *others = super().get_urls()
        own = [path(route, self.admin_view(view), name=name) for route, view, name in self._pages]
        return [*own, path("tables/", self.admin_view(self.index), name="index"), *others]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """Every page is given it, and only the first one shows it: no other asks each room what may be done there."""
        return SimpleLazyObject(lambda: self._rooms(request, app_label))

    def _rooms(self, request: HttpRequest, app_label: str | None) -> list[Any]:
        found = super().get_app_list(request, app_label)
        return [group | {"name": "People"} if group["app_label"] == "auth" else group for group in found]

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        seen_by_staff = behind_password(super().admin_view(view, cacheable))

        def of_staff_alone(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return redirect_to_login(request.get_full_path())
            if not self.has_permission(request):
                raise Http404
            return seen_by_staff(request, *args, **kwargs)

        return of_staff_alone

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.user.is_authenticated and not self.has_permission(request):
            raise Http404
        return redirect_to_login(reverse("admin:today"))

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        """No field here completes anything, and this would name rows, and so titles, that no look is written down for."""
        raise Http404

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return csrf_protect(LogoutView.as_view())(request)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("password")

    def password_change_done(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("password_done")


site = Site()
