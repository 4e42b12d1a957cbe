"""The form that makes a key, and what staff say of who may have some."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, cast

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils import timezone

from ..catalog.forms.providers import plain_label
from ..core.signs.visible import hides
from ..providers.configured import UnknownModel
from ..turns.engine import engine
from .models import NAME_CAP, KeyRule, Who
from .store.keys import KeyChoices

EXPIRIES = {"90": "in 90 days", "30": "in 30 days", "365": "in a year", "": "never"}
MOST_NAMES = 8
MOST_MODELS = 200
LONGEST_WORD = 200
# So that sums of many fit into any database.
MOST = 10**15


class ModelIds(forms.MultipleChoiceField):
    """Names of models that are offered, or were a moment ago."""

    def validate(self, value: Any) -> None:
        """There is no list to choose from: each is asked about by itself."""

    def clean(self, value: Any) -> list[str]:
        return [offered(name) for name in dict.fromkeys(super().clean(value)[:MOST_MODELS])]


class KeyForm(forms.Form):
    name = forms.CharField(
        max_length=NAME_CAP,
        error_messages={"required": "Give it a name, so that you recognise it later."},
    )
    expires = forms.ChoiceField(
        required=False, choices=EXPIRIES.items(), error_messages={"invalid_choice": "Choose when it expires."}
    )
    is_recorded = forms.BooleanField(required=False)
    # As the protocol has it, where nobody says otherwise.
    keeps_responses = forms.BooleanField(required=False, initial=True)
    is_management = forms.BooleanField(required=False)
    models = ModelIds(required=False)
    more_models = forms.CharField(required=False, max_length=10_000)
    default_model = forms.CharField(required=False, max_length=LONGEST_WORD)
    turns = forms.IntegerField(required=False, min_value=1, max_value=MOST)
    tokens = forms.IntegerField(required=False, min_value=1, max_value=MOST)
    cost = forms.DecimalField(required=False, min_value=0.01, max_digits=10, decimal_places=2)

    def clean_name(self) -> str:
        return plain_label(self.cleaned_data["name"])

    def clean_more_models(self) -> list[str]:
        words = self.cleaned_data["more_models"].replace(",", " ").split()
        return [offered(word) for word in dict.fromkeys(words[:MOST_MODELS])]

    def clean_default_model(self) -> str:
        name: str = self.cleaned_data["default_model"]
        return offered(name) if name else ""

    def clean(self) -> dict[str, Any]:
        said = super().clean() or self.cleaned_data
        said["names"] = self._own_names()
        allowed = {*said.get("models", ()), *said.get("more_models", ())}
        default = said.get("default_model")
        if allowed and default and default not in allowed:
            self.add_error("default_model", "It may not ask this model. Tick it, or choose another one.")
        for word, model in said["names"].items():
            if allowed and model and model not in allowed:
                self.add_error(
                    None, f"“{word}” is a model that it may not ask. Tick that, or choose another."
                )
        return said

    def _own_names(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for word, model in own_names(cast(QueryDict, self.data)):
            if problem := _why_no_name(word, found):
                self.add_error(None, problem)
            else:
                found[word] = self._offered(word, model)
        return found

    def _offered(self, word: str, model: str) -> str:
        try:
            return offered(model)
        except forms.ValidationError as error:
            self.add_error(None, f"“{word}”: {error.messages[0]}")
            return ""

    def choices(self) -> KeyChoices:
        """Of a form that is valid."""
        said = self.cleaned_data
        days = said["expires"]
        return KeyChoices(
            **{name: said[name] for name in _AS_THEY_ARE},
            models=list(dict.fromkeys([*said["models"], *said["more_models"]])),
            expires_at=timezone.now() + timedelta(days=int(days)) if days else None,
        )


_AS_THEY_ARE = (
    *("name", "is_recorded", "keeps_responses", "is_management"),
    *("names", "default_model", "turns", "tokens", "cost"),
)


def own_names(data: QueryDict) -> Iterator[tuple[str, str]]:
    """What was written into the small table of names; rows without a name are none."""
    words, models = (data.getlist(field)[:MOST_NAMES] for field in ("own_name", "own_model"))
    for word, model in zip(words, [*models, *[""] * MOST_NAMES], strict=False):
        if word.strip():
            yield word.strip(), model.strip()


def _why_no_name(word: str, before: Iterable[str]) -> str:
    if len(word) > LONGEST_WORD or hides(word):
        return "A name for a model has at most 200 signs, all of which are seen."
    return f"“{word}” stands there twice." if word in before else ""


def offered(name: str) -> str:
    """Its whole name; ValidationError where there is no such model to ask."""
    try:
        return engine().catalog.offered(name)[1].id
    except UnknownModel as error:
        raise forms.ValidationError(str(error)) from error


class KeyRuleForm(forms.ModelForm):
    person = forms.CharField(
        required=False, max_length=150, help_text="Their name, where the rule is for one person."
    )

    class Meta:
        model = KeyRule
        fields = ("who", "may_have_keys")
        labels = {"who": "For", "may_have_keys": "May have keys"}
        help_texts = {
            "who": "Of several that fit somebody the first of this list counts alone. Without any, everybody may.",
            "may_have_keys": "Keys with which other programs ask the models here. Where not, those that they have open nothing.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.user:
            self.initial["person"] = self.instance.user.get_username()

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        name, one = data.get("person", ""), data.get("who") == Who.PERSON
        if name and not one:
            self.add_error("person", "A name is only for a rule for one person.")
        self.instance.user = self._named(name) if one else None
        return data

    def _named(self, name: str) -> User | None:
        person = User.objects.filter(username=name).first()
        if person is None:
            self.add_error("person", "Nobody here has this name." if name else "Whom is it for?")
        elif KeyRule.objects.filter(user=person).exclude(pk=self.instance.pk).exists():
            self.add_error("person", "There is a rule for them already: change that one.")
        return person
