"""The forms of the way in, worded and marked for our pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.contrib.auth.models import User
from django.db import IntegrityError

from ..store import accounts


def _dress(form: forms.BaseForm) -> None:
    for field in form.fields.values():
        field.widget.attrs["class"] = "input"


class SignInForm(AuthenticationForm):
    error_messages = {
        "invalid_login": "That name and that password do not belong together. Capital letters count.",
        "inactive": "This account is closed.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _dress(self)


class SignUpForm(UserCreationForm):
    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _dress(self)
        self.fields["username"].help_text = "Letters, digits and @ . + - _"
        self.fields["password1"].help_text = "Eight characters or more."
        self.fields["password2"].help_text = ""

    def start_account(self) -> User | None:
        """The new account, or None and an error when somebody took the name a moment ago."""
        user: User = self.save(commit=False)
        try:
            accounts.start_account(user)
        except IntegrityError:
            self.add_error("username", "A user with that username already exists.")
            return None
        return user
