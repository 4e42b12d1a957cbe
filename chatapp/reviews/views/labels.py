"""Label sets, for staff: which there are, one to write or to change, and to put away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from ...pages.access import only_staff
from ...pages.commands import keeps
from ...pages.in_address import id_in
from ...pages.signed_in import SignedIn
from ...store import Refused
from ..access import label_set_named
from ..forms import LabelForm, LabelSetForm, see_other, taken
from ..models import Label, LabelOf, LabelScale, LabelSet
from ..page.agreement import scale_in_words
from ..store import labels as store

SEEN_AT_ONCE = 3
FIELDS = ("words", "of", "scale", "choices", "low", "high")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@keeps("words-0")
def label_sets(request: SignedIn) -> HttpResponse:
    """Those that there are, and a form for one more, which may begin as a copy."""
    only_staff(request.user)
    if request.method == "POST":
        store.create_label_set(by=request.user, **_written(request.POST))
        return see_other("label_sets")
    copied = id_in(request, "copy")
    begin = label_set_named(request.user, copied) if copied else None
    sets = [
        (row, [(label, scale_in_words(label)) for label in row.labels.all()]) for row in store.every_set()
    ]
    context = {"sets": sets, "begin": begin, "copied": begin is not None} | _lines(begin)
    return render(request, "reviews/labels/labels.html", context | _choices())


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@keeps("words-0")
def label_set(request: SignedIn, pk: UUID) -> HttpResponse:
    row = label_set_named(request.user, pk)
    if request.method == "POST":
        store.change_label_set(row, **_written(request.POST))
        return see_other("label_sets")
    context = {"begin": row, "in_use": store.is_in_use(row)} | _lines(row)
    return render(request, "reviews/labels/label_set.html", context | _choices())


@require_POST
@login_required
def put_away(request: SignedIn, pk: UUID) -> HttpResponse:
    store.put_away(label_set_named(request.user, pk), away="back" not in request.POST)
    return see_other("label_sets")


def _choices() -> dict[str, Any]:
    return {"scales": LabelScale.choices, "ofs": LabelOf.choices, "most": range(2, 6)}


def _lines(begin: LabelSet | None) -> dict[str, Any]:
    """One for each label that may be written, with its number: a few that are seen at once, and `more`."""
    known = list(begin.labels.all()) if begin else []
    every = list(enumerate([*known, *(Label() for _ in range(store.MOST_LABELS - len(known)))]))
    seen = max(SEEN_AT_ONCE, len(known) + 1)
    return {"lines": every[:seen], "more": every[seen:]}


def _written(form: Mapping[str, str]) -> dict[str, Any]:
    """A line without words asks for nothing."""
    lines = [{name: form.get(f"{name}-{n}", "") for name in FIELDS} for n in range(store.MOST_LABELS)]
    labels = [taken(LabelForm(line)) for line in lines if line["words"].strip()]
    if not labels:
        raise Refused(store.NOTHING_ASKED)
    return taken(LabelSetForm(form)) | {"labels": labels}
