"""Files come in: chosen, looked through, shown, written, taken back. Each step is a form; the page looks again while something is done."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from ...core.named import number
from ...pages.commands import by_script, refused
from ...pages.limiting.wholesale import IMPORTS, refuse_too_many
from ...pages.signed_in import SignedIn
from ...pages.words.days import zone_of
from ...store import Refused
from ..access import my_file, my_import
from ..models import Import
from ..page.importing import import_page
from ..part import call_for_work
from ..store import imports, uploads

LONGEST = 12


@require_safe
@login_required
def show(request: SignedIn) -> HttpResponse:
    page = import_page(request.user, zone_of(request))
    template = "exchange/_import.html" if by_script(request) else "exchange/import.html"
    return render(request, template, {"page": page})


@require_POST
@login_required
def add_files(request: SignedIn) -> HttpResponse:
    """By a script a name and a size, for which there is a place then; else the files themselves, which are small."""
    try:
        if not by_script(request):
            return _whole_files(request)
        size = number(request.POST.get("size", ""), digits=LONGEST)
        if size is None:
            raise BadRequest("How large is it?")
        file = uploads.add_file(request.user, request.POST.get("name", ""), size)
    except Refused as refusal:
        return refused(request, str(refusal))
    return JsonResponse({"file": str(file.pk), "received": file.received})


def _whole_files(request: SignedIn) -> HttpResponse:
    for sent in request.FILES.getlist("files"):
        size = sent.size or 0
        file = uploads.add_file(request.user, sent.name or "", size)
        at = file.received
        sent.seek(at)
        while at < size:
            at = uploads.add_piece(file, at, sent.read(uploads.PIECE))
    brought = uploads.open_import(request.user)
    if brought:
        imports.check(brought)
        call_for_work()
    return _back()


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def pieces(request: SignedIn, pk: UUID) -> HttpResponse:
    """GET says how much of it is here, POST brings what follows."""
    file = my_file(request.user, pk)
    if request.method == "POST":
        begins = number(request.GET.get("begins", ""), digits=LONGEST)
        if begins is None:
            raise BadRequest("Where does it begin?")
        try:
            file.received = uploads.add_piece(file, begins, request.body)
        except Refused as refusal:
            return refused(request, str(refusal))
        except RawPostDataException:
            raise BadRequest("Its bytes are to be sent as they are, not within a form.") from None
    return JsonResponse({"received": file.received, "size": file.size})


@require_POST
@login_required
def remove(request: SignedIn, pk: UUID) -> HttpResponse:
    file = my_file(request.user, pk)
    return _done(request, lambda: uploads.remove_file(file))


@require_POST
@login_required
def check(request: SignedIn, pk: UUID) -> HttpResponse:
    brought = my_import(request.user, pk)

    def checking() -> None:
        refuse_too_many(request.user, IMPORTS)
        imports.check(brought)

    return _done(request, checking)


@require_POST
@login_required
def start(request: SignedIn, pk: UUID) -> HttpResponse:
    brought = my_import(request.user, pk)
    return _done(request, lambda: imports.start(brought, skips_known="skip" in request.POST))


@require_POST
@login_required
def end(request: SignedIn, pk: UUID) -> HttpResponse:
    """Whatever it is at: before anything has come it is taken back, then it is stopped, afterwards it is undone."""
    brought = my_import(request.user, pk)
    return _done(request, lambda: _end(brought))


def _end(brought: Import) -> object:
    match Import.State(brought.state):
        case Import.State.CHOOSING | Import.State.CHECKING | Import.State.CHECKED:
            return imports.cancel(brought)
        case Import.State.COMING:
            return imports.stop(brought)
        case Import.State.CAME | Import.State.STOPPED:
            return imports.undo(brought)
        case Import.State.UNDONE:
            return None


def _done(request: SignedIn, command: Callable[[], object]) -> HttpResponse:
    try:
        command()
    except Refused as refusal:
        return refused(request, str(refusal))
    call_for_work()
    if by_script(request):
        return _again(request)
    return _back()


def _again(request: HttpRequest) -> HttpResponse:
    page = import_page(request.user, zone_of(request))  # type: ignore[arg-type]
    return render(request, "exchange/_import.html", {"page": page})


def _back() -> HttpResponse:
    response = redirect("import")
    response.status_code = 303
    return response
