"""Going from branch to branch: it moves the viewer's own place and nothing else."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_POST

from ...pages.access import my_message
from ...pages.commands import to_conversation
from ...pages.signed_in import SignedIn
from ...store import places


@require_POST
@login_required
def go(request: SignedIn, pk: UUID) -> HttpResponse:
    message = my_message(request.user, pk)
    places.go_to(request.user, message)
    return to_conversation(message.conversation_id, pk)
