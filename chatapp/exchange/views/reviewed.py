"""What reviewers said leaves as data: for staff, where they may read what people say, and written down for each owner."""

from __future__ import annotations

from django import forms
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from ...oversight.models import Look
from ...oversight.store.looks import append_looks
from ...oversight.views.closed import closed
from ...pages.access import only_staff
from ...pages.signed_in import SignedIn
from ...pages.staff.again import behind_password
from ...pages.staff.rights import may_read
from ...pages.visitors import visitor_address
from ...reviews.models import Verdict
from ..out.as_reviewed import WantedReviews, agreed, as_reviewed, chosen_reviews
from .downloads import download


class ReviewsForm(forms.Form):
    reviewer = forms.CharField(required=False, max_length=150)
    model = forms.CharField(required=False, max_length=300)
    verdict = forms.ChoiceField(required=False, choices=[("", "Any"), *Verdict.choices])
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    thoughts = forms.BooleanField(required=False)


@behind_password
@require_safe
@login_required
def export_reviews(request: SignedIn) -> HttpResponseBase:
    """A page that asks which, and the lines where the address says so."""
    only_staff(request.user)
    if not may_read():
        return closed(request)
    if "as" not in request.GET:
        context = {"form": ReviewsForm(), "count": agreed().count()}
        return render(request, "exchange/reviewed.html", context)
    form = ReviewsForm(request.GET)
    if not form.is_valid():
        raise BadRequest("There are no such reviews.")
    wanted = WantedReviews(**form.cleaned_data)
    rows = chosen_reviews(wanted)
    looked_at = {row.conversation_id for row in rows}
    append_looks(request.user, looked_at, Look.What.REVIEWS, address=visitor_address(request))
    kind = "application/jsonl; charset=utf-8"
    return download(as_reviewed(rows, wanted), name="reviews.jsonl", content_type=kind)
