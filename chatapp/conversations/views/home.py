"""The first page: a new conversation, with which models are there and how to get more."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ...catalog.page import models_shown
from ...catalog.page.models_shown import find_model
from ...pages.preferences import preference_of
from ...pages.signed_in import SignedIn
from ...turns.engine import engine
from ..forms import ABOUT_US, WHO_KNOWS, AskForm
from ..page.composer import composer_for
from ..page.tools import tools_to_begin_with

# What is asked, and what it shows.
EXAMPLES = (
    ("How much is 14 * 60 * 0.8?", "Thinks, then calculates"),
    ("What time is it now in Asia/Tokyo and in Europe/Lisbon?", "Looks at a clock"),
    (ABOUT_US, "Answered by the demo model, without a key"),
)


@require_safe
@login_required
def home(request: SignedIn) -> HttpResponse:
    return render_home(request)


def render_home(
    request: SignedIn, *, form: AskForm | None = None, refused: str = "", status: int = 200
) -> HttpResponse:
    """`form` is a first question that was refused: it stands in the composer again."""
    listings = async_to_sync(engine().catalog.models_soon)()
    preference = preference_of(request.user)
    wanted = request.GET.get("model", "")
    composer = composer_for(
        request.user, preference, None, None, listings, form=form, refused=refused, model=wanted
    )
    context = {
        "composer": composer,
        "tools": tools_to_begin_with(form.chosen_tools if form else None),
        "instructions": form.data.get("instructions", "") if form else preference.instructions,
        "examples": [
            each for each in EXAMPLES if each[0] != ABOUT_US or find_model(engine().catalog, WHO_KNOWS)
        ],
        "groups": models_shown.all_models(listings),
        "incomplete": settings.INCOMPLETE_PROVIDERS,
    }
    return render(request, "conversations/home.html", context, status=status)
