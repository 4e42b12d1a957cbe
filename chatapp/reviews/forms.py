"""The forms of reviews, and where their commands lead."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect

from ..core.items import KEY_CAP
from ..store import Refused
from .models import LabelOf, LabelScale, LabelSet, Scope, Verdict

LONGEST = 10_000
LONGEST_QUOTE = 2000
FEWEST_CHOICES, MOST_CHOICES, LONGEST_CHOICE = 2, 12, 60


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
    label_set = forms.ModelChoiceField(
        LabelSet.objects.filter(put_away_at=None),
        required=False,
        error_messages={"invalid_choice": "These labels are not there any more. Choose others, or none."},
    )


class WishForm(forms.Form):
    words = _words_field()


class SuggestForm(forms.Form):
    words = _words_field()


class NoteForm(forms.Form):
    """`item`, `quote` and `begins`: of a passage, where it is on one."""

    text = _words_field(required=True)
    item = forms.CharField(max_length=KEY_CAP, required=False)
    quote = forms.CharField(
        max_length=LONGEST_QUOTE,
        required=False,
        strip=False,
        error_messages={"max_length": f"Select at most {LONGEST_QUOTE:,} signs."},
    )
    begins = forms.IntegerField(min_value=0, max_value=2**31 - 1, required=False)


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


class LabelSetForm(forms.Form):
    name = forms.CharField(max_length=80, error_messages={"required": "Give the labels a name."})
    raters = forms.IntegerField(
        min_value=2,
        max_value=5,
        error_messages={
            "min_value": "Two reviewers or more can agree.",
            "max_value": "At most five rate the same.",
            "required": "Say how many rate the same.",
        },
    )


class LabelForm(forms.Form):
    """`choices`: one on each line, for a choice."""

    words = forms.CharField(
        max_length=200, error_messages={"max_length": "A question has at most 200 signs."}
    )
    of = forms.ChoiceField(choices=LabelOf.choices)
    scale = forms.ChoiceField(choices=LabelScale.choices)
    choices = forms.CharField(required=False, max_length=2000)
    low = forms.CharField(required=False, max_length=60)
    high = forms.CharField(required=False, max_length=60)

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        given = [line.strip() for line in said.get("choices", "").splitlines()]
        choices = list(dict.fromkeys(filter(None, given)))
        is_choice = said.get("scale") == LabelScale.CHOICE
        if is_choice and not FEWEST_CHOICES <= len(choices) <= MOST_CHOICES:
            self.add_error(
                "choices", f"“{said.get('words')}” needs {FEWEST_CHOICES} to {MOST_CHOICES} choices."
            )
        if any(len(choice) > LONGEST_CHOICE for choice in choices):
            self.add_error("choices", f"A choice has at most {LONGEST_CHOICE} signs.")
        said["choices"] = choices if is_choice else []
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
