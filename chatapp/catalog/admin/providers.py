"""Providers of models: those of the environment are shown, further ones are added and switched here."""

from __future__ import annotations

import time
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.contrib.admin import ModelAdmin, register
from django.db import transaction
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from ...pages.commands import View
from ...pages.engine_calls import call
from ...pages.staff.rights import StaffOnly
from ...pages.staff.site import site
from ...turns.engine import engine
from .. import store as model_providers
from ..forms.providers import ProviderForm
from ..models import ModelProvider
from ..page.providers import listing_in_words, provider_lines
from ..part import providers

LIST = "admin:chatapp_modelprovider_changelist"


@register(ModelProvider, site=site)
class ModelProviderAdmin(StaffOnly, ModelAdmin):
    form = ProviderForm
    actions = None
    ordering = ("created_at", "pk")
    fields = ("name", "label", "dialect", "base_url", "key_variable", "key_for", "private_network", "is_on")

    def get_readonly_fields(self, request: HttpRequest, obj: ModelProvider | None = None) -> tuple[str, ...]:
        return () if obj is None else ("name",)

    def get_urls(self) -> list[Any]:
        def seen(view: View) -> View:
            return self.admin_site.admin_view(view)

        own = [
            path("", seen(require_safe(self.list)), name="chatapp_modelprovider_changelist"),
            path("look/", seen(require_POST(self.look)), name="look_at_provider"),
        ]
        return [*own, *super().get_urls()]

    def list(self, request: HttpRequest) -> HttpResponse:
        catalog = engine().catalog
        listings = async_to_sync(catalog.listings_soon)()
        context = self.admin_site.each_context(request) | {
            "title": "Providers",
            "opts": self.opts,
            "lines": provider_lines(catalog, listings, self.get_queryset(request)),
        }
        return render(request, "admin/chatapp/modelprovider/list.html", context)

    def look(self, request: HttpRequest) -> HttpResponse:
        """Asks a provider for its models, and says what came of it."""
        began = time.monotonic()
        try:
            listing = call(engine().catalog.look, request.POST.get("name", ""))
        except KeyError:
            raise Http404 from None
        say = messages.error if listing.problem else messages.success
        say(request, listing_in_words(listing, time.monotonic() - began))
        return redirect(LIST)

    def save_model(self, request: HttpRequest, obj: ModelProvider, form: ModelForm, change: bool) -> None:
        model_providers.save_provider(obj)
        look_once_it_is_stored()

    def delete_model(self, request: HttpRequest, obj: ModelProvider) -> None:
        model_providers.delete_provider(obj)
        look_once_it_is_stored()


def look_once_it_is_stored() -> None:
    """Here at once; the other processes look for themselves."""
    transaction.on_commit(lambda: providers().look(anew=True))
