"""A message to take elsewhere."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from ..pages.access import my_message
from ..pages.signed_in import SignedIn
from ..store import load_items
from .as_markdown import as_markdown


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
