"""Keys: listed, made, shown once, and revoked."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from ..catalog.page import models_shown
from ..pages.commands import by_script, refused, submission_named
from ..pages.limiting.wholesale import KEYS, refuse_too_many
from ..pages.preferences import recent_models
from ..pages.signed_in import SignedIn
from ..pages.staff import password_given
from ..pages.staff.again import GivePassword
from ..pages.visitors import site_of
from ..providers.base import ModelSpec
from ..store import Refused
from ..turns.engine import engine
from . import names
from .access import my_key
from .forms import EXPIRIES, MOST_NAMES, KeyForm, own_names
from .models import NAME_CAP, ApiKey
from .page.keys import (
    base_address,
    first_use_in_words,
    kept_for,
    key_in_words,
    revoked_keys,
    shown_keys,
    together_in_words,
)
from .page.pasting import Filled, programs
from .store import keys as store
from .store.who import may_have_keys

OWN_LIMITS = (
    ("turns", "Turns", "numeric"),
    ("tokens", "Tokens", "numeric"),
    ("cost", "Cost in $", "decimal"),
)
# Tells htmx to ask no more.
ENOUGH = 286


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def keys(request: SignedIn) -> HttpResponseBase:
    if request.method != "POST":
        return _list(request, KeyForm())
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _list(request, form, status=400)
    if form.cleaned_data["is_management"] and request.user.is_staff and not password_given.holds(request):
        # As at every other door of administrators.
        return GivePassword.as_view(go_on=lambda: _make(request, form))(request)
    return _make(request, form)


@require_safe
@login_required
def used(request: SignedIn, pk: UUID) -> HttpResponse:
    """Whether its first request has come, for the page that waits for it."""
    words = first_use_in_words(request, my_key(request.user, pk))
    return render(request, "gateway/_first_use.html", {"words": words}, status=ENOUGH if words else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def revoke(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET says what happens, POST does it."""
    row = my_key(request.user, pk)
    if request.method != "POST":
        template = "gateway/_revoke.html" if by_script(request) else "gateway/revoke.html"
        return render(request, template, {"key": row})
    store.revoke_key(request.user, pk)
    response = redirect("keys")
    response["Location"] += "?revoked=1"
    response.status_code = 303
    return response


def _make(request: SignedIn, form: KeyForm) -> HttpResponse:
    try:
        refuse_too_many(request.user, KEYS)
        row, secret = store.create_key(request.user, form.choices(), submission_named(request))
    except Refused as refusal:
        return refused(request, str(refusal))
    return _created(request, row, secret)


def _created(request: SignedIn, row: ApiKey, secret: str) -> HttpResponse:
    """The only time that anybody sees it: it is in this answer, and in nothing that is kept."""
    catalog = engine().catalog
    known = async_to_sync(names.known_models)(catalog)
    filled = Filled(site_of(request).rstrip("/"), base_address(request), secret, _asked_by(row, known))
    context = {
        "key": row,
        "secret": secret,
        "words": key_in_words(request, row, catalog),
        "programs": programs(filled),
    }
    response = render(request, "gateway/created.html", context)
    response.headers["Cache-Control"] = "no-store"
    return response


def _asked_by(row: ApiKey, known: tuple[ModelSpec, ...]) -> str:
    default = async_to_sync(engine().default_model)(soon=True)
    try:
        spec = names.model_meant("", row, engine().catalog, known=known, default=default)
    except names.NoSuchModel:
        return default
    return names.short_name(spec, engine().catalog, known)


def _list(request: SignedIn, form: KeyForm, status: int = 200) -> HttpResponse:
    catalog = engine().catalog
    revoked = store.load_revoked(request.user)
    context = {
        "base": base_address(request),
        "keys": shown_keys(request, store.load_keys(request.user), catalog),
        "revoked": revoked_keys(request, revoked),
        "was_revoked": "revoked" in request.GET,
        "together": together_in_words(request.user),
        "kept_for": kept_for(),
        "allowed": may_have_keys(request.user),
        "form": form,
        "expiries": EXPIRIES.items(),
        "name_cap": NAME_CAP,
        "own_limits": [(form[name], label, mode) for name, label, mode in OWN_LIMITS],
        **_models(request, form),
    }
    return render(request, "gateway/keys.html", context, status=status)


def _models(request: SignedIn, form: KeyForm) -> dict[str, Any]:
    """What can be ticked and chosen. Of many models some are shown, and the others are typed."""
    catalog = engine().catalog
    listings = async_to_sync(catalog.models_soon)()
    ticked = request.POST.getlist("models")
    recent = models_shown.usable_models(catalog, (*ticked, *recent_models(request.user)))
    few = models_shown.few_models(listings, recent)
    listed = [spec.id for listing in listings for spec in listing.models]
    own = list(own_names(request.POST))
    return {
        "groups": few,
        "ticked": ticked,
        "listed": listed if len(listed) > models_shown.MOST else (),
        "usual": catalog.label(async_to_sync(engine().default_model)(soon=True)),
        "chosen": request.POST.get("default_model", ""),
        "own_names": [*own, *[("", "")] * (MOST_NAMES - len(own))],
    }
