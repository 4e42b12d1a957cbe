"""A message to take elsewhere, and the frame in which a diagram is drawn."""

from __future__ import annotations

from secrets import token_urlsafe
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from ..config.mermaid import FOLDER
from ..pages.access import my_message
from ..pages.signed_in import SignedIn
from ..store import load_items
from .as_markdown import as_markdown

# A diagram is a program's input from outside: whatever it makes of it, it reaches nothing and nobody.
PICTURE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'nonce-{nonce}'",
        "style-src 'unsafe-inline'",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "sandbox allow-scripts",
    )
)


@require_safe
@login_required
def copy(request: SignedIn, pk: UUID) -> HttpResponse:
    """As Markdown; `?thoughts=1` with its thoughts."""
    message = my_message(request.user, pk)
    wanted = request.GET.get("thoughts", "0")
    if wanted not in ("0", "1"):
        raise BadRequest("The thoughts come along (1), or they do not (0).")
    text = as_markdown(message, load_items(message.pk), thoughts=wanted == "1")
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
@xframe_options_exempt
def picture(request: HttpRequest) -> HttpResponse:
    """Empty until the page around it hands a diagram over. It has no origin, so no cookie, no storage and no network."""
    nonce = token_urlsafe(16)
    response = HttpResponse(render_to_string("thread/picture.html", {"nonce": nonce, "drawn": bool(FOLDER)}))
    response["Content-Security-Policy"] = PICTURE_POLICY.format(nonce=nonce)
    return response
