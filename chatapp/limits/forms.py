"""What staff say of a daily limit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from .models import DailyLimit

Who = DailyLimit.Who


class LimitForm(forms.ModelForm):
    person = forms.CharField(
        required=False, max_length=150, help_text="Their name, where the limit is for one person."
    )

    class Meta:
        model = DailyLimit
        fields = ("who", "turns", "tokens", "cost", "with_key_only")
        labels = {
            "who": "For",
            "turns": "Turns a day",
            "tokens": "Tokens a day",
            "cost": "Cost a day, in US dollars",
            "with_key_only": "Only while a provider’s key is set",
        }
        help_texts = {
            "who": "Of several that fit somebody the first of this list counts alone. One person without numbers has no limit.",
            "turns": "Questions, further answers and answers that go on. Empty: no limit.",
            "tokens": "Read and written. Empty: no limit.",
            "cost": "As far as prices are written down. Empty: no limit. Days are those of UTC.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.user:
            self.initial["person"] = self.instance.user.get_username()

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        name, one = data.get("person", ""), data.get("who") == Who.PERSON
        if name and not one:
            self.add_error("person", "A name is only for a limit of one person.")
        self.instance.user = self._named(name) if one else None
        return data

    def _named(self, name: str) -> User | None:
        person = User.objects.filter(username=name).first()
        if person is None:
            self.add_error("person", "Nobody here has this name." if name else "Whose limit is it?")
        elif DailyLimit.objects.filter(user=person).exclude(pk=self.instance.pk).exists():
            self.add_error("person", "There is a limit for them already: change that one.")
        return person
