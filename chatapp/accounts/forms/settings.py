"""The forms of the settings, one for each section, and the one with which somebody leaves."""

from __future__ import annotations

from django import forms

from ...conversations.forms import Instructions
from ...pages.dressed import OwnPassword
from ...pages.models import Preference
from ...providers.configured import UnknownModel
from ...turns.engine import engine

LAST_WORD = "delete"


class AppearanceForm(forms.ModelForm):
    class Meta:
        model = Preference
        fields = ("theme", "thoughts_open", "enter_sends")


class ConversationsForm(forms.ModelForm):
    """What new conversations begin with."""

    instructions = Instructions(
        help_text="Sent before each new conversation. Changing them never changes an old one."
    )

    class Meta:
        model = Preference
        fields = ("default_model", "instructions")

    def clean_default_model(self) -> str:
        name: str = self.cleaned_data["default_model"]
        try:
            return engine().catalog.offered(name)[1].id if name else ""
        except UnknownModel as error:
            raise forms.ValidationError(str(error)) from error


class LeaveForm(OwnPassword, forms.Form):
    password = forms.CharField(
        strip=False,
        widget=forms.PasswordInput(attrs={"class": "input", "autocomplete": "current-password"}),
    )
    word = forms.CharField(
        label=f"Type “{LAST_WORD}” to be sure",
        widget=forms.TextInput(attrs={"class": "input", "autocomplete": "off", "autocapitalize": "none"}),
    )

    def clean_word(self) -> str:
        word: str = self.cleaned_data["word"]
        if word.strip().lower() != LAST_WORD:
            raise forms.ValidationError(f"Type the word “{LAST_WORD}”.")
        return word
