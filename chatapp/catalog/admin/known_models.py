"""Models: what the providers list, hidden, renamed, priced, and chosen for everybody here."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import ModelAdmin, register
from django.core.paginator import Paginator
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from ...core.plural import many
from ...core.signs.visible import visible
from ...pages.commands import View
from ...pages.staff.rights import StaffOnly
from ...pages.staff.site import site
from ...providers.base import ModelSpec
from ...providers.configured import UnknownModel
from ...turns.engine import engine
from .. import store as model_providers
from ..forms.known_models import PRICES, ModelForm, why_not_hidden
from ..models import KnownModel
from ..page.known_models import model_lines
from .providers import look_once_it_is_stored

LIST = "admin:chatapp_knownmodel_changelist"
PAGE = 100


@register(KnownModel, site=site)
class KnownModelAdmin(StaffOnly, ModelAdmin):
    """A model has its row once something was said of it: so it is named by its name."""

    def get_urls(self) -> list[Any]:
        def seen(view: View) -> View:
            return self.admin_site.admin_view(require_http_methods(["GET", "HEAD", "POST"])(view))

        return [
            path("", seen(self.list), name="chatapp_knownmodel_changelist"),
            path("model/", seen(self.model_page), name="known_model"),
        ]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """They are discovered."""
        return False

    def list(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            return self._hide_or_offer(request)
        provider, search = request.GET.get("provider", ""), request.GET.get("q", "").strip()
        listings = async_to_sync(engine().catalog.listings_soon)()
        told = [each for each in listings if provider in ("", each.provider)]
        default = settings.DEFAULT_MODEL or model_providers.load_default()
        shown = model_lines(told, model_providers.load_said(provider), default=default, search=search)
        page = Paginator(shown, PAGE).get_page(request.GET.get("page"))
        context = self.admin_site.each_context(request) | {
            "title": "Models",
            "opts": self.opts,
            "page": page,
            "provider": provider,
            "providers": [(each.provider, visible(each.label)) for each in listings],
            "problems": [visible(each.problem) for each in told if each.problem],
            "search": search,
            "query": urlencode({"provider": provider, "q": search}),
            "usual": visible(async_to_sync(engine().default_model)(soon=True)),
            "by_environment": bool(settings.DEFAULT_MODEL),
        }
        return render(request, "admin/chatapp/knownmodel/list.html", context)

    def _hide_or_offer(self, request: HttpRequest) -> HttpResponse:
        hidden, names = request.POST.get("do") == "hide", request.POST.getlist("model")[:PAGE]
        names = [name for name in names if _is_known(name)]
        default = model_providers.load_default()
        kept = [name for name in names if hidden and why_not_hidden(name, default=name == default)]
        changed = [name for name in names if name not in kept]
        model_providers.hide_models(changed, hidden=hidden)
        look_once_it_is_stored()
        for row in model_providers.load_rows(changed):
            self.log_change(request, row, "Hidden." if hidden else "Offered.")
        for name in kept:
            messages.warning(request, f"{visible(name)}: {why_not_hidden(name, default=True)}")
        count = many(len(changed), "model is", "models are")
        messages.success(request, f"{count} {'hidden' if hidden else 'offered'} now.")
        query = urlencode(
            {name: request.GET[name] for name in ("provider", "q", "page") if name in request.GET}
        )
        return redirect(f"{reverse(LIST)}?{query}")

    def model_page(self, request: HttpRequest) -> HttpResponse:
        name = request.GET.get("name", "")
        row = next(iter(model_providers.load_rows([name])), None)
        spec = _spec(name)
        if row is None and spec is None:
            raise Http404
        form = ModelForm(
            request.POST or None,
            instance=row or KnownModel(name=name),
            spec=spec,
            default=model_providers.load_default(),
        )
        if request.method == "POST" and form.is_valid():
            return self._save(request, name, form)
        context = self.admin_site.each_context(request) | {
            "title": f"Model {visible(name)}",
            "opts": self.opts,
            "form": form,
            "name": visible(name),
        }
        return render(request, "admin/chatapp/knownmodel/model.html", context)

    def _save(self, request: HttpRequest, name: str, form: ModelForm) -> HttpResponse:
        said = {field: form.cleaned_data[field] for field in ("label", "is_hidden", "effort", *PRICES)}
        row = model_providers.save_said(name, is_default=form.cleaned_data["is_default"], **said)
        look_once_it_is_stored()
        self.log_change(request, row, [{"changed": {"fields": form.changed_data}}])
        messages.success(request, f"{visible(name)} is saved.")
        return redirect(f"{reverse(LIST)}?{urlencode({'provider': name.partition(':')[0]})}")


def _spec(name: str) -> ModelSpec | None:
    """Whatever was said of it."""
    try:
        return engine().catalog.find(name)[1]
    except UnknownModel:
        return None


def _is_known(name: str) -> bool:
    return _spec(name) is not None or bool(model_providers.load_rows([name]))
