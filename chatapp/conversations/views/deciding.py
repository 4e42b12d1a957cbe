"""A person's word about calls that wait for it: each counts once, for exactly the arguments that were shown."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.views.decorators.http import require_POST

from ...core.decision import Decision
from ...pages import operations
from ...pages.access import my_message
from ...pages.commands import by_script, refused, to_conversation, told
from ...pages.engine_calls import call
from ...pages.signed_in import SignedIn
from ...store import Refused
from ...thread.permission import panel_id
from ...turns.engine import engine

NO_DECISION = "The page was too old, and nothing was decided. Reload it and look again."


@require_POST
@login_required
def decide(request: SignedIn, pk: UUID) -> HttpResponse:
    answer = my_message(request.user, pk)
    answers = _decided_in(request.POST)
    if not answers:
        return refused(request, NO_DECISION, 400)
    try:
        call(engine().decide, pk, answers, by=request.user)
    except Refused as error:
        return refused(request, str(error))
    if by_script(request):
        # The rest is told to all tabs alike, this one among them.
        return told([operations.gone(panel_id(pk, key)) for key in answers])
    return to_conversation(answer.conversation_id, pk)


def _decided_in(data: QueryDict) -> Mapping[str, tuple[Decision, str]]:
    """The button says what was decided and about which call, or about all; beside it stands what was shown of each."""
    word, _, key = data.get("decision", "").partition(" ")
    if word not in list(Decision):
        return {}
    pairs = (seen.partition(" ") for seen in data.getlist("seen"))
    shown = {name: hashed for hashed, _, name in pairs}
    keys = [key] if key else list(shown)
    return {name: (Decision(word), shown.get(name, "")) for name in keys}
