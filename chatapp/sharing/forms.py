"""The form that makes a link to a branch."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone

EXPIRIES = {"": None, "day": timedelta(days=1), "week": timedelta(weeks=1), "month": timedelta(days=30)}
_NAMES = {"": "Never", "day": "After a day", "week": "After a week", "month": "After 30 days"}


class ShareForm(forms.Form):
    thoughts = forms.BooleanField(required=False)
    tools = forms.BooleanField(required=False)
    expires = forms.ChoiceField(required=False, choices=_NAMES.items())

    def choices(self) -> dict[str, Any]:
        """As the store takes them; what makes no sense is the least."""
        self.full_clean()
        said = self.cleaned_data
        lasts = EXPIRIES[said["expires"]] if "expires" in said else EXPIRIES["day"]
        return {
            "with_thoughts": said["thoughts"],
            "with_tools": said["tools"],
            "expires_at": timezone.now() + lasts if lasts else None,
        }
