"""What is changed of a person: whether they may come in, and what else they are."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from ..store.roles import is_reviewer


class PersonForm(forms.ModelForm):
    reviewer = forms.BooleanField(
        required=False, label="Reviewer", help_text="Sees what was submitted for review."
    )

    class Meta:
        model = User
        fields = ("is_active", "is_staff")
        labels = {"is_active": "Active", "is_staff": "Administrator"}
        help_texts = {
            "is_active": "Otherwise they cannot sign in, and whatever they have open ends.",
            "is_staff": "Comes to these pages.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["reviewer"] = is_reviewer(self.instance)
