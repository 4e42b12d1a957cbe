"""The forms of reviews, and where their commands lead."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect

from ..store import Refused
from .models import Scope, Verdict

LONGEST = 10_000


def _words_field(*, required: bool = False) -> forms.CharField:
    wrong = {"required": "Write something first.", "max_length": f"Write at most {LONGEST:,} signs."}
    return forms.CharField(max_length=LONGEST, required=required, error_messages=wrong)


class SubmitForm(forms.Form):
    scope = forms.ChoiceField(
        choices=Scope.choices,
        error_messages={"invalid_choice": "Choose how much.", "required": "Choose how much."},
    )
    question = _words_field()
    may_leave = forms.BooleanField(required=False)


class WishForm(forms.Form):
    words = _words_field()


class NoteForm(forms.Form):
    text = _words_field(required=True)


class VerdictForm(forms.Form):
    verdict = forms.ChoiceField(
        choices=Verdict.choices,
        error_messages={"invalid_choice": "Choose a verdict.", "required": "Choose a verdict."},
    )
    reason = _words_field()

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("verdict") not in (None, Verdict.APPROVED) and not said.get("reason"):
            self.add_error("reason", "Say why, so that it can be made better.")
        return said


def taken(form: forms.Form) -> dict[str, Any]:
    """What was filled in; else the first thing that is wrong, in a sentence."""
    if not form.is_valid():
        raise Refused(str(next(iter(form.errors.values()))[0]))
    return form.cleaned_data


def see_other(name: str, *arguments: object, after: str = "") -> HttpResponse:
    response = redirect(name, *arguments)
    response["Location"] += after
    response.status_code = 303
    return response
