"""What staff may say of a model."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from ...providers.base import ModelSpec
from ..models import KnownModel
from ..page.models_shown import efforts
from .providers import plain_label

PRICES = ("input_price", "cached_price", "output_price")
AS_IT_IS = "As the model has it"


class ModelForm(forms.ModelForm):
    """`spec` is what is known of the model, where its provider is there."""

    effort = forms.ChoiceField(
        required=False, label="Effort", help_text="Chosen where a person has chosen none."
    )
    is_default = forms.BooleanField(
        required=False,
        label="Asked when nobody chose",
        help_text="For everybody who has no usual model of their own, unless DEFAULT_MODEL is set.",
    )

    class Meta:
        model = KnownModel
        fields = ("label", "is_hidden", "effort", *PRICES)
        labels = {
            "label": "Name",
            "is_hidden": "Hidden",
            "input_price": "Price of input",
            "cached_price": "Price of cached input",
            "output_price": "Price of output",
        }
        help_texts = {
            "label": "What people read, in old answers too; empty for its own.",
            "is_hidden": "Not offered any more. Old answers stay as they are.",
            "input_price": "US dollars for a million tokens. Costs are shown where input and output have a price.",
            "cached_price": "Empty: as fresh input.",
            "output_price": "Thoughts are output too.",
        }

    def __init__(self, *args: Any, spec: ModelSpec | None, default: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        effort = self.fields["effort"]
        assert isinstance(effort, forms.ChoiceField)
        effort.choices = _efforts(spec, self.instance.effort)
        self.initial["is_default"] = default == self.instance.name
        for name in PRICES:
            self.fields[name].widget.attrs |= {"min": 0, "step": "any"}

    def clean_label(self) -> str:
        return plain_label(self.cleaned_data["label"])

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for name in PRICES:
            if (data.get(name) or 0) < 0:
                self.add_error(name, "A price is 0 or more.")
        if data.get("cached_price") is not None and data.get("input_price") is None:
            self.add_error("input_price", "Cached input has a price, so fresh input needs one too.")
        if data.get("is_hidden") and (
            problem := why_not_hidden(self.instance.name, default=bool(data.get("is_default")))
        ):
            self.add_error("is_hidden", problem)
        return data


def why_not_hidden(model: str, *, default: bool) -> str:
    """Empty where it may be."""
    if model == settings.DEFAULT_MODEL:
        return "DEFAULT_MODEL names this model, so it cannot be hidden."
    return "It is asked when nobody chose, so it cannot be hidden." if default else ""


def _efforts(spec: ModelSpec | None, chosen: str) -> list[tuple[str, str]]:
    known = [each for each in efforts(spec) if each[0]] if spec else []
    kept = [(chosen, chosen)] if chosen and chosen not in dict(known) else []
    return [("", AS_IT_IS), *known, *kept]
