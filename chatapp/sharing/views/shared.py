"""A branch that somebody shared: read by whoever has the link, forked by whoever is signed in."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ...core.named import identity, number
from ...pages.commands import refused, submission_named, to_composer
from ...pages.limiting import throttle
from ...pages.limiting.throttle import Limit
from ...pages.limiting.wholesale import refuse_too_many, too_many
from ...pages.visitors import visitor_address
from ...pages.words.days import zone_of
from ...store import Refused, if_possible
from ...turns.engine import engine
from ..page.shared import load_shared_page
from ..store import Shared, fork_shared, open_share

# A class of pupils may sit behind one address.
OPENINGS = Limit("share-openings", 600, timedelta(minutes=15))
READER_OF_THE_DAY = Limit("share-reader", 1, timedelta(days=1))


@require_safe
def shared(request: HttpRequest, token: str) -> HttpResponse:
    if wait := _too_soon(request):
        return _unlisted(refused(request, too_many(wait), 429))
    found = open_share(token)
    if found is None:
        return link_gone(request)
    if _is_first_look(request, found):
        if_possible(open_share, token, counts=True)
    start = number(request.GET.get("from", "")) or 0
    page = load_shared_page(found, request.user, engine().catalog, zone_of(request), start)
    return _unlisted(render(request, "sharing/shared.html", {"page": page, "token": token}))


@require_safe
def still_open(request: HttpRequest, token: str) -> HttpResponse:
    """What an open page asks now and then."""
    if open_share(token):
        return HttpResponse(status=204)
    wait = _too_soon(request)
    return _unlisted(refused(request, too_many(wait), 429)) if wait else link_gone(request)


@require_POST
def fork(request: HttpRequest, token: str) -> HttpResponse:
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("shared", args=[token]))
    if open_share(token) is None:
        return link_gone(request)
    wanted = request.POST.get("until", "")
    until = identity(wanted)
    try:
        refuse_too_many(request.user)
        if wanted and until is None:
            raise Refused("That is no message.")
        made = fork_shared(token, by=request.user, until=until, submission=submission_named(request))
    except Refused as refusal:
        return refused(request, str(refusal))
    return to_composer(request, made.conversation.pk)


def link_gone(request: HttpRequest) -> HttpResponse:
    """Whatever the reason is."""
    return _unlisted(render(request, "sharing/shared_gone.html", status=404))


def _too_soon(request: HttpRequest) -> timedelta | None:
    """How long to wait. What cannot be counted just now is read all the same."""
    return if_possible(throttle.take, OPENINGS, visitor_address(request), timezone.now())


def _unlisted(response: HttpResponse) -> HttpResponse:
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    return response


def _is_first_look(request: HttpRequest, found: Shared) -> bool:
    """Of the day; whoever shares it looks at it in any case."""
    if request.method != "GET" or request.user.pk == found.owner:
        return False
    agent = request.headers.get("User-Agent", "")
    who = str(request.user.pk or f"{visitor_address(request)} {agent}")
    return (
        if_possible(throttle.take, READER_OF_THE_DAY, f"{found.share.pk} {who}", timezone.now())
        == timedelta()
    )
