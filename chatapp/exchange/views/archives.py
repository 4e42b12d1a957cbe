"""Everything of one's own: what it is, how far the zip is, and the zip."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import retarget

from ...pages.commands import by_script, refused
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...store import Refused
from ..access import my_archive
from ..models import Archive
from ..page.archives import archive_page, making_of, name_of
from ..part import call_for_work
from ..store import archives
from .downloads import download


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def show(request: SignedIn) -> HttpResponse:
    """POST begins to make one."""
    if request.method == "POST":
        try:
            archives.begin(request.user)
        except Refused as refusal:
            return refused(request, str(refusal))
        call_for_work()
        if not by_script(request):
            return _back()
    if request.method == "POST" or not by_script(request):
        return _page(request)
    # Whoever looks how far it is gets no more than that, until it is made.
    if making := making_of(request.user):
        return render(request, "exchange/_archive_work.html", {"page": {"making": making}})
    return retarget(_page(request), "#archive")


def _page(request: SignedIn) -> HttpResponse:
    page = archive_page(request.user, zone_of(request))
    template = "exchange/_archive.html" if by_script(request) else "exchange/archive.html"
    return render(request, template, {"page": page})


@require_safe
@login_required
def fetch(request: SignedIn, pk: UUID) -> HttpResponseBase:
    row = my_archive(request.user, pk)
    if row.state != Archive.State.READY:
        raise Http404
    pieces, name = archives.pieces_of(row.pk), name_of(row)
    return download(pieces, name=name, content_type="application/zip", size=row.size)


@require_POST
@login_required
def remove(request: SignedIn, pk: UUID) -> HttpResponse:
    """Also while it is being made."""
    archives.remove(my_archive(request.user, pk))
    if by_script(request):
        return _page(request)
    return _back()


def _back() -> HttpResponse:
    response = redirect("archives")
    response.status_code = 303
    return response
