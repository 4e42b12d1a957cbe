"""Forms in our look, and the one that asks for the password again."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User


class Dressed(forms.BaseForm):
    """Fields in our look. `labels` and `helps` are words in place of Django's."""

    labels: dict[str, str] = {}
    helps: dict[str, str] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs["class"] = "input"
            field.label = self.labels.get(name, field.label)
            field.help_text = self.helps.get(name, "")
        next(iter(self.fields.values())).widget.attrs["autofocus"] = True


class OwnPassword(forms.BaseForm):
    """Whoever is signed in shows that it is still them."""

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise forms.ValidationError("That is not your password.")
        return password


class PasswordForm(OwnPassword, Dressed, forms.Form):
    password = forms.CharField(
        label="Password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
