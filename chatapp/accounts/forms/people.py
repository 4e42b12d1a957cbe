"""What is said of a person: who is let in, whether they may come in, and what else they are."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.models import User
from django.db import IntegrityError

from ...reviews.store.reviewers import is_reviewer
from ..store import accounts, names
from .accounts import TAKEN, NewName


class PersonForm(forms.ModelForm):
    reviewer = forms.BooleanField(
        required=False, label="Reviewer", help_text="Sees what was submitted for review."
    )

    class Meta:
        model = User
        fields = ("email", "is_active", "is_staff")
        labels = {"email": "E-mail", "is_active": "Active", "is_staff": "Administrator"}
        help_texts = {
            "email": "Where a link for a forgotten password goes.",
            "is_active": "Otherwise they cannot sign in, and whatever they have open ends.",
            "is_staff": "Comes to these pages.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["reviewer"] = is_reviewer(self.instance)


class NewPersonForm(NewName, forms.ModelForm):
    """Somebody who is let in."""

    class Meta:
        model = User
        fields = ("username", "email")
        field_classes = {"username": UsernameField}
        labels = {"username": "Username", "email": "E-mail"}
        help_texts = {
            "username": "Letters, digits and @ . + - _",
            "email": "Not needed. Where a link for a forgotten password goes.",
        }

    def let_in(self) -> User | None:
        """The new account, or None and an error when somebody was quicker."""
        said = self.cleaned_data
        try:
            return accounts.let_in(said["username"], said["email"])
        except IntegrityError:
            self.add_error("username", TAKEN)
        except names.LooksTaken as error:
            self.add_error("username", str(error))
        return None
