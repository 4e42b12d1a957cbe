"""How a command answers: with operations or a redirect when it worked, with one sentence when it was refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import escape
from django_htmx.http import HttpResponseClientRedirect

from ..core.named import identity
from ..store import Refused
from .elements import message_id
from .operations import Operation

View = Callable[..., HttpResponse]


def by_script(request: HttpRequest) -> bool:
    """Whether our own page asked, and goes on with the answer itself."""
    return request.headers.get("HX-Request") == "true"


def told(operations: Sequence[Operation]) -> HttpResponse:
    return JsonResponse(list(operations), safe=False)


def to_conversation(conversation: UUID, message: UUID | None = None) -> HttpResponse:
    """To the branch on screen. Forms without scripts come back to the message that they were about."""
    response = redirect("conversation", conversation)
    if message:
        response["Location"] += f"#{message_id(message)}"
    response.status_code = 303
    return response


def to_composer(request: HttpRequest, conversation: UUID) -> HttpResponse:
    """To a conversation that is new to them, ready to go on."""
    return away(request, f"{reverse('conversation', args=[conversation])}#message")


def submission(request: HttpRequest, key: UUID) -> UUID:
    """A form's key counts for whoever sends it and where they send it: elsewhere it is another form."""
    return uuid5(key, f"{request.user.pk} {request.path}")


def submission_named(request: HttpRequest) -> UUID:
    """By the form's own field."""
    key = identity(request.POST.get("key", ""))
    return submission(request, key) if key else uuid4()


def away(request: HttpRequest, url: str) -> HttpResponse:
    return HttpResponseClientRedirect(url) if by_script(request) else redirect(url)


def refused(request: HttpRequest, sentence: str, status: int = 409, wrote: str = "") -> HttpResponse:
    if by_script(request):
        return HttpResponse(escape(sentence), status=status)
    return render(request, "pages/refused.html", {"sentence": sentence, "wrote": wrote}, status=status)


def keeps(name: str) -> Callable[[View], View]:
    """For a form without scripts: what was typed into this field is told again where it was not taken, also where what it was
    about is not there any more. The page before this one will not have it."""

    def keeping(view: View) -> View:
        @wraps(view)
        def kept(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
            try:
                return view(request, *args, **named)
            except Refused as refusal:
                return refused(request, str(refusal), wrote=request.POST.get(name, ""))
            except Http404:
                wrote = request.POST.get(name, "")
                if by_script(request) or not wrote:
                    raise
                return render(request, "404.html", {"wrote": wrote}, status=404)

        return kept

    return keeping
