"""What people choose for themselves, saved section by section."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.forms import ModelForm
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from ...catalog.page import models_shown
from ...core.signs.visible import visible
from ...gateway.store.cached import looks_at_kept
from ...limits import store as limits
from ...pages.commands import by_script
from ...pages.models import Theme
from ...pages.preferences import preference_of, recent_models, save_preference
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...pages.words.moments import Moment
from ...turns.engine import engine
from ..forms.settings import AppearanceForm, ConversationsForm
from ..store import ways_in

SECTIONS: dict[str, type[ModelForm]] = {"appearance": AppearanceForm, "conversations": ConversationsForm}


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def settings(request: SignedIn) -> HttpResponse:
    return _save_section(request) if request.method == "POST" else _settings_page(request, {})


def _save_section(request: SignedIn) -> HttpResponse:
    section = request.POST.get("section", "")
    if section not in SECTIONS:
        raise BadRequest("There is no such section.")
    form = SECTIONS[section](request.POST)
    if not form.is_valid():
        wrong = render(request, "accounts/_wrong.html", {"form": form}, status=400)
        return wrong if by_script(request) else _settings_page(request, {section: form})
    save_preference(request.user, **form.cleaned_data)
    if by_script(request):
        return HttpResponse("Saved.")
    return redirect(f"{reverse('settings')}?saved={section}#{section}")


def _today(request: SignedIn) -> str:
    """What is used of their daily limit; "" where they have none."""
    limit, now = limits.load_limit(request.user), timezone.now()
    if limit is None:
        return ""
    used = ", ".join(limits.used_in_words(limit, limits.load_used(request.user, now)))
    return f"Used today: {used}. The next day begins in {limits.free_again(now)} (0:00 UTC)."


def _way_in(request: SignedIn) -> str:
    """What an administrator did about their password; "" where none did."""
    way = ways_in.load(request.user)
    if way is None:
        return ""
    made, used = (
        Moment(at.astimezone(zone_of(request))).day if at else "" for at in (way.made_at, way.used_at)
    )
    by = way.by.get_username() if way.by else "An administrator"
    return f"{by} made a link for your password on {made}. " + (
        f"It was used on {used}." if used else "It was not used."
    )


def _looks(request: SignedIn) -> list[str]:
    """Of administrators, at thoughts that are kept for their programs."""
    zone = zone_of(request)
    return [
        f"{visible(row.name)}, those of {row.responses:,} response{'s' if row.responses > 1 else ''}, "
        f"on {Moment(row.at.astimezone(zone)).day}"
        for row in looks_at_kept(request.user)
    ]


def _settings_page(request: SignedIn, wrong: dict[str, ModelForm]) -> HttpResponse:
    preference = preference_of(request.user)
    forms = {name: form(instance=preference) for name, form in SECTIONS.items()} | wrong
    catalog, listings = engine().catalog, async_to_sync(engine().catalog.models_soon)()
    chosen = str(forms["conversations"]["default_model"].value())
    offered = models_shown.usable_models(catalog, (chosen, *recent_models(request.user)))
    context = {
        "forms": forms,
        "looks": _looks(request),
        "themes": Theme.choices,
        "groups": models_shown.few_models(listings, offered),
        "chosen": chosen,
        "lost": chosen if chosen and not models_shown.find_model(catalog, chosen) else "",
        "usual": catalog.label(async_to_sync(engine().default_model)(soon=True)),
        "saved": request.GET.get("saved"),
        "today": _today(request),
        "way_in": _way_in(request),
    }
    return render(request, "accounts/settings.html", context, status=400 if wrong else 200)
