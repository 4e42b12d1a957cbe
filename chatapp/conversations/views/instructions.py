"""What a conversation's model is told before everything else: read and changed."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ...pages.access import my_conversation
from ...pages.commands import by_script
from ...pages.signed_in import SignedIn
from ...store import Refused
from ...store.models import Conversation
from ..forms import Instructions
from ..store import save_instructions


class InstructionsForm(forms.Form):
    instructions = Instructions()


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def instructions(request: SignedIn, pk: UUID) -> HttpResponse:
    conversation = my_conversation(request.user, pk)
    if request.method != "POST":
        return _instructions_page(
            request, conversation, InstructionsForm(initial={"instructions": conversation.instructions})
        )
    form = InstructionsForm(request.POST)
    if not form.is_valid():
        return _instructions_page(request, conversation, form, status=400)
    try:
        save_instructions(conversation.pk, form.cleaned_data["instructions"])
    except Refused as refused:
        form.add_error("instructions", str(refused))
        return _instructions_page(request, conversation, form, status=409)
    return HttpResponse("Saved.") if by_script(request) else redirect("conversation", conversation.pk)


def _instructions_page(
    request: SignedIn, conversation: Conversation, form: InstructionsForm, status: int = 200
) -> HttpResponse:
    context = {"form": form, "conversation": conversation}
    if by_script(request) and form.is_bound:
        return render(request, "accounts/_wrong.html", context, status=status)
    return render(
        request,
        "conversations/told/_instructions.html"
        if by_script(request)
        else "conversations/told/instructions.html",
        context,
        status=status,
    )
